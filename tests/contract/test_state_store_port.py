"""The promises of the StateStore port, kept by the file and by the fake in memory; then those of the file alone."""

from __future__ import annotations

import fcntl
import os
import stat
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from loopx_host.adapters.files.state_store import FileStateStore
from loopx_host.core.errors import Refused
from loopx_host.lifecycle.extensions.ports import StateStore
from loopx_host.lifecycle.extensions.state import Replacement
from tests.support.fakes import MemoryStore, code_of
from tests.support.lifecycle import beside, drafts, tree

EMPTY = b"{}"
A, B = "a" * 64, "b" * 64
SHORT_WAIT = 0.05


class Kept:
    """A store with a way to see which schemas it keeps."""

    def __init__(self, store: StateStore, schemas: Callable[[], set[str]]) -> None:
        self.store = store
        self.schemas = schemas


def in_memory(_place: Path) -> Kept:
    store = MemoryStore()
    return Kept(store, lambda: set(store.schemas))


def on_disk(place: Path) -> Kept:
    folder = place / "state.json.d/schemas"
    store = FileStateStore.at(str(place / "state.json"), None)
    return Kept(store, lambda: {path.stem for path in folder.iterdir()} if folder.is_dir() else set())


@pytest.fixture(params=[in_memory, on_disk], ids=lambda make: make.__name__)
def kept(request: pytest.FixtureRequest, tmp_path: Path) -> Kept:
    made: Kept = request.param(tmp_path)
    return made


def put(data: bytes, **fields: object) -> Callable[[bytes | None], Replacement]:
    return lambda _before: Replacement(data, **fields)  # type: ignore[arg-type]


def test_a_store_without_a_file_reads_none(kept: Kept) -> None:
    assert kept.store.read() is None


def test_what_was_written_is_read(kept: Kept) -> None:
    kept.store.change(put(b"new"))

    assert kept.store.read() == b"new"


def test_an_edit_sees_the_bytes_of_now(kept: Kept) -> None:
    seen: list[bytes | None] = []

    def edit(data: bytes | None) -> Replacement:
        seen.append(data)
        return Replacement(b"one" if data is None else data + b" two")

    kept.store.change(edit)
    kept.store.change(edit)

    assert seen == [None, b"one"]
    assert kept.store.read() == b"one two"


def test_an_edit_that_is_refused_changes_nothing(kept: Kept) -> None:
    kept.store.change(put(b"old", schemas={A: b"{}"}, referred=frozenset({A})))

    def edit(_data: bytes | None) -> Replacement:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        kept.store.change(edit)
    kept.store.change(lambda data: Replacement((data or b"") + b" and free"))

    assert kept.store.read() == b"old and free"
    assert kept.schemas() == {A}


def test_schemas_are_kept_while_the_state_refers_to_them(kept: Kept) -> None:
    kept.store.change(put(b"1", schemas={A: b"{}"}, referred=frozenset({A})))
    kept.store.change(put(b"2", schemas={B: b"[]"}, referred=frozenset({A, B})))
    both = kept.schemas()
    kept.store.change(put(b"3", referred=frozenset({B})))

    assert (both, kept.schemas()) == ({A, B}, {B})


def test_nothing_is_dropped_while_it_is_not_known_what_is_referred_to(kept: Kept) -> None:
    kept.store.change(put(b"1", schemas={A: b"{}"}, referred=frozenset({A})))

    kept.store.change(put(b"2", referred=None))

    assert kept.schemas() == {A}


def test_a_copy_of_damage_leaves_the_state_alone_and_is_made_once(kept: Kept) -> None:
    kept.store.change(put(b"damage"))

    marks = ("0" * 64, "0" * 64, "1" * 64)
    places = [kept.store.preserve(b"damage", mark, b"damage".__eq__) for mark in marks]

    assert kept.store.read() == b"damage"
    assert places[0] == places[1] != places[2]


def test_a_copy_of_other_damage_under_the_same_mark_is_kept_beside_the_first(kept: Kept) -> None:
    kept.store.change(put(b"damage"))

    first, second = (
        kept.store.preserve(b"damage", "0" * 64, b"damage".__eq__),
        kept.store.preserve(b"worse", "0" * 64, b"worse".__eq__),
    )

    assert first != second
    assert kept.store.preserve(b"damage", "0" * 64, b"damage".__eq__) == first


def test_a_state_that_is_set_aside_is_no_longer_there(kept: Kept) -> None:
    kept.store.change(put(b"damage"))

    place = kept.store.set_aside(lambda: True, EMPTY)

    assert kept.store.read() is None
    assert place is not None
    assert place.startswith(f"{kept.store.location}.damaged-")


def test_what_was_mended_meanwhile_is_not_set_aside(kept: Kept) -> None:
    kept.store.change(put(b"whole"))

    place = kept.store.set_aside(lambda: False, EMPTY)

    assert place is None
    assert kept.store.read() == b"whole"


# --- the file alone ---------------------------------------------------------------------------------------------


@pytest.fixture
def store(tmp_path: Path) -> FileStateStore:
    return FileStateStore(str(tmp_path / "state.json"), str(tmp_path / "state.json.d"), wait_seconds=SHORT_WAIT)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "state.json"


def test_reading_creates_nothing(store: FileStateStore, tmp_path: Path) -> None:
    before = tree(tmp_path)

    store.read()

    assert tree(tmp_path) == before


def test_a_change_leaves_a_private_file_and_its_lock(store: FileStateStore, path: Path) -> None:
    store.change(put(b"new"))

    assert beside(path) == [".lock"]
    assert {stat.S_IMODE(one.stat().st_mode) for one in path.parent.iterdir()} == {0o600}


