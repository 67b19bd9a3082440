"""A watch notes what decided an answer; while no stat differs, the answer holds."""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from loopx_host.adapters.packages import fingerprints
from loopx_host.adapters.packages.fingerprints import Memory, Watch, is_unchanged
from tests.support.packages import write


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    write(tmp_path / "tree/file", "one\n")
    return tmp_path / "tree"


def watched(folder: Path) -> Watch:
    watch = Watch()
    watch.glance(str(folder))
    watch.glance(str(folder / "absent"))
    watch.digest(str(folder / "file"))
    watch.digest(str(folder / "missing"))
    return watch


def later(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let everything that was written until now have been still for a while."""
    moment = time.time_ns() + 10**9
    monkeypatch.setattr("loopx_host.adapters.packages.fingerprints.time.time_ns", lambda: moment)


@pytest.mark.parametrize("size", [0, 1, 1 << 18, (1 << 20) + 1])
def test_the_digest_is_sha256_of_the_bytes(folder: Path, size: int) -> None:
    data = bytes(range(256)) * (size // 256 + 1)
    (folder / "file").write_bytes(data[:size])

    assert Watch().digest(str(folder / "file")) == hashlib.sha256(data[:size]).hexdigest()


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir, lambda path: os.symlink("nowhere", path)])
def test_what_is_no_regular_file_has_no_digest_and_blocks_nothing(folder: Path, make: Callable[[Path], None]) -> None:
    make(folder / "odd")

    assert Watch().digest(str(folder / "odd")) is None


@pytest.mark.parametrize("path", ["\x00", "", "/nowhere/at/all", "x" * 5000])
def test_a_path_that_cannot_be_is_absent(path: str) -> None:
    watch = Watch()

    assert watch.digest(path) is None
    watch.glance(path)
    assert is_unchanged(watch.rows)


def replaced(folder: Path) -> None:
    (folder / "new").write_text("two\n", "utf-8")
    (folder / "new").replace(folder / "file")


def same_size_and_time(folder: Path) -> None:
    before = (folder / "file").stat()
    (folder / "file").write_text("two\n", "utf-8")
    os.utime(folder / "file", ns=(before.st_atime_ns, before.st_mtime_ns))


@pytest.mark.parametrize(
    "change",
    [
        replaced,
        same_size_and_time,
        lambda folder: os.utime(folder / "file"),
        lambda folder: (folder / "file").unlink(),
        lambda folder: (folder / "absent").mkdir(),
        lambda folder: write(folder / "missing", ""),
        lambda folder: folder.rename(folder.with_name("moved")),
    ],
    ids=["replaced", "same_size_and_time", "touched", "removed", "absent_came", "missing_came", "folder_moved"],
)
def test_every_change_of_what_was_looked_at_shows(folder: Path, change: Callable[[Path], object]) -> None:
    watch = watched(folder)
    assert is_unchanged(watch.rows)

    change(folder)

    assert not is_unchanged(watch.rows)


def test_a_link_pointed_elsewhere_shows(folder: Path) -> None:
    write(folder / "other", "one\n")
    (folder / "link").symlink_to(folder / "file")
    watch = Watch()
    watch.digest(str(folder / "link"))

    (folder / "link").unlink()
    (folder / "link").symlink_to(folder / "other")

    assert not is_unchanged(watch.rows)


def test_what_was_written_a_moment_ago_is_not_still(folder: Path) -> None:
    write(folder / "file", "two\n")

    assert not watched(folder).is_still


def test_what_was_written_a_while_ago_is_still(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    later(monkeypatch)

    assert watched(folder).is_still


def test_a_result_is_remembered_only_once_its_files_are_still(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Memory("key", "context").keep(watched(folder), {"answer": 1})
    moving = Memory("key", "context").result()
    later(monkeypatch)

    Memory("key", "context").keep(watched(folder), {"answer": 1})

    assert moving is None
    assert Memory("key", "context").result() == {"answer": 1}


def test_another_context_gets_no_result_and_still_knows_the_rows(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    later(monkeypatch)
    Memory("key", "context").keep(watched(folder), {"answer": 1})

    other = Memory("key", "other")

    assert other.result() is None
    assert str(folder / "file") in other.rows


def test_a_file_with_a_known_stat_is_not_read_again(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = watched(folder).rows
    read: list[str] = []
    genuine = fingerprints._hash

    def reading(path: str) -> tuple[str, list[int]]:
        read.append(Path(path).name)
        return genuine(path)

    monkeypatch.setattr(fingerprints, "_hash", reading)
    known = Watch(rows)
    same = known.digest(str(folder / "file"))
    write(folder / "file", "two\n")
    other = known.digest(str(folder / "file"))

    assert (same, other) == (hashlib.sha256(b"one\n").hexdigest(), hashlib.sha256(b"two\n").hexdigest())
    assert read == ["file"]


@pytest.mark.parametrize("row", [[], ["x"], [1, 2, 3, 4, 5, 5], [1, 2, 3, 4, 5, "short"]])
def test_a_row_that_is_none_is_passed_over(folder: Path, row: list[int | str]) -> None:
    path = str(folder / "file")
    stat = watched(folder).rows[path][:5]
    forged = [*stat, row[-1]] if len(row) == 6 else row

    assert Watch({path: forged}).digest(path) == hashlib.sha256(b"one\n").hexdigest()
