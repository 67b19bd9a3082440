"""Digests of files, remembered by stat: a file is hashed again only when its stat differs.

The memory is a cache under the cache directory, disposable and never truth: it is skipped when it cannot be
read or written. Its entries hold ctime, which no one can set back. An entry is remembered only once its
file has been still for a while, because two writes within one tick of the clock leave the same stat.
"""

from __future__ import annotations

import json
import os
import stat
import time

from loopx_host.adapters.files import atomic, bounded, paths
from loopx_host.core.digest import new, sha256_hex

TYPE_CHECKING = False
if TYPE_CHECKING:
    from loopx_host.core.digest import Hash

_STILL_NS = 100_000_000  # several ticks of the coarsest kernel clock in use (10 ms)
_CACHE_BYTES = 1 << 20
_CHUNK = 1 << 18
_OPENSSL_PAYS_BYTES = 1 << 20  # above this, importing hashlib (3 ms) costs less than the built-in hash


class Fingerprints:
    """The fingerprints of the files behind one launcher, kept in one small file."""

    def __init__(self, key: str) -> None:
        self._path = os.path.join(paths.cache_root(), "fingerprints", f"{sha256_hex(os.fsencode(key))[:32]}.json")
        self._known: dict[str, list[object]] = self._load()
        self._changed = False

    def digest(self, path: str) -> str | None:
        """Return SHA-256 of the regular file `path` (links followed), or None when it cannot be read."""
        try:
            before = _fingerprint(os.stat(path))
            known = self._known.get(path)
            if known and known[:-1] == before:
                return str(known[-1])
            hashed, after = _hash(path)
        except (OSError, ValueError):
            return None
        if after[-1] + _STILL_NS < time.time_ns():
            self._known[path] = [*after, hashed]
            self._changed = True
        return hashed

    def save(self) -> None:
        """Write what was learned; a cache that cannot be written is no error."""
        if not self._changed:
            return
        self._changed = False
        try:
            paths.make_private(os.path.dirname(self._path))
            atomic.replace(self._path, json.dumps(self._known).encode("ascii"))
        except OSError:
            pass

    def _load(self) -> dict[str, list[object]]:
        try:
            known = json.loads(bounded.read_regular(self._path, _CACHE_BYTES))
        except (OSError, ValueError, RecursionError):
            return {}
        return known if isinstance(known, dict) and all(_is_row(row) for row in known.values()) else {}


def _is_row(row: object) -> bool:
    return isinstance(row, list) and len(row) == 6 and isinstance(row[-1], str)  # noqa: PLR2004 (five stat fields, digest)


def _fingerprint(status: os.stat_result) -> list[int]:
    if not stat.S_ISREG(status.st_mode):
        raise bounded.NotRegularError("it is not a regular file")
    return [status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns]


def _hash(path: str) -> tuple[str, list[int]]:
    """Hash `path`; the fingerprint is the one before and after, or OSError when it moved meanwhile."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    try:
        before = _fingerprint(os.fstat(descriptor))
        hashed = _large() if before[2] > _OPENSSL_PAYS_BYTES else new()
        while chunk := os.read(descriptor, _CHUNK):
            hashed.update(chunk)
        if _fingerprint(os.fstat(descriptor)) != before:
            raise OSError("it was written while it was read")
        return hashed.hexdigest(), before
    finally:
        os.close(descriptor)


def _large() -> Hash:
    import hashlib

    return hashlib.sha256()
