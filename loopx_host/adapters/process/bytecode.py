"""Take the byte code that a proved doctor left in its private directory, for the runs to come."""

from __future__ import annotations

import os
import stat

_ENDING = ".pyc"
_FILES, _BYTES = 20_000, 256 << 20  # beyond this it is not byte code of one provider
_OPEN = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK


def harvest(source: str, destination: str) -> bool:
    """Copy the byte-code files below `source` to the new directory `destination`; whether all of it went well.

    Links, devices and anything else are left where they are: nothing is taken that the provider could have
    pointed elsewhere. A failure leaves a part, which is as good as byte code that is not there.
    """
    left = [_FILES, _BYTES]
    try:
        return _copy(source, destination, left)
    except OSError:
        return False


def _copy(source: str, destination: str, left: list[int]) -> bool:
    folders = [(source, destination)]
    while folders:
        here, there = folders.pop()
        os.mkdir(there, 0o700)
        with os.scandir(here) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    folders.append((entry.path, os.path.join(there, entry.name)))
                elif entry.name.endswith(_ENDING):
                    left[0] -= 1
                    left[1] -= _take(entry.path, os.path.join(there, entry.name), left[1])
                if min(left) < 0:
                    return False
    return True


def _take(path: str, to: str, at_most: int) -> int:
    """Copy one regular file; return its size."""
    descriptor = os.open(path, _OPEN)
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode) or status.st_size > at_most:
            return status.st_size
        data = os.read(descriptor, status.st_size)
    finally:
        os.close(descriptor)
    new = os.open(to, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        os.write(new, data)
    finally:
        os.close(new)
    return len(data)
