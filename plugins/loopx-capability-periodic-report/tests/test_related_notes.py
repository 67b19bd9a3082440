"""Related notes are a part that may be absent: then only that part is off, with the reason."""

from __future__ import annotations

import json
from typing import Any

import pytest
from loopx_periodic_report.render import render

from loopx_host import OperationFailed

Json = dict[str, object]

REPORT: Json = {
    "schema_version": "loopx_periodic_report_v0",
    "title": "Week 45",
    "period": {"from": "2026-11-02", "to": "2026-11-08", "kind": "week"},
    "generated_at": "2026-11-09T06:00:00Z",
    "sections": [{"id": "s", "title": "Service", "metrics": []}],
    "missing": [],
}
NOTES = {"notes": [{"note": "ops/latency.md", "title": "Latency", "excerpt": "<b>why</b>"}]}


def rendered(**more: object) -> Any:
    return json.loads(render({"report": REPORT, "format": "json", **more}, {})["document"])


@pytest.mark.req("M113")
def test_without_notes_the_reason_is_said_and_nothing_else_changes() -> None:
    without, given = rendered(), rendered(related_notes=NOTES)

    assert [entry["feature"] for entry in without["missing"]] == ["related_notes"]
    assert without["missing"][0]["reason"]
    assert {**without, "missing": []} == REPORT
    assert given["sections"][:-1] == REPORT["sections"]
    assert {**given, "sections": REPORT["sections"]} == REPORT


@pytest.mark.req("M113")
def test_with_notes_there_is_one_section_of_them() -> None:
    section = rendered(related_notes=NOTES)["sections"][-1]

    assert section["id"] == "related-notes"
    assert section["rows"]["rows"] == [["Latency", "ops/latency.md", "<b>why</b>"]]


@pytest.mark.req("M113")
def test_the_package_runs_without_the_one_it_may_use() -> None:
    from importlib import metadata

    wanted = metadata.requires("loopx-capability-periodic-report") or []

    assert not [line for line in wanted if "recall" in line]


def test_a_reason_the_caller_gave_is_kept() -> None:
    own = [{"feature": "related_notes", "reason": "the notes are locked"}]

    made = json.loads(render({"report": {**REPORT, "missing": own}, "format": "json"}, {})["document"])

    assert made["missing"] == own


def test_notes_for_a_report_that_has_them_are_refused() -> None:
    report = {**REPORT, "sections": [{"id": "related-notes", "title": "Mine", "metrics": []}]}

    with pytest.raises(OperationFailed) as refusal:
        render({"report": report, "format": "json", "related_notes": NOTES}, {})

    assert refusal.value.code == "related_notes_twice"


def test_notes_are_escaped_like_everything_else() -> None:
    document = render({"report": REPORT, "format": "html", "related_notes": NOTES}, {})["document"]

    assert "<b>why" not in document
    assert "&lt;b&gt;why" in document
