"""Read a file without being held up, filled up or, by its time stamps, fooled by it."""

from __future__ import annotations

import os
import stat

_CHUNK = 1 << 16
_SECOND_NS = 1_000_000_000
_FINE_NS = 100_000_000  # several ticks of the coarsest kernel clock in use (10 ms)
_COARSE_NS = 2 * _SECOND_NS  # what a file system that keeps no fractions of a second may round to
_NO_WAIT = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY


class NotRegularError(OSError):
    """The path names a FIFO, device, socket or directory."""


class ForeignOwnerError(OSError):
    """The file belongs to a user whose word is not to be taken."""


class TooLargeError(OSError):
    """The file holds more than the caller takes."""


def is_settled(modified_ns: int, changed_ns: int, at_ns: int) -> bool:
    """Whether nothing that is written from the moment `at_ns` on can leave these times of a file or directory.

    Times without a fraction of a second mean a file system that keeps none. What lies in the future, by a clock that
    is another's or was set back, is never settled.
    """
    is_coarse = modified_ns % _SECOND_NS == 0 and changed_ns % _SECOND_NS == 0
    return max(modified_ns, changed_ns) + (_COARSE_NS if is_coarse else _FINE_NS) < at_ns


def read_regular(path: str, limit: int, owners: tuple[int, ...] | None = None) -> bytes:
    """Return the bytes of the regular file `path`, at most `limit`; `owners` are the users it may belong to.

    Raises NotRegularError at once for anything that could block or never end, ForeignOwnerError, TooLargeError,
    or OSError.
    """
    descriptor = os.open(path, _NO_WAIT)
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise NotRegularError("it is not a regular file")
        if owners is not None and status.st_uid not in owners:
            raise ForeignOwnerError(f"it belongs to another user ({status.st_uid})")
        return read_bounded(descriptor, limit)
    finally:
        os.close(descriptor)


def read_any(path: str, limit: int) -> bytes:
    """Return what can be read from `path` up to its end, also from a FIFO; at most `limit` bytes.

    Raises TooLargeError as soon as one byte too many arrives, NotRegularError for a directory, or OSError.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOCTTY)
    try:
        if stat.S_ISDIR(os.fstat(descriptor).st_mode):
            raise NotRegularError("it is a directory")
        return read_bounded(descriptor, limit)
    finally:
        os.close(descriptor)


def read_bounded(descriptor: int, limit: int) -> bytes:
    """Return everything up to end of file from `descriptor`. Raises TooLargeError after `limit` bytes."""
    kept = bytearray()
    while chunk := os.read(descriptor, _CHUNK):
        kept += chunk
        if len(kept) > limit:
            raise TooLargeError(f"it is larger than {limit} bytes")
    return bytes(kept)
