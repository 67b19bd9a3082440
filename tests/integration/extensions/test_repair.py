"""`extension repair`: what is damaged is moved out of the way and kept, what is whole is left alone."""

from __future__ import annotations

import json
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.support.cli import Loopx
from tests.support.lifecycle import Subject, copies, installed, tree, words


@pytest.fixture
def loopx(tmp_path: Path) -> Loopx:
    return Loopx(tmp_path)


def spoil(loopx: Loopx, edit: Callable[[dict[str, Any]], object]) -> bytes:
    document = json.loads(loopx.state_file.read_bytes())
    edit(document["extensions"])
    loopx.state_file.write_text(json.dumps(document), encoding="ascii")
    return loopx.state_file.read_bytes()


WHOLLY_DAMAGED = {"empty": b"", "half": b'{"extensions": {"subj', "list": b"[]", "binary": bytes(range(256))}


@pytest.mark.parametrize("kind", WHOLLY_DAMAGED)
def test_a_damaged_file_is_kept_aside_byte_for_byte_and_work_goes_on(loopx: Loopx, kind: str) -> None:
    """state_corrupt, the repair path (case 100)."""
    loopx.state_file.write_bytes(WHOLLY_DAMAGED[kind])
    refused = loopx("extension", "list")

    repaired = loopx(*words(refused.document["next_command"]), options=False)

    (copy,) = copies(loopx.state_file)
    assert (repaired.status, repaired.document["changed"], repaired.document["kept_as"]) == (0, True, str(copy))
    assert copy.read_bytes() == WHOLLY_DAMAGED[kind]
    assert loopx.rows() == []
    assert Subject(loopx).install("1.0", "--execute").status == 0


def test_a_file_that_is_too_large_is_kept_aside(loopx: Loopx) -> None:
    with loopx.state_file.open("wb") as file:
        file.truncate(33 * 1024 * 1024)

    refused = loopx("extension", "list")
    repaired = loopx("extension", "repair", "--execute")

    assert refused.code == "state_damaged"
    assert repaired.status == 0
    assert [path.stat().st_size for path in copies(loopx.state_file)] == [33 * 1024 * 1024]


@pytest.mark.parametrize("spoiled", ["shape", "snapshot"])
def test_a_bad_entry_is_taken_out_and_the_whole_file_kept_as_it_was(loopx: Loopx, spoiled: str) -> None:
    installed(loopx)
    other = installed(loopx, extension_id="other")
    kept = other.entry()
    runtime = {"shape": None, "snapshot": ["edited"]}[spoiled]
    data = spoil(loopx, lambda table: table["subject"]["revisions"][0]["manifest"]["runtime"].update(args=runtime))

    preview = loopx("extension", "repair").document
    repaired = loopx("extension", "repair", "--execute").document

    (copy,) = copies(loopx.state_file)
    assert [row["id"] for row in preview["damaged"]] == [row["id"] for row in repaired["damaged"]] == ["subject"]
    assert (copy.read_bytes(), stat.S_IMODE(copy.stat().st_mode)) == (data, 0o600)
    assert [row["id"] for row in loopx.rows()] == ["other"]
    assert other.entry() == kept


def test_a_repaired_extension_can_be_installed_again(loopx: Loopx) -> None:
    subject = installed(loopx)
    spoil(loopx, lambda table: table.update(subject="nonsense"))
    refused = subject.install("1.0", "--execute")

    repaired = loopx(*words(refused.document["next_command"]), options=False)
    answer = subject.install("1.0", "--execute")

    assert (refused.code, repaired.status, answer.status) == ("state_entry_invalid", 0, 0)
    assert subject.run().status == 0


def test_repairing_one_damage_after_another_keeps_every_copy(loopx: Loopx) -> None:
    for data in (b"first", b"second", b"third"):
        loopx.state_file.write_bytes(data)
        assert loopx("extension", "repair", "--execute").status == 0

    assert {path.read_bytes() for path in copies(loopx.state_file)} == {b"first", b"second", b"third"}


def test_repairing_what_is_whole_changes_nothing(loopx: Loopx) -> None:
    installed(loopx)
    before = tree(loopx.root, without=("home",))

    answer = loopx("extension", "repair", "--execute")

    assert (answer.status, answer.document["changed"], answer.document["damaged"]) == (0, False, [])
    assert tree(loopx.root, without=("home",)) == before


def test_repairing_where_there_is_no_state_file_makes_none(loopx: Loopx) -> None:
    before = tree(loopx.root, without=("home",))

    answer = loopx("extension", "repair", "--execute")

    assert (answer.status, answer.document["would_change"]) == (0, False)
    assert tree(loopx.root, without=("home",)) == before


@pytest.mark.parametrize("whole", [True, False])
def test_repair_drops_no_schema_file(loopx: Loopx, *, whole: bool) -> None:
    subject = Subject(loopx)
    path = subject.manifest("1.0", request_schema="request.json")
    (path.parent / "request.json").write_text("{}", encoding="ascii")
    assert loopx.install(path).status == 0
    schemas = sorted(Path(f"{loopx.state_file}.d/schemas").iterdir())
    if whole:
        loopx.state_file.write_bytes(b'{"half')
    else:
        spoil(loopx, lambda table: table["subject"].update(enabled="true"))

    assert loopx("extension", "repair", "--execute").status == 0

    assert len(schemas) == 1
    assert sorted(Path(f"{loopx.state_file}.d/schemas").iterdir()) == schemas