def test_a_file_that_was_too_open_is_private_after_the_next_change(store: FileStateStore, path: Path) -> None:
    path.write_bytes(b"old")
    path.chmod(0o666)

    store.change(put(b"new"))

    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_lock_that_another_holds_is_waited_for_only_so_long(store: FileStateStore, path: Path) -> None:
    path.write_bytes(b"old")
    with Path(f"{path}.lock").open("wb") as held:
        fcntl.flock(held, fcntl.LOCK_EX)

        codes = [code_of(lambda: store.change(put(b"new"))), code_of(lambda: store.set_aside(lambda: True, EMPTY))]
        read = store.read()

    assert codes == ["lock_busy"] * 2
    assert (read, path.read_bytes()) == (b"old", b"old")


def test_a_lock_is_free_again_after_its_holder_was_refused(store: FileStateStore) -> None:
    def edit(_data: bytes | None) -> Replacement:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        store.change(edit)

    store.change(put(b"new"))


def test_no_change_is_lost_between_writers(path: Path) -> None:
    def count() -> None:
        patient = FileStateStore(str(path), f"{path}.d", wait_seconds=30)
        for _ in range(20):
            patient.change(lambda data: Replacement(str(int(data or b"0") + 1).encode()))

    threads = [threading.Thread(target=count) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert path.read_bytes() == b"80"


def test_a_writer_removes_only_the_drafts_of_its_own_file(store: FileStateStore, path: Path) -> None:
    own, foreign = path.with_name(".state.json.0011.tmp"), path.with_name(".state2.json.0011.tmp")
    for draft in (own, foreign):
        draft.write_bytes(b"half")

    store.change(put(b"new"))

    assert drafts(path.parent) == [foreign.name]


def test_a_link_is_followed_and_its_lock_is_beside_the_target(store: FileStateStore, path: Path) -> None:
    target = path.parent / "elsewhere/truth.json"
    target.parent.mkdir()
    target.write_bytes(b"old")
    path.symlink_to(target)

    store.change(put(b"new"))

    assert (path.is_symlink(), target.read_bytes()) == (True, b"new")
    assert beside(target) == [".lock"]
    assert beside(path) == []


@pytest.mark.parametrize("damage", [b"", b"{", b"\0" * 100])
def test_a_copy_of_damage_is_private_and_byte_for_byte(store: FileStateStore, path: Path, damage: bytes) -> None:
    path.write_bytes(damage)

    shown = store.preserve(damage, "0" * 64, damage.__eq__)

    assert Path(shown).read_bytes() == damage
    assert stat.S_IMODE(Path(shown).stat().st_mode) == 0o600
    assert path.read_bytes() == damage


def test_a_planted_copy_is_neither_followed_nor_overwritten(store: FileStateStore, path: Path) -> None:
    path.write_bytes(b"damage")
    shown = Path(store.preserve(b"damage", "0" * 64, b"damage".__eq__))
    shown.unlink()
    victim = path.with_name("victim")
    victim.write_bytes(b"keep me")
    shown.symlink_to(victim)

    again = Path(store.preserve(b"damage", "0" * 64, b"damage".__eq__))

    assert victim.read_bytes() == b"keep me"
    assert again.read_bytes() == b"damage"


@pytest.mark.parametrize(
    "planted", [b"", b"other", b"damage and more", None], ids=["empty", "other", "longer", "a directory"]
)
def test_where_something_else_has_the_name_of_a_copy_the_bytes_are_kept_under_another(
    store: FileStateStore, path: Path, planted: bytes | None
) -> None:
    path.write_bytes(b"damage")
    there = Path(f"{path}.damaged-{'0' * 8}")
    there.mkdir() if planted is None else there.write_bytes(planted)

    shown = Path(store.preserve(b"damage", "0" * 64, b"damage".__eq__))

    assert shown != there
    assert shown.read_bytes() == b"damage"
    assert planted is None or there.read_bytes() == planted


def test_what_a_link_leads_to_is_set_aside_and_the_link_leads_to_an_empty_state(
    store: FileStateStore, path: Path, tmp_path: Path
) -> None:
    target = tmp_path / "real.json"
    target.write_bytes(b"damage")
    path.symlink_to(target)

    shown = Path(str(store.set_aside(lambda: True, EMPTY)))

    assert (path.is_symlink(), path.read_bytes(), shown.read_bytes()) == (True, EMPTY, b"damage")
    assert shown.parent == target.parent
    assert store.read() == EMPTY


def test_setting_aside_what_is_not_there_is_refused(store: FileStateStore) -> None:
    with pytest.raises(Refused) as caught:
        store.set_aside(lambda: True, EMPTY)

    assert caught.value.code == "state_unwritable"


@pytest.mark.parametrize("make", [os.mkfifo, Path.mkdir], ids=["fifo", "directory"])
def test_what_is_no_file_is_refused_without_waiting(
    store: FileStateStore, path: Path, make: Callable[[Path], None]
) -> None:
    make(path)

    codes = [code_of(store.read), code_of(lambda: store.change(put(b"new")))]

    assert codes == ["state_unsafe"] * 2


def test_a_location_that_is_not_utf_8_can_be_shown(tmp_path: Path) -> None:
    store = FileStateStore.at(os.fsdecode(os.fsencode(tmp_path) + b"/st\xff.json"), None)

    store.change(put(b"new"))

    assert store.location.encode("utf-8").endswith(b"/st\\xff.json")
