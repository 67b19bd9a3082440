"""The promises of the Projections port, kept by the files and by the fake; then those of the files alone."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from loopx_host.adapters.files.projections import FileProjections
from loopx_host.lifecycle.extensions.ports import Projections
from tests.support.fakes import MemoryProjections, code_of


def in_memory(_place: Path) -> Projections:
    return MemoryProjections()


def on_disk(place: Path) -> Projections:
    return FileProjections(str(place / "projections"))


@pytest.fixture(params=[in_memory, on_disk], ids=lambda make: make.__name__)
def port(request: pytest.FixtureRequest, tmp_path: Path) -> Projections:
    made: Projections = request.param(tmp_path)
    return made


def test_nothing_is_published_at_first(port: Projections) -> None:
    assert port.read("sample", "board") is None


def test_what_was_published_is_read(port: Projections) -> None:
    port.publish("sample", "board", b"one")

    assert port.read("sample", "board") == b"one"


def test_the_newest_replaces_the_one_before(port: Projections) -> None:
    port.publish("sample", "board", b"longer than the next")
    port.publish("sample", "board", b"two")

    assert port.read("sample", "board") == b"two"


def test_surfaces_and_extensions_are_kept_apart(port: Projections) -> None:
    port.publish("sample", "board", b"one")
    port.publish("sample", "Board", b"two")
    port.publish("other", "board", b"three")

    assert (port.read("sample", "board"), port.read("sample", "Board")) == (b"one", b"two")
    assert port.read("other", "board") == b"three"


@pytest.mark.parametrize("name", ["../x", "a/b", "", ".", "..", "x" * 500, "a\0b", "\ud800", "CON"])
def test_any_name_is_kept_as_one_of_its_own(port: Projections, name: str) -> None:
    port.publish("sample", name, b"odd")
    port.publish(name, "board", b"odder")

    assert (port.read("sample", name), port.read(name, "board")) == (b"odd", b"odder")
    assert port.read("sample", "board") is None


def test_removing_takes_all_of_one_extension_and_nothing_else(port: Projections) -> None:
    for extension_id in ("sample", "other"):
        for surface_id in ("a", "b"):
            port.publish(extension_id, surface_id, b"x")

    port.remove("sample")
    port.remove("sample")

    assert (port.read("sample", "a"), port.read("sample", "b")) == (None, None)
    assert (port.read("other", "a"), port.read("other", "b")) == (b"x", b"x")


# --- the files alone -------------------------------------------------------------------------------------


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_the_files_are_private_whatever_the_umask(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        FileProjections(str(tmp_path / "extensions/projections")).publish("sample", "board", b"x")
    finally:
        os.umask(before)

    folder = tmp_path / "extensions/projections/sample"
    assert (folder / "board.json").read_bytes() == b"x"
    assert mode(folder / "board.json") == 0o600
    assert {mode(path) for path in (folder, folder.parent, folder.parent.parent)} == {0o700}


def test_the_place_belongs_to_the_state_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOOPX_RUNTIME_ROOT", str(tmp_path / "root"))

    FileProjections.at(None, None).publish("sample", "board", b"environment")
    FileProjections.at(None, str(tmp_path / "given")).publish("sample", "board", b"given")
    FileProjections.at(str(tmp_path / "state.json"), str(tmp_path / "given")).publish(
        "sample", "board", b"state file"
    )

    at = "projections/sample/board.json"
    assert (tmp_path / "root/extensions" / at).read_bytes() == b"environment"
    assert (tmp_path / "given/extensions" / at).read_bytes() == b"given"
    assert (tmp_path / "state.json.d" / at).read_bytes() == b"state file"


def test_reading_creates_nothing(tmp_path: Path) -> None:
    FileProjections(str(tmp_path / "projections")).read("sample", "board")
    FileProjections(str(tmp_path / "projections")).remove("sample")

    assert list(tmp_path.iterdir()) == []


def test_a_failed_write_leaves_the_old_view_and_no_draft(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    port = FileProjections(str(tmp_path))
    port.publish("sample", "board", b"old")

    for name in ("rename", "fsync", "write"):
        with monkeypatch.context() as broken:

            def fail(*_: object, **__: object) -> None:
                raise OSError(28, "No space left on device")

            broken.setattr(os, name, fail)
            assert code_of(lambda: port.publish("sample", "board", b"new")) == "state_unwritable"
        assert port.read("sample", "board") == b"old"
        assert [path.name for path in (tmp_path / "sample").iterdir()] == ["board.json"]


def test_what_is_no_file_of_ours_reads_as_no_bytes(tmp_path: Path) -> None:
    folder = tmp_path / "sample"
    (folder / "folder.json").mkdir(parents=True)
    os.mkfifo(folder / "fifo.json")
    (tmp_path / "elsewhere").write_bytes(b"x")
    (folder / "link.json").symlink_to(tmp_path / "elsewhere")
    with (folder / "large.json").open("wb") as file:
        file.truncate(8_000_001)
    port = FileProjections(str(tmp_path))

    assert {port.read("sample", name) for name in ("folder", "fifo", "link", "large")} == {b""}


def test_a_link_in_the_place_of_a_view_is_replaced_and_not_followed(tmp_path: Path) -> None:
    port = FileProjections(str(tmp_path / "projections"))
    port.publish("sample", "board", b"one")
    board = tmp_path / "projections/sample/board.json"
    board.unlink()
    (tmp_path / "mine").write_bytes(b"mine")
    board.symlink_to(tmp_path / "mine")

    port.publish("sample", "board", b"two")

    assert (tmp_path / "mine").read_bytes() == b"mine"
    assert port.read("sample", "board") == b"two"


def test_a_linked_folder_is_neither_written_to_nor_emptied(tmp_path: Path) -> None:
    (tmp_path / "projections").mkdir()
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/board.json").write_bytes(b"mine")
    (tmp_path / "projections/sample").symlink_to(tmp_path / "mine")
    port = FileProjections(str(tmp_path / "projections"))

    assert code_of(lambda: port.publish("sample", "board", b"x")) == "state_unwritable"
    assert port.read("sample", "board") == b""
    port.remove("sample")

    assert (tmp_path / "mine/board.json").read_bytes() == b"mine"
    assert not (tmp_path / "projections/sample").is_symlink()
