"""What is done with the end of a pipe, wherever there is one: wait for it, write all, read all."""

from __future__ import annotations

import os
import select
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

CHUNK_BYTES = 1 << 16


def ready(
    reading: Iterable[int],
    seconds: float | None = None,
    *,
    writing: Iterable[int] = (),
    ending: Iterable[int] = (),
) -> set[int]:
    """Return which descriptors can be read or are at their end, can be written, or are merely at their end.

    Waits for the first of them, for `seconds` at most (None: for ever); none of them then. A negative one is
    nobody's and is left out.
    """
    waiter = select.poll()
    for descriptors, events in ((reading, select.POLLIN), (writing, select.POLLOUT), (ending, 0)):
        for descriptor in descriptors:
            if descriptor >= 0:
                waiter.register(descriptor, events)
    patience = None if seconds is None else max(0, int(seconds * 1000 + 0.999))  # not less, or the caller spins
    return {descriptor for descriptor, _ in waiter.poll(patience)}


def write_all(descriptor: int, data: bytes) -> None:
    """Write all of it, however little a pipe takes at a time. Raises OSError, BrokenPipeError among them."""
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(descriptor, rest) :]


def read_all(
    descriptor: int,
    *,
    seconds: float | None = None,
    at_most: int | None = None,
    until: Callable[[bytearray], bool] | None = None,
) -> bytes | None:
    """Read to the end of a pipe, or until `until` says that nothing more will come.

    None when `seconds` are over before that, or when more than `at_most` bytes came.
    """
    deadline = None if seconds is None else time.monotonic() + seconds
    kept = bytearray()
    while until is None or not until(kept):
        if deadline is not None and not ready((descriptor,), deadline - time.monotonic()):
            return None
        chunk = os.read(descriptor, CHUNK_BYTES)
        if not chunk:
            break
        kept += chunk
        if at_most is not None and len(kept) > at_most:
            return None
    return bytes(kept)


def discard(descriptor: int) -> None:
    """Read what signals left in their pipe, which does not block."""
    try:
        while os.read(descriptor, CHUNK_BYTES):
            pass
    except BlockingIOError:
        pass


def of_process(pid: int) -> int:
    """Return a descriptor that becomes readable when a process ends; -1 where there is none, or no process."""
    try:
        return os.pidfd_open(pid)
    except (AttributeError, OSError):
        return -1
