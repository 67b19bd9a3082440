"""The operation `render`: a report document in, the bytes that a sink delivers out."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, cast

from loopx_host import OperationFailed
from loopx_periodic_report.canonical import encoded
from loopx_periodic_report.notes import NOTES_FEATURE, NOTES_SECTION
from loopx_periodic_report.page import html
from loopx_periodic_report.report import note_problems, problems

if TYPE_CHECKING:
    from collections.abc import Mapping

    from loopx_periodic_report.document import Absence, RelatedNotes, Rendered, Report, Section

FORMATS = ("json", "html")
DOCUMENT_BYTES = 195_000  # as a JSON string in ASCII, which is how the answer carries it
NOTES_ABSENT = "no related notes were given; the capability `recall` makes them"


def render(given: Mapping[str, object], _references: dict[str, str]) -> Rendered:
    """Return the one observation {format, sha256, bytes, document}. Raises OperationFailed."""
    if not {"report", "format"} <= set(given) <= {"report", "format", "related_notes"}:
        raise OperationFailed("input_invalid", "the input holds report, format and perhaps related_notes")
    form = given["format"]
    if not isinstance(form, str) or form not in FORMATS:
        raise OperationFailed("format_unknown", f"format is none of {', '.join(FORMATS)}")
    _refuse("report_invalid", problems(given["report"]))
    if "related_notes" in given:
        _refuse("related_notes_invalid", note_problems(given["related_notes"]))
    notes = cast("RelatedNotes | None", given.get("related_notes"))
    report = with_notes(cast("Report", given["report"]), notes)  # they follow the rules, or were refused
    document = encoded(report) if form == "json" else html(report).encode("utf-8")
    text = document.decode("utf-8")
    carried = len(json.dumps(text))
    if carried > DOCUMENT_BYTES:
        sentence = f"the document takes {carried} bytes of the answer, and {DOCUMENT_BYTES} are the most"
        raise OperationFailed("document_too_large", sentence)
    return {
        "format": form,
        "sha256": hashlib.sha256(document).hexdigest(),
        "bytes": len(document),
        "document": text,
    }


def with_notes(report: Report, related_notes: RelatedNotes | None) -> Report:
    """Return the report with its section of related notes, or with the reason why it has none."""
    has_section = any(section["id"] == NOTES_SECTION for section in report["sections"])
    if related_notes is None:
        known = has_section or any(entry["feature"] == NOTES_FEATURE for entry in report["missing"])
        absent: list[Absence] = [] if known else [{"feature": NOTES_FEATURE, "reason": NOTES_ABSENT}]
        return {**report, "missing": [*report["missing"], *absent]}
    if has_section:
        raise OperationFailed("related_notes_twice", f"the report has a section {NOTES_SECTION} already")
    section: Section = {
        "id": NOTES_SECTION,
        "title": "Related notes",
        "metrics": [],
        "rows": {
            "columns": ["Title", "Note", "Excerpt"],
            "rows": [[note["title"], note["note"], note["excerpt"]] for note in related_notes["notes"]],
        },
    }
    return {**report, "sections": [*report["sections"], section]}


def _refuse(code: str, found: list[str]) -> None:
    if found:
        raise OperationFailed(code, "; ".join(found[:5])[:1000])
