"""What is done with the end of a pipe, wherever there is one: wait for it, write all, read all."""

from __future__ import annotations

import os
import select
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

CHUNK_BYTES = 1 << 16
_LAST_STANDARD = 2
_SAYS_END = getattr(
    select, "POLLRDHUP", 0
)  # that a socket's other side will say no more; a pipe's is told in any case


def is_lack(error: OSError) -> bool:
    """Whether a call failed because this machine, or this process, has no more of something."""
    import errno

    return error.errno in (errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EAGAIN)


def is_refused(error: OSError) -> bool:
    """Whether the kernel, or a filter before it, has no such call for this process."""
    import errno

    return error.errno in (errno.EPERM, errno.ENOSYS)


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
    if not hasattr(select, "poll"):
        return _selected(reading, writing, seconds)
    waiter = select.poll()
    for descriptors, events in ((reading, select.POLLIN), (writing, select.POLLOUT), (ending, _SAYS_END)):
        for descriptor in descriptors:
            if descriptor >= 0:
                waiter.register(descriptor, events)
    patience = None if seconds is None else max(0, int(seconds * 1000 + 0.999))  # not less, or the caller spins
    return {descriptor for descriptor, _ in waiter.poll(patience)}


def _selected(reading: Iterable[int], writing: Iterable[int], seconds: float | None) -> set[int]:
    """The same where green threads took `poll` away and put a `select` of theirs in its place."""
    to_read, to_write = ([descriptor for descriptor in some if descriptor >= 0] for some in (reading, writing))
    readable, writable, _ = select.select(to_read, to_write, [], None if seconds is None else max(0.0, seconds))
    return {*readable, *writable}


def pipe() -> tuple[int, int]:
    """Return both ends of a new pipe, neither of them in the place of a standard stream. Raises OSError."""
    reading, writing = os.pipe()
    try:
        reading = above_standard(reading)
    except OSError:
        os.close(writing)
        raise
    try:
        return reading, above_standard(writing)
    except OSError:
        os.close(reading)
        raise


def above_standard(descriptor: int) -> int:
    """Return a descriptor of the same thing that is no standard stream's: somebody may print to those.

    A program that closed its standard streams gets their numbers next. Raises OSError, and closes it then.
    """
    if descriptor > _LAST_STANDARD:
        return descriptor
    import fcntl

    try:
        return fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, _LAST_STANDARD + 1)
    finally:
        os.close(descriptor)


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
