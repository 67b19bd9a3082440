"""What a v0 tool wrote is listed, proved and kept, and fields that loopx does not know outlive every change."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.support.cli import Loopx
from tests.support.lifecycle import Subject, installed
from tests.support.manifests import revision_of as number
from tests.support.project_files import ROOT

EXIT_REFUSED, EXIT_IO, EXIT_TRY_AGAIN = 2, 74, 75
V0_STATE = ROOT / "tests/data/v0/state.json"


@pytest.fixture
def loopx(tmp_path: Path) -> Loopx:
    return Loopx(tmp_path)


def change(loopx: Loopx, edit: Callable[[dict[str, Any]], object], extension_id: str = "subject") -> bytes:
    """Edit one entry of the state file by hand; return the bytes it then has."""
    document = json.loads(loopx.state_file.read_bytes())
    edit(document["extensions"][extension_id])
    loopx.state_file.write_text(json.dumps(document, indent=1), encoding="ascii")
    return loopx.state_file.read_bytes()


@pytest.fixture
def v0(loopx: Loopx) -> Subject:
    """The recorded v0 state, with a launcher of that name on PATH wherever the tests run."""
    subject = Subject(loopx, "loopx-text-stats")
    (subject.folder / "loopx-text-stats").symlink_to(subject.program)
    loopx.env["PATH"] = f"{loopx.env['PATH']}:{subject.folder}"
    loopx.state_file.write_bytes(V0_STATE.read_bytes())
    return subject


def test_a_v0_state_file_is_listed_and_shown_and_needs_a_doctor(v0: Subject) -> None:
    row, shown = v0.row(), v0.do("show").document

    assert row["active_revision"] == "8b788dccc64e579c"
    assert (row["rollback_available"], row["revision_count"], row["version"]) == (True, 2, "0.2.0")
    assert (row["ready"], row["reason"]) == (False, "doctor_required")
    assert [one["revision"] for one in shown["revisions"]] == ["eb8b34757b9e2a0e", "8b788dccc64e579c"]
    assert v0.loopx.state_file.read_bytes() == V0_STATE.read_bytes()


def test_the_doctor_pins_an_entry_that_a_v0_tool_wrote(v0: Subject) -> None:
    refused = v0.run()

    proved = v0.do("doctor", "--execute")

    entry = v0.entry()
    active = entry["revisions"][1]
    assert refused.code == "doctor_required"
    assert proved.status == 0, proved
    assert active["launcher"]["path"].endswith("/loopx-text-stats")
    assert entry["doctor_verified_revision"] == active["revision"] == entry["proof"]["revision"]
    assert v0.row()["ready"] is True


def test_a_failed_doctor_pins_nothing(v0: Subject) -> None:
    v0.loopx.state_file.write_bytes(V0_STATE.read_bytes().replace(b"--doctor", b"--refuse"))
    # The edit above makes both revisions others; give them the numbers that belong to them.
    document = json.loads(v0.loopx.state_file.read_bytes())
    entry = document["extensions"]["loopx-text-stats"]
    numbers = [number(one["manifest"]) for one in entry["revisions"]]
    for one, right in zip(entry["revisions"], numbers, strict=True):
        one["revision"] = right
    entry.update(rollback_revision=numbers[0], active_revision=numbers[1], doctor_verified_revision=numbers[1])
    v0.program.write_text("#!/bin/sh\nexit 3\n", encoding="ascii")
    v0.loopx.state_file.write_text(json.dumps(document), encoding="ascii")

    answer = v0.do("doctor", "--execute")

    assert answer.status == 1, answer
    assert [one.get("launcher") for one in v0.entry()["revisions"]] == [None, None]


def test_a_v0_entry_is_disabled_and_uninstalled_without_a_pin(v0: Subject) -> None:
    disabled = v0.do("disable", "--execute")
    uninstalled = v0.do("uninstall", "--execute")

    assert (disabled.status, uninstalled.status) == (0, 0)
    assert v0.loopx.rows() == []


def test_a_proof_counts_only_while_it_agrees_with_the_v0_fields(loopx: Loopx) -> None:
    subject = installed(loopx)
    change(loopx, lambda entry: entry.update(doctor_verified_entrypoint_identity="a v0 tool proved something else"))

    answer = subject.run()

    assert (answer.status, answer.code) == (EXIT_REFUSED, "doctor_required")
    assert subject.row()["doctor_verified"] is False


@pytest.mark.parametrize("field", ["doctor_verified_revision", "doctor_verified_entrypoint_identity"])
@pytest.mark.parametrize("value", [None, "0" * 64, 7])
def test_either_v0_field_ends_a_proof(loopx: Loopx, field: str, value: object) -> None:
    subject = installed(loopx)
    change(loopx, lambda entry: entry.update({field: value}))

    assert subject.row()["reason"] == "doctor_required"


def test_fields_that_loopx_does_not_know_outlive_every_change(loopx: Loopx) -> None:
    subject = installed(loopx)
    document = json.loads(loopx.state_file.read_bytes())
    document["x_top"] = {"kept": [1, 2.5, None]}
    entry = document["extensions"]["subject"]
    entry["x_entry"] = "kept"
    entry["revisions"][0]["x_revision"] = "kept"
    loopx.state_file.write_text(json.dumps(document), encoding="ascii")

    for verb in ("disable", "enable", "doctor"):
        assert subject.do(verb, "--execute").status == 0
    assert subject.upgrade("2.0", "--execute").status == 0
    assert subject.do("rollback", "--execute").status == 0

    after = json.loads(loopx.state_file.read_bytes())
    kept = after["extensions"]["subject"]
    first = next(one for one in kept["revisions"] if one["version"] == "1.0")
    assert (after["x_top"], kept["x_entry"], first["x_revision"]) == ({"kept": [1, 2.5, None]}, "kept", "kept")
