"""A folder of notes → a full-text index in memory: bounded, read-only, no link followed."""

from __future__ import annotations

import os
import sqlite3
import stat
from dataclasses import dataclass
from typing import TYPE_CHECKING

from loopx_host import visible

if TYPE_CHECKING:
    from collections.abc import Iterator

SUFFIXES = (b".md", b".txt")
NOTES = 20_000
NOTE_BYTES = 256 * 1024
TOTAL_BYTES = 64 * 1024 * 1024
ENTRIES = 100_000
DEPTH = 16
TITLE_BYTES = 160
PATH_BYTES = 240
_FOLDER_FLAGS = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_NOTE_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


class RecallFailed(Exception):  # noqa: N818 (what a search says instead of notes)
    """The search cannot be done: `code` for programs, one sentence for people."""

    def __init__(self, code: str, sentence: str) -> None:
        super().__init__(sentence)
        self.code = code


@dataclass(frozen=True, slots=True)
class Note:
    """One note as it was read: its path below the folder, its title, its text, when it was changed."""

    path: str
    title: str
    text: str
    modified: int


def open_index(notes: Iterator[Note]) -> sqlite3.Connection:
    """Return a database in memory with one row per note. Raises RecallFailed `fts5_unavailable`."""
    database = sqlite3.connect(":memory:")
    try:
        _fill(database, notes)
    except BaseException:
        database.close()
        raise
    return database


def _fill(database: sqlite3.Connection, notes: Iterator[Note]) -> None:
    database.execute("PRAGMA temp_store = MEMORY")
    try:
        database.execute(
            "CREATE VIRTUAL TABLE note USING fts5"
            "(path UNINDEXED, title, text, modified UNINDEXED, tokenize = 'unicode61 remove_diacritics 2')"
        )
    except sqlite3.OperationalError as error:
        raise RecallFailed("fts5_unavailable", "this Python's SQLite was built without FTS5") from error
    rows = ((note.path, note.title, note.text, note.modified) for note in notes)
    database.executemany("INSERT INTO note (path, title, text, modified) VALUES (?, ?, ?, ?)", rows)


def read_notes(folder: str) -> Iterator[Note]:
    """Yield the notes below `folder` in a fixed order; of a long one its beginning.

    Raises RecallFailed `too_many_notes` beyond the bounds: a search that misses notes silently is worth little.
    """
    left = TOTAL_BYTES
    for number, (path, descriptor) in enumerate(_note_files(folder)):
        try:
            data = _read(descriptor, min(NOTE_BYTES, left + 1))
            modified = int(os.fstat(descriptor).st_mtime)
        finally:
            os.close(descriptor)
        left -= len(data)
        if number >= NOTES or left < 0:
            raise _too_many()
        text = data.decode("utf-8-sig", "replace").replace("\0", " ")
        shown = shown_path(path)
        yield Note(shown, _title(text) or _stem(shown), text, modified)


def _too_many() -> RecallFailed:
    return RecallFailed(
        "too_many_notes",
        f"the folder holds more than {NOTES} notes, {TOTAL_BYTES // 1024 // 1024} MiB of them, {ENTRIES} entries "
        f"or {DEPTH} levels; name a folder inside it",
    )


def _read(descriptor: int, limit: int) -> bytes:
    """Return the first bytes of a note; those of one that cannot be read any more are none."""
    data = bytearray()
    try:
        while len(data) < limit:
            piece = os.read(descriptor, limit - len(data))
            if not piece:
                break
            data += piece
    except OSError:
        return b""
    return bytes(data)


def _names(folder: int, *, is_root: bool) -> list[bytes]:
    """Return the names in a folder; one that cannot be listed has none, unless it is the folder of notes itself."""
    try:
        return sorted(map(os.fsencode, os.listdir(folder)))
    except OSError as error:
        if is_root:
            raise RecallFailed("notes_unreadable", "the folder of notes is not readable") from error
        return []


def _note_files(folder: str) -> Iterator[tuple[bytes, int]]:
    """Yield path and open descriptor of each regular note file; every step is opened without following a link."""
    try:
        root = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError as error:
        raise RecallFailed("notes_unreadable", "the folder of notes is not there, or not readable") from error
    waiting: list[tuple[bytes, int]] = [(b"", 0)]
    entries = 0
    try:
        while waiting:
            path, depth = waiting.pop()
            here = _open_below(root, path)
            if here is None:
                continue
            try:
                names = _names(here, is_root=not path)
                entries += len(names)
                if entries > ENTRIES or depth > DEPTH:
                    raise _too_many()
                inner = []
                for name in names:
                    mode = 0 if name.startswith(b".") else _mode(name, here)
                    if stat.S_ISDIR(mode):
                        inner.append((path + name + b"/", depth + 1))
                    elif stat.S_ISREG(mode) and name.lower().endswith(SUFFIXES):
                        descriptor = _open_note(name, here)
                        if descriptor is not None:
                            yield path + name, descriptor
                waiting += reversed(inner)
            finally:
                os.close(here)
    finally:
        os.close(root)


def _open_below(root: int, path: bytes) -> int | None:
    """Open the folder at `path` below `root` one name at a time, so that no part of it can be a link."""
    here = os.dup(root)
    for name in path.split(b"/")[:-1]:
        try:
            inner = os.open(name, _FOLDER_FLAGS, dir_fd=here)
        except OSError:
            os.close(here)
            return None
        os.close(here)
        here = inner
    return here


def _open_note(name: bytes, here: int) -> int | None:
    """Open one note; None for one that cannot be read or is no regular file any more."""
    try:
        descriptor = os.open(name, _NOTE_FLAGS, dir_fd=here)
    except OSError:
        return None
    if stat.S_ISREG(os.fstat(descriptor).st_mode):
        return descriptor
    os.close(descriptor)
    return None


def _mode(name: bytes, here: int) -> int:
    try:
        return os.stat(name, dir_fd=here, follow_symlinks=False).st_mode
    except OSError:
        return 0


def _title(text: str) -> str:
    """Return the first line that says something, without the marks of a heading."""
    for line in text[:4096].splitlines():
        words = plain(line.strip().lstrip("#=-*_> \t"))
        if words:
            return shortened(words, TITLE_BYTES)
    return ""


def _stem(path: str) -> str:
    return shortened(path.rpartition("/")[2].rpartition(".")[0] or path, TITLE_BYTES)


def plain(text: str) -> str:
    """Return `text` on one line: white space as single spaces, no control character, no override of direction."""
    return " ".join("".join(mark if mark.isprintable() or mark.isspace() else " " for mark in text).split())


def shortened(text: str, limit: int) -> str:
    """Return `text` with at most `limit` bytes of UTF-8."""
    data = text.encode("utf-8")
    return text if len(data) <= limit else data[: limit - 3].decode("utf-8", "ignore") + "…"


def shown_path(path: bytes) -> str:
    r"""Return a path as text: bytes outside UTF-8 as ``\xNN``, other unprintable marks escaped, long ones cut."""
    return shortened(visible(path.decode("utf-8", "surrogateescape"), exact=True), PATH_BYTES)
