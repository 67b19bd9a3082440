"""The command `loopx repo-health`: inspect one repository for a goal, say it to a person, publish it if asked."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, NoReturn, cast

from loopx_host import hookimpl
from loopx_repo_health.request import LARGE_FILE_KB, PUBLISH_SCHEMA, REFERENCE, SURFACE

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import NotRequired, TypedDict

    from loopx_host import CommandHost
    from loopx_repo_health.observation import Observation

    class Bound(TypedDict):
        """Which call the report is of."""

        invocation_id: str
        request_digest: str

    class Report(TypedDict):
        """What the command answers; `text` is for a person."""

        ok: bool
        schema_version: str
        observation: Observation | None
        receipt: Bound | None
        executed: bool
        text: str
        would_refuse: NotRequired[object]
        code: NotRequired[str]
        error: NotRequired[str]
        publication: NotRequired[dict[str, object]]

    class Help(TypedDict):
        """The help as a document."""

        ok: bool
        schema_version: str
        executed: bool
        text: str


REPORT_SCHEMA, HELP_SCHEMA = "loopx_repo_health_report_v0", "loopx_repo_health_help_v0"
EXTENSION = "loopx-capability-repo-health"
HELP_WIDTH = 100
MARKS = {"ok": "ok", "attention": "ATTENTION", "unknown": "unknown"}
_PUBLISHED = ("status", "surface_id", "payload_sha256", "readback_verified", "error")


class _WrongUsage(Exception):  # noqa: N818 (what argparse found)
    """The arguments do not fit."""


class _Parser(argparse.ArgumentParser):
    """Says what is wrong instead of ending the process."""

    def error(self, message: str) -> NoReturn:
        raise _WrongUsage(message)


@hookimpl(specname="loopx_run_command")
def repo_health(arguments: list[str], host: CommandHost) -> Report | Help:
    """Return one report; what the host refuses passes as it is."""
    parser = _parser()
    if {"-h", "--help"} & set(arguments):
        return {"ok": True, "schema_version": HELP_SCHEMA, "executed": False, "text": parser.format_help()}
    try:
        asked = parser.parse_args(arguments)
    except _WrongUsage as wrong:
        return _failed("usage_error", str(wrong), text=f"{parser.format_usage()}loopx repo-health: {wrong}\n")
    given = {} if asked.large_file_kb is None else {"large_file_kb": asked.large_file_kb}
    references = {REFERENCE: asked.path}
    receipt = host.invoke("repo-health", "inspect", given, goal_id=asked.goal_id, references=references)
    bound: Bound = {"invocation_id": receipt["invocation_id"], "request_digest": receipt["request_digest"]}
    if not receipt["executed"]:
        return _previewed(asked, receipt.get("would_refuse"), bound)
    result = receipt.get("provider_result")
    if result is None:
        sentence = str(receipt["error"])
        return _failed(str(receipt["failure_kind"]), sentence, text=f"{sentence}\n", receipt=bound)
    (observation,) = cast("list[Observation]", result["observations"])  # as the result schema of the profile has it
    report: Report = {
        "ok": True,
        "schema_version": REPORT_SCHEMA,
        "observation": observation,
        "receipt": bound,
        "executed": True,
        "text": summary(observation),
    }
    return _published(report, observation["now"], given, references, asked.goal_id, host) if asked.publish else report


def summary(observation: Observation) -> str:
    """Return what was observed as lines for a person."""
    from loopx_repo_health.view import repository_health_view  # help needs no more than the parser

    view = repository_health_view(observation)
    lines = [f"{view['title']}, {view['generated_at']}"]
    for section in view["sections"]:
        lines += ["", f"{section['title']}: {MARKS[section['status']]}"]
        width = max((len(item["label"]) for item in section["items"]), default=0)
        lines += [f"  {item['label']:<{width}}  {item['value']}" for item in section["items"]]
    return "\n".join(lines) + "\n"


def _published(
    report: Report,
    now: str | None,
    given: dict[str, int],
    references: dict[str, str],
    goal_id: str,
    host: CommandHost,
) -> Report:
    """Publish the view of the same moment; a publication that fails is in the report beside what was observed."""
    request = {
        "schema_version": PUBLISH_SCHEMA,
        "publish": SURFACE,
        "now": now,
        **given,
    }
    receipt = host.publish(EXTENSION, SURFACE, request, goal_id=goal_id, references=references)
    publication = {key: receipt.get(key) for key in _PUBLISHED}
    done = "published" if receipt["ok"] else f"not published: {receipt.get('error')}"
    text = f"{report['text']}\nSurface {SURFACE}: {done}\n"
    return {**report, "ok": receipt["ok"], "publication": publication, "text": text}


def _previewed(asked: argparse.Namespace, refused: Mapping[str, object] | None, bound: Bound) -> Report:
    """Return what the host says of a call that was not made, and nothing of a repository that nobody looked at."""
    would = f"would be refused: {refused['code']}" if refused else f"would inspect {asked.path} for {asked.goal_id}"
    publishing = f", and publish it on {SURFACE}" if asked.publish and not refused else ""
    return {
        "ok": True,
        "schema_version": REPORT_SCHEMA,
        "observation": None,
        "receipt": bound,
        "executed": False,
        "would_refuse": refused,
        "text": f"{would}{publishing}; with --execute it is done\n",
    }


def _failed(code: str, sentence: str, *, text: str, receipt: Bound | None = None) -> Report:
    return {
        "ok": False,
        "schema_version": REPORT_SCHEMA,
        "code": code,
        "error": sentence,
        "observation": None,
        "receipt": receipt,
        "executed": receipt is not None,
        "text": text,
    }


def _parser() -> _Parser:
    parser = _Parser(
        prog="loopx repo-health",
        description="facts about one git repository, for a goal that is bound to the capability repo-health",
        epilog="without --execute, which the host reads, this only says what it would do;"
        " bind a goal first: loopx capability bind repo-health --goal-id GOAL --operation inspect",
        add_help=False,
        allow_abbrev=False,
        formatter_class=lambda prog: argparse.HelpFormatter(prog, width=HELP_WIDTH),
    )
    parser.add_argument("path", nargs="?", default=".", metavar="PATH", help="the repository; here when absent")
    parser.add_argument("--goal-id", required=True, metavar="GOAL", help="the goal that asks")
    parser.add_argument(
        "--large-file-kb",
        type=int,
        metavar="N",
        help=f"a file is large above so many KiB; {LARGE_FILE_KB} when absent",
    )
    parser.add_argument("--publish", action="store_true", help=f"publish it on the surface {SURFACE} as well")
    parser.add_argument("--help", action="store_true", help="show this and do nothing")
    return parser
