"""The command: a report file rendered for a goal, with notes where `recall` is there (a recorded host answers)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from loopx_periodic_report.command import periodic_report
from loopx_periodic_report.plugin import loopx_capability_contracts
from loopx_periodic_report.render import render

from loopx_host import Refused

Json = dict[str, object]

REPORT: Json = {
    "schema_version": "loopx_periodic_report_v0",
    "title": "Week 45",
    "period": {"from": "2026-11-02", "to": "2026-11-08", "kind": "week"},
    "generated_at": "2026-11-09T06:00:00Z",
    "sections": [{"id": "s", "title": "Service", "metrics": []}],
    "missing": [],
}
FOUND = {"note": "ops/latency.md", "title": "Latency", "snippet": "why", "score": 1.5, "modified": None}
WITH_NOTES = ("--notes", "notes", "--query", "latency")


class Recorded:
    """A host whose `render` is the real one; `recall` answers with observations, or is refused."""

    def __init__(self, recall: list[Json] | Refused | str) -> None:
        self.recall = recall
        self.asked: list[tuple[object, ...]] = []

    def invoke(
        self,
        capability_id: str,
        operation: str,
        input: Mapping[str, object],  # noqa: A002 (the word of the request)
        *,
        goal_id: str,
        references: Mapping[str, str] | None = None,
    ) -> Any:
        self.asked.append((capability_id, operation, input, goal_id, references))
        if capability_id == "periodic-report":
            return {"ok": True, "executed": True, "provider_result": {"observations": [render(input, {})]}}
        if isinstance(self.recall, Refused):
            raise self.recall
        if isinstance(self.recall, str):
            return {"ok": False, "executed": True, "failure_kind": self.recall, "provider_result": None}
        return {"ok": True, "executed": True, "provider_result": {"observations": self.recall}}

    def publish(
        self,
        extension_id: str,
        surface: str,
        input: Mapping[str, object],  # noqa: A002 (the word of the request)
        *,
        goal_id: str | None = None,  # noqa: ARG002
        references: Mapping[str, str] | None = None,
    ) -> Any:
        raise AssertionError((extension_id, surface, input, references))


class NotThere(Refused):
    """A refusal with a code and a sentence that names a private place."""

    def __init__(self) -> None:
        Exception.__init__(self, "no recall in /home/me/secret")

    @property
    def code(self) -> str:
        return "binding_missing"


def run(folder: Path, host: Recorded, *more: str, report: object = REPORT) -> Any:
    path = folder / "report.json"
    path.write_text(json.dumps(report), encoding="utf-8")
    return periodic_report([str(path), "--goal-id", "g1", "--as", "json", *more], host)


@pytest.mark.req("M113")
def test_notes_that_recall_finds_become_the_section(tmp_path: Path) -> None:
    host = Recorded([FOUND])

    made = run(tmp_path, host, *WITH_NOTES)

    section = json.loads(made["text"])["sections"][-1]
    assert host.asked[0] == ("recall", "search", {"query": "latency", "limit": 20}, "g1", {"notes": "notes"})
    assert section["rows"]["rows"] == [["Latency", "ops/latency.md", "why"]]
    assert (made["related_notes"], made["related_notes_absent"]) == (1, None)


@pytest.mark.req("M113")
@pytest.mark.parametrize(
    ("recall", "code"), [(NotThere(), "binding_missing"), ("timeout", "timeout")], ids=["refused", "failed"]
)
def test_without_recall_only_the_notes_are_missing_and_the_reason_is_said(
    recall: Refused | str, code: str, tmp_path: Path
) -> None:
    made = run(tmp_path, Recorded(recall), *WITH_NOTES)

    document = json.loads(made["text"])
    assert made["ok"] is True
    assert made["related_notes"] is None
    assert [one["feature"] for one in document["missing"]] == ["related_notes"]
    assert code in document["missing"][0]["reason"]
    assert "/home" not in made["text"]
    assert {**document, "missing": []} == REPORT


def test_a_report_that_says_why_it_has_no_notes_is_left_as_it_is(tmp_path: Path) -> None:
    own = {**REPORT, "missing": [{"feature": "related_notes", "reason": "the notes are locked"}]}

    made = run(tmp_path, Recorded("timeout"), *WITH_NOTES, report=own)

    assert json.loads(made["text"]) == own


def test_recall_is_not_asked_unless_notes_are_wanted(tmp_path: Path) -> None:
    host = Recorded([FOUND])

    run(tmp_path, host)

    assert [one[0] for one in host.asked] == ["periodic-report"]


@pytest.mark.parametrize(
    ("words", "code"),
    [
        ([], "usage_error"),
        (["report.json"], "usage_error"),
        (["report.json", "--goal-id", "g1", "--query", "x"], "usage_error"),
        (["report.json", "--goal-id", "g1", "--as", "pdf"], "usage_error"),
        (["no-such-file.json", "--goal-id", "g1"], "report_unreadable"),
    ],
)
def test_words_and_files_that_cannot_be_used_are_answered_with_a_code(words: list[str], code: str) -> None:
    host = Recorded([])

    made = periodic_report(words, host)

    assert (made["ok"], made["code"], host.asked) == (False, code, [])


@pytest.mark.parametrize("data", [b"", b"\xff", b"[" * 100_000, b'"' + b"x" * 1_000_000 + b'"'])
def test_a_file_that_is_no_report_is_answered_with_a_code(data: bytes, tmp_path: Path) -> None:
    path = tmp_path / "report.json"
    path.write_bytes(data)

    made = periodic_report([str(path), "--goal-id", "g1"], Recorded([]))

    assert (made["ok"], made["code"]) == (False, "report_unreadable")


@pytest.mark.req("M112")
def test_the_package_brings_both_contracts_to_the_host() -> None:
    contracts = {one["id"]: one for one in loopx_capability_contracts()}

    effects = {name: {op["id"]: op["effect_class"] for op in one["operations"]} for name, one in contracts.items()}

    assert effects == {
        "periodic-report": {"render": "read_only"},
        "report-sink": {"deliver": "external_write", "probe": "read_only"},
    }
