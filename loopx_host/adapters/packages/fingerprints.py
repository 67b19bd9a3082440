"""What an identity was computed from, remembered by stat: nothing is hashed again while no stat differs.

The memory is one small file per launcher under the cache directory, disposable and never truth: it is skipped
when it cannot be read or written. Rows hold ctime, of directories too, which nobody can set back. A row is remembered
only once its file has been still for a while, because two writes within one tick of the clock leave the same stat.
"""

from __future__ import annotations

import json
import os
import stat
import time

from loopx_host.adapters.files import atomic, bounded, paths
from loopx_host.core.digest import new, sha256_hex
from loopx_host.core.text import visible

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import TypedDict

    from loopx_host.core.digest import Hash

    # device, inode, size, times; of a file that was hashed its digest comes last. Of a directory: no size, and last
    # a mark where all that is in it belongs to what was identified.
    StatRow = list[int | str]
    StatRows = dict[str, list[int | str]]

    class Remembered(TypedDict, total=False):
        """The memory of one launcher as its file has it."""

        schema: str
        context: str
        rows: StatRows
        result: dict[str, object]


SCHEMA = "loopx_fingerprints_v2"
_OWN = "own"
_DIRECTORY_LENGTH = 4
_CACHE_BYTES = 32 * 1024 * 1024
_CHUNK = 1 << 18
_DIGEST_LENGTH = 64
_OPENSSL_PAYS_BYTES = 1 << 20  # above this, importing hashlib (3 ms) costs less than the built-in hash


class Watch:
    """Hashes files and notes the stat of everything looked at, so that a later glance can tell it is unchanged.

    `known` are rows of an earlier watch: a file whose stat is the same is not read again.
    """

    def __init__(self, known: StatRows | None = None) -> None:
        self._known = known or {}
        self.rows: StatRows = {}
        self.is_still = True

    def digest(self, path: str) -> str | None:
        """Return SHA-256 of the regular file `path` (links followed), or None when it cannot be read."""
        try:
            before = _file_row(os.stat(path))
            known = self._known.get(path)
            if known and known[:-1] == before and _is_digest(known[-1]):
                after, hashed = before, str(known[-1])
            else:
                hashed, after = _hash(path)
        except (OSError, ValueError):
            self.rows[path] = []
            return None
        self._note(path, [*after, hashed])
        return hashed

    def glance(self, path: str, *, is_own: bool = False) -> StatRow:
        """Note a directory, or a path that is not there, and return its row: a name that comes or goes is seen.

        `is_own`: all that is in the directory belongs to what is identified.
        """
        now = _glance(path)
        was_own = self.rows.get(path, [])[-1:] == [_OWN]
        row: StatRow = [*now, _OWN] if now and (is_own or was_own) else [*now]
        self._note(path, row)
        return row

    def _note(self, path: str, row: StatRow) -> None:
        self.rows[path] = row
        self.is_still = self.is_still and (not row or _is_settled(row, time.time_ns()))


def is_unchanged(rows: StatRows) -> bool:
    """Whether everything a watch noted still has the stat it had; one stat per row."""
    for path, row in rows.items():
        try:
            status = os.stat(path)
        except (OSError, ValueError):
            if row:
                return False
            continue
        if not _is_as_noted(status, row):
            return False
    return True


def is_settled(rows: StatRows, at_ns: int) -> bool:
    """Whether at some moment every stat of a watch was settled: a later write moves it."""
    return all(_is_settled(row, at_ns) for row in rows.values() if row)


def touched(rows: StatRows, since_ns: int) -> list[str]:
    """Return the paths of what a watch noted before `since_ns` and was written since; one stat for each.

    These are files that were hashed, and directories with all that is in them. A file that was not settled then is
    read again, for its stat could be that of another content.
    """
    marked = ((path, row) for path, row in rows.items() if row and isinstance(row[-1], str))
    return [path for path, row in marked if not _is_still_there(path, row, since_ns)]


def hashed(rows: StatRows) -> dict[str, str]:
    """Return path → digest of the files that a watch hashed; a path as a person may see it."""
    return {visible(path): str(row[-1]) for path, row in rows.items() if row and _is_digest(row[-1])}


