"""The command `loopx repo-health`: inspect one repository for a goal, say it to a person, publish it if asked."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, NoReturn

from loopx_host import hookimpl
from loopx_repo_health.facts import LARGE_FILE_KB, REFERENCE
from loopx_repo_health.publication import REQUEST_SCHEMA, SURFACE
from loopx_repo_health.view import repository_health_view

if TYPE_CHECKING:
    from typing import Any, Protocol

    class Host(Protocol):
        """What the host offers to a command."""

        def invoke(
            self,
            capability_id: str,
            operation: str,
            input: dict[str, Any],  # noqa: A002 (the word of the contract)
            *,
            goal_id: str,
            references: dict[str, str],
        ) -> dict[str, Any]:
            """Make one governed call."""

        def publish(
            self,
            extension_id: str,
            surface_id: str,
            input: dict[str, Any],  # noqa: A002 (the word of the contract)
            *,
            references: dict[str, str],
        ) -> dict[str, Any]:
            """Publish on a surface."""


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
def repo_health(arguments: list[str], host: Host) -> dict[str, Any]:
    """Return one report; what the host refuses passes as it is."""
    parser = _parser()
    if {"-h", "--help"} & set(arguments):
        return {"ok": True, "schema_version": HELP_SCHEMA, "text": parser.format_help()}
    try:
        asked = parser.parse_args(arguments)
    except _WrongUsage as wrong:
        return _failed("usage_error", str(wrong), text=f"{parser.format_usage()}loopx repo-health: {wrong}\n")
    given = {} if asked.large_file_kb is None else {"large_file_kb": asked.large_file_kb}
    references = {REFERENCE: asked.path}
    receipt = host.invoke("repo-health", "inspect", given, goal_id=asked.goal_id, references=references)
    bound = {key: receipt[key] for key in ("invocation_id", "request_digest")}
    if not receipt["ok"]:
        sentence = str(receipt["error"])
        return _failed(str(receipt["failure_kind"]), sentence, text=f"{sentence}\n", receipt=bound)
    (observation,) = receipt["provider_result"]["observations"]
    report = {
        "ok": True,
        "schema_version": REPORT_SCHEMA,
        "observation": observation,
        "receipt": bound,
        "text": summary(observation),
    }
    return _published(report, given, references, host) if asked.publish else report


def summary(observation: dict[str, Any]) -> str:
    """Return what was observed as lines for a person."""
    view = repository_health_view(observation)
    lines = [f"{view['title']}, {view['generated_at']}"]
    for section in view["sections"]:
        lines += ["", f"{section['title']}: {MARKS[section['status']]}"]
        width = max((len(item["label"]) for item in section["items"]), default=0)
        lines += [f"  {item['label']:<{width}}  {item['value']}" for item in section["items"]]
    return "\n".join(lines) + "\n"


def _published(
    report: dict[str, Any], given: dict[str, Any], references: dict[str, str], host: Host
) -> dict[str, Any]:
    """Publish the view of the same moment; a publication that fails is in the report beside what was observed."""
    request = {
        "schema_version": REQUEST_SCHEMA,
        "publish": SURFACE,
        "now": report["observation"]["now"],
        **given,
    }
    receipt = host.publish(EXTENSION, SURFACE, request, references=references)
    publication = {key: receipt.get(key) for key in _PUBLISHED}
    done = "published" if receipt["ok"] else f"not published: {receipt.get('error')}"
    text = f"{report['text']}\nSurface {SURFACE}: {done}\n"
    return {**report, "ok": receipt["ok"], "publication": publication, "text": text}


def _failed(code: str, sentence: str, *, text: str, receipt: dict[str, Any] | None = None) -> dict[str, Any]:
    return {
        "ok": False,
        "schema_version": REPORT_SCHEMA,
        "code": code,
        "error": sentence,
        "observation": None,
        "receipt": receipt,
        "text": text,
    }


def _parser() -> _Parser:
    parser = _Parser(
        prog="loopx repo-health",
        description="facts about one git repository, for a goal that is bound to the capability repo-health",
        epilog="bind a goal first: loopx capability bind repo-health --goal-id GOAL --operation inspect",
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
