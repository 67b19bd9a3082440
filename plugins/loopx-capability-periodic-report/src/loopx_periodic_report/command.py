"""The command `loopx periodic-report`: a report file rendered, with related notes where `recall` is there."""

from __future__ import annotations

import argparse
import json
from typing import TYPE_CHECKING, NoReturn, cast

from loopx_host import Refused, hookimpl
from loopx_periodic_report.notes import NOTES_FEATURE, NOTES_SECTION

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import TypedDict

    from loopx_host import CommandHost
    from loopx_periodic_report.document import RelatedNotes, Rendered

    class Hit(TypedDict):
        """What the command uses of an observation of `recall`."""

        note: str
        title: str
        snippet: str


SCHEMA, HELP_SCHEMA = "loopx_periodic_report_command_v0", "loopx_periodic_report_help_v0"
HELP_WIDTH = 100
NOTES_MAX = 20
REPORT_BYTES = 1_000_000


class _UnusableError(Exception):
    """The words or the file cannot be used: a code and a sentence."""

    def __init__(self, code: str, sentence: str) -> None:
        super().__init__(sentence)
        self.code = code


@hookimpl(specname="loopx_run_command")
def periodic_report(arguments: list[str], host: CommandHost) -> Mapping[str, object]:
    """Render a report file for a goal; `text` is the page or the JSON document. A preview is the host's receipt."""
    parser = _parser()
    if {"-h", "--help"} & set(arguments):
        return {"ok": True, "schema_version": HELP_SCHEMA, "executed": False, "text": parser.format_help()}
    try:
        asked = parser.parse_args(arguments)
        if (asked.notes is None) != (asked.query is None):
            raise _UnusableError("usage_error", "--notes and --query go together")
        report = _read(asked.report)
    except _UnusableError as unusable:
        return {"ok": False, "schema_version": SCHEMA, "code": unusable.code, "error": str(unusable)}
    notes: RelatedNotes | None = None
    reason: str | None = None
    if asked.notes is not None:
        notes, reason = related_notes(host, asked.goal_id, asked.notes, asked.query)
    given: dict[str, object] = {
        "report": report if reason is None else without_notes(report, reason),
        "format": asked.form,
    }
    if notes is not None:
        given[NOTES_FEATURE] = notes
    receipt = host.invoke("periodic-report", "render", given, goal_id=asked.goal_id, references={})
    result = receipt.get("provider_result")
    if result is None:
        return receipt
    (made,) = cast("list[Rendered]", result["observations"])  # as the result schema of the profile has it
    return {
        "ok": True,
        "schema_version": SCHEMA,
        "goal_id": asked.goal_id,
        "format": made["format"],
        "sha256": made["sha256"],
        "bytes": made["bytes"],
        "related_notes": None if notes is None else len(notes["notes"]),
        "related_notes_absent": reason,
        "text": made["document"],
    }


def related_notes(host: CommandHost, goal_id: str, folder: str, query: str) -> tuple[RelatedNotes | None, str | None]:
    """Return the notes that `recall` finds, or the reason why there are none: without it, only this part is off."""
    asked = {"query": query, "limit": NOTES_MAX}
    try:
        receipt = host.invoke("recall", "search", asked, goal_id=goal_id, references={"notes": folder})
    except Refused as refused:
        return None, _absent(refused.code)
    if not receipt["executed"]:
        return None, None  # a preview knows of no notes
    result = receipt.get("provider_result")
    if result is None:
        return None, _absent(str(receipt["failure_kind"]))
    hits = cast("list[Hit]", result["observations"])
    return {"notes": [{"note": hit["note"], "title": hit["title"], "excerpt": hit["snippet"]} for hit in hits]}, None


def without_notes(report: object, reason: str) -> object:
    """Return the report with the reason among what is missing, unless it says something of its own on notes."""
    if not isinstance(report, dict) or not isinstance(report.get("missing"), list):
        return report  # `render` says what is wrong with it
    sections = report["sections"] if isinstance(report.get("sections"), list) else []
    named = [one.get("id") for one in sections if isinstance(one, dict)]
    said = [one.get("feature") for one in report["missing"] if isinstance(one, dict)]
    if NOTES_SECTION in named or NOTES_FEATURE in said:
        return report
    return {**report, "missing": [*report["missing"], {"feature": NOTES_FEATURE, "reason": reason}]}


def _absent(code: str) -> str:
    return f"the capability `recall` gave none ({code})"  # a code only: sentences of others may name private places


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise _UnusableError("usage_error", message)


def _parser() -> _Parser:
    parser = _Parser(
        prog="loopx periodic-report",
        description="a report file rendered as a page or as JSON, for a goal that is bound to the capability",
        epilog="without --execute, which the host reads, this only says what it would do;"
        " bind a goal first: loopx capability bind periodic-report --goal-id GOAL --operation render",
        add_help=False,
        allow_abbrev=False,
        formatter_class=lambda prog: argparse.HelpFormatter(prog, width=HELP_WIDTH),
    )
    parser.add_argument("report", metavar="REPORT", help="the report, a JSON file")
    parser.add_argument("--goal-id", required=True, metavar="GOAL", help="the goal that asks")
    # `--format` is the host's
    parser.add_argument(
        "--as", dest="form", choices=("html", "json"), default="html", help="a page; html when absent"
    )
    parser.add_argument("--notes", metavar="FOLDER", help="a folder of notes in which recall looks; with --query")
    parser.add_argument("--query", metavar="WORDS", help="what is looked for in the notes; with --notes")
    parser.add_argument("--help", action="store_true", help="show this and do nothing")
    return parser


def _read(path: str) -> object:
    try:
        with open(path, "rb") as file:
            data = file.read(REPORT_BYTES + 1)
        if len(data) > REPORT_BYTES:
            raise _UnusableError("report_unreadable", f"the report is larger than {REPORT_BYTES} bytes")
        return json.loads(data)
    except (OSError, ValueError, RecursionError) as error:
        raise _UnusableError("report_unreadable", f"the report cannot be read: {type(error).__name__}") from None