def _is_still_there(path: str, row: StatRow, since_ns: int) -> bool:
    try:
        is_same = _is_as_noted(os.stat(path), row)
        return is_same and (row[-1] == _OWN or _is_settled(row, since_ns) or _hash(path)[0] == row[-1])
    except (OSError, ValueError):
        return False


def _is_as_noted(status: os.stat_result, row: StatRow) -> bool:
    if stat.S_ISDIR(status.st_mode):
        return _directory_row(status) == row[:_DIRECTORY_LENGTH]
    return _status(status) == row[:5]


class Memory:
    """The remembered computation of one key; `context` is whatever else decided it."""

    def __init__(self, key: str, context: str) -> None:
        self._path = os.path.join(paths.cache_root(), "fingerprints", f"{sha256_hex(os.fsencode(key))[:32]}.json")
        self._context = context
        self._document = self._load()

    @property
    def rows(self) -> StatRows:
        """The rows of the last computation, whatever its context was."""
        return self._document.get("rows", {})

    def result(self) -> dict[str, object] | None:
        """Return the remembered result while nothing it came from has changed, else None."""
        same = self._document.get("context") == self._context and "result" in self._document
        return self._document["result"] if same and is_unchanged(self.rows) else None

    def keep(self, watch: Watch, result: Mapping[str, object]) -> None:
        """Remember `result`; a cache that cannot be written is no error."""
        if not watch.is_still:
            return
        document: Remembered = {
            "schema": SCHEMA,
            "context": self._context,
            "rows": watch.rows,
            "result": {**result},
        }
        self._document = document
        try:
            paths.make_private(os.path.dirname(self._path))
            atomic.replace(self._path, json.dumps(document).encode("ascii"))
        except (OSError, ValueError):
            pass

    def _load(self) -> Remembered:
        try:
            document = json.loads(bounded.read_regular(self._path, _CACHE_BYTES))
        except (OSError, ValueError, RecursionError):
            return {}
        return document if _is_memory(document) else {}


def _is_memory(document: object) -> bool:
    if not isinstance(document, dict) or document.get("schema") != SCHEMA:
        return False
    rows = document.get("rows")
    return (
        isinstance(rows, dict)
        and all(isinstance(row, list) for row in rows.values())
        and isinstance(document.get("result"), dict)
    )


def _is_digest(value: object) -> bool:
    return isinstance(value, str) and len(value) == _DIGEST_LENGTH


def _glance(path: str) -> list[int]:
    try:
        status = os.stat(path)
    except (OSError, ValueError):
        return []
    return _directory_row(status) if stat.S_ISDIR(status.st_mode) else _status(status)


def _directory_row(status: os.stat_result) -> list[int]:
    return [status.st_dev, status.st_ino, status.st_mtime_ns, status.st_ctime_ns]


def _is_settled(row: StatRow, at_ns: int) -> bool:
    """Whether the stat in a row is settled; its times are the last two numbers."""
    *_, modified, changed = row[:-1] if isinstance(row[-1], str) else row
    return bounded.is_settled(int(modified), int(changed), at_ns)


def _file_row(status: os.stat_result) -> list[int]:
    if not stat.S_ISREG(status.st_mode):
        raise bounded.NotRegularError("it is not a regular file")
    return _status(status)


def _status(status: os.stat_result) -> list[int]:
    return [status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns]


def _hash(path: str) -> tuple[str, list[int]]:
    """Hash `path`; the row is the one before and after, or OSError when it moved meanwhile."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    try:
        before = _file_row(os.fstat(descriptor))
        hashed = _large() if before[2] > _OPENSSL_PAYS_BYTES else new()
        while chunk := os.read(descriptor, _CHUNK):
            hashed.update(chunk)
        if _file_row(os.fstat(descriptor)) != before:
            raise OSError("it was written while it was read")
        return hashed.hexdigest(), before
    finally:
        os.close(descriptor)


def _large() -> Hash:
    import hashlib

    return hashlib.sha256()
