"""Take the byte code that a proved doctor left in its private directory, for the runs to come.

This happens outside the sandbox, on what a provider arranged: every step goes by descriptors and follows no link, and
what is beyond a bound is no byte code of one provider, so nothing of it is taken.
"""

from __future__ import annotations

import os
import stat

from loopx_host.adapters.process.descriptors import write_all
from loopx_host.adapters.process.private_directory import remove_tree

_ENDING = ".pyc"
_ENTRIES, _BYTES, _FILE_BYTES, _DEPTH = 20_000, 64 << 20, 8 << 20, 64
_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK
_SECONDS = 10.0


class _TooMuchError(Exception):
    """More entries, bytes or levels than the byte code of one provider has."""


def harvest(source: str, destination: str) -> bool:
    """Copy the byte-code files below `source` to the new directory `destination`; all of them or none.

    Links, devices and anything else are left where they are: nothing is taken that the provider could have pointed
    elsewhere.
    """
    budget = [_ENTRIES, _BYTES]
    try:
        top = os.open(source, _DIRECTORY)
    except OSError:
        return False
    try:
        _copy(top, destination, budget, _DEPTH)
    except (OSError, _TooMuchError):
        remove_tree(destination, _SECONDS)
        return False
    finally:
        os.close(top)
    return True


def _copy(here: int, there: str, budget: list[int], depth: int) -> None:
    if depth == 0:
        raise _TooMuchError
    os.mkdir(there, 0o700)
    for name in os.listdir(here):
        budget[0] -= 1
        if budget[0] < 0:
            raise _TooMuchError
        mode = os.stat(name, dir_fd=here, follow_symlinks=False).st_mode
        if stat.S_ISDIR(mode):
            inner = os.open(name, _DIRECTORY, dir_fd=here)
            try:
                _copy(inner, os.path.join(there, name), budget, depth - 1)
            finally:
                os.close(inner)
        elif stat.S_ISREG(mode) and name.endswith(_ENDING):
            budget[1] -= _take(name, here, os.path.join(there, name))
            if budget[1] < 0:
                raise _TooMuchError


def _take(name: str, folder: int, to: str) -> int:
    """Copy one regular file; return its size. Raises _TooMuchError for one larger than any module's."""
    descriptor = os.open(name, _FILE, dir_fd=folder)
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode) or status.st_size > _FILE_BYTES:
            raise _TooMuchError
        data = os.read(descriptor, _FILE_BYTES)
    finally:
        os.close(descriptor)
    new = os.open(to, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        write_all(new, data)
    finally:
        os.close(new)
    return len(data)
