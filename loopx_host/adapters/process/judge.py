"""Judge an instance by a third party's schema in a forked child with a deadline.

A schema can be written so that judging takes longer than the universe will last, and no signal reaches the
library while it judges. A child can be killed; a fork without exec costs well under a millisecond.
"""

from __future__ import annotations

import json
import os
import select
import signal
import warnings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from loopx_host.lifecycle.ports import Verdict
    from loopx_host.registry.schemas import Bundle

DEADLINE_SECONDS = 5.0
_CHUNK = 1 << 16
_ANSWER_BYTES = 1 << 20


class ForkedJudge:
    """The judging port (see `lifecycle.ports`)."""

    def __init__(self, deadline_seconds: float = DEADLINE_SECONDS) -> None:
        self._deadline_seconds = deadline_seconds

    def violations(self, bundle: Bundle, instance: object) -> Verdict:
        """Return the rows of what `instance` breaks; None when that could not be found out in time."""
        # Loaded before the fork: the child must wait for no import lock.
        import jsonschema_rs  # noqa: F401

        from loopx_host.registry import schemas  # noqa: F401

        reading, writing = os.pipe()
        child = _fork()
        if child == 0:
            _answer(writing, bundle, instance)
        os.close(writing)
        try:
            return _parsed(_read(reading, self._deadline_seconds))
        finally:
            os.close(reading)
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)


def _fork() -> int:
    with warnings.catch_warnings():
        # In a program with threads Python warns of locks the child could wait for. This child judges and exits;
        # should it wait, the deadline ends it and the answer is None.
        warnings.simplefilter("ignore", DeprecationWarning)
        return os.fork()


def _answer(writing: int, bundle: Bundle, instance: object) -> None:
    """Judge and say so, in the child; leaves without running anything the parent registered."""
    from loopx_host.registry.schemas import SchemaError, validator, violations

    status = 1
    try:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        try:
            said: object = violations(validator(bundle), instance)
        except SchemaError as error:
            said = str(error)
        data = memoryview(json.dumps(said).encode("ascii"))
        while data:
            data = data[os.write(writing, data) :]
        status = 0
    finally:
        os._exit(status)


def _read(reading: int, seconds: float) -> bytes:
    """Return what the child wrote before it closed its end, or what there is at the deadline."""
    import time

    deadline = time.monotonic() + seconds
    waiter = select.poll()
    waiter.register(reading, select.POLLIN)
    kept = bytearray()
    while len(kept) < _ANSWER_BYTES:
        remaining = deadline - time.monotonic()
        if remaining <= 0 or not waiter.poll(int(remaining * 1000) + 1):
            return b""
        chunk = os.read(reading, _CHUNK)
        if not chunk:
            return bytes(kept)
        kept += chunk
    return b""


def _parsed(data: bytes) -> Verdict:
    try:
        rows = json.loads(data)
    except ValueError:
        return None
    return rows if isinstance(rows, list) else None
