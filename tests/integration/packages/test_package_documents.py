"""What a package's command answers is never taken for a word of the host."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.support.capabilities import Station
from tests.support.cli import Answer

EXIT_INTERNAL = 70
COMMAND = """\
from loopx_host import hookimpl

@hookimpl(specname="loopx_run_command")
def run(arguments, host):
    return {document!r}
"""
MASKED = {
    "an error": {"ok": False, "schema_version": "loopx_extension_error_v0"},
    "an error with a code": {
        "ok": False,
        "schema_version": "loopx_extension_error_v0",
        "code": "state_damaged",
        "message": "all is lost",
    },
    "a receipt": {"ok": True, "schema_version": "loopx_extension_run_receipt_v0"},
    "a failed receipt": {"ok": False, "schema_version": "loopx_extension_run_receipt_v0", "executed": True},
    "a list": {"ok": True, "schema_version": "loopx_extension_list_v0", "extensions": [1]},
}
UNSAID = {
    "no ok": {"schema_version": "x_v0"},
    "ok is a number": {"ok": 1, "schema_version": "x_v0"},
    "ok is null": {"ok": None, "schema_version": "x_v0"},
    "no schema_version": {"ok": True},
    "schema_version is a number": {"ok": True, "schema_version": 0},
}


def answering(root: Path, document: dict[str, Any]) -> Station:
    """Return an environment with a trusted package whose command `roar` answers a document."""
    station = Station(root)
    source = COMMAND.format(document=document)
    station.put("roar", top="", files={"commands.py": source}, commands={"roar": "roar.commands:run"})
    station.install_id("roar")
    return station


def plainly(station: Station) -> Answer:
    return station("roar", "--format", "text", "--state-file", str(station.state_file), options=False)


@pytest.mark.req("X15")
@pytest.mark.parametrize("document", MASKED.values(), ids=MASKED)
def test_a_command_that_answers_with_a_schema_of_the_host_is_shown_plainly(
    tmp_path: Path, document: dict[str, Any]
) -> None:
    station = answering(tmp_path, document)

    text, made = plainly(station), station("roar")

    said = text.stdout + text.stderr
    assert made.document == {**document, "dry_run": True, "executed": False}
    assert text.status == made.status
    assert (text.status == 0) is document["ok"]
    assert text.status != EXIT_INTERNAL
    assert b"Traceback" not in said + made.stderr
    assert b"loopx: error" not in said


@pytest.mark.req("X15")
@pytest.mark.parametrize("document", UNSAID.values(), ids=UNSAID)
def test_a_command_that_does_not_say_whether_it_went_well_and_what_it_answers_failed(
    tmp_path: Path, document: dict[str, Any]
) -> None:
    station = answering(tmp_path, document)

    answer = station("roar")

    assert answer.code == "plugin_hook_failed"
