"""The process between host and provider, whose only work is that nothing of a run outlives it.

It is forked for one run and has no child but those of this run: being the parent of every orphan below it, it can
say from the kernel's own answer that none is left. It watches the host through a pipe and through the host's
process descriptor, so that even SIGKILL of the host ends the run.
"""

from __future__ import annotations

import gc
import os
import select
import signal
import time
import warnings

from loopx_host.adapters.process import descendants, landlock, run_spec
from loopx_host.adapters.process.confinement import CONTAINED
from loopx_host.adapters.process.interrupts import ASKING_TO_STOP
from loopx_host.adapters.process.spawn import NotStarted
from loopx_host.adapters.process.supervised_run import attend
from loopx_host.lifecycle.extensions.process import Ended

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from loopx_host.adapters.process.run_spec import RunSpec

SUPERVISED, NOT_COVERED = "supervised", "not_covered"
_GRACE_SECONDS = 20.0  # beyond a run's own time: its end, the sweep, the removal of its directory
_CHUNK = 1 << 16
_FIRST_WORD_SECONDS = 2.0


def fork(spec: RunSpec) -> tuple[int, int, int]:
    """Fork a supervisor for one run; return its pid, a descriptor whose closing stops it, one with its report."""
    stop_reading, stopping = os.pipe()
    try:
        reporting, report_writing = os.pipe()
    except OSError:
        os.close(stop_reading)
        os.close(stopping)
        raise
    host = os.getpid()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        pid = os.fork()
    if pid == 0:
        try:
            os.close(stopping)
            os.close(reporting)
            detach(stop_reading, report_writing)
            serve(spec, stop_reading, report_writing, host)
        finally:
            os._exit(1)
    os.close(stop_reading)
    os.close(report_writing)
    return pid, stopping, reporting


def serve(spec: RunSpec, stop: int, report: int, host: int) -> None:
    """Attend one run in this process, detached already, and write the report; ends the process."""
    subreaper = descendants.become_subreaper()
    watched = _watch(stop, host)
    try:
        # What keeps the provider's signals in keeps this process's in as well: all it can reach is the run.
        fenced = subreaper and spec.level.includes(CONTAINED) and landlock.fence_signals(host)
        ended = attend(spec, watched, subreaper=subreaper, fenced=fenced, children=_hear_of_children())
        ended.containment["host_death"] = SUPERVISED if subreaper else NOT_COVERED
        data = run_spec.packed_report(ended)
    except NotStarted as refused:
        data = run_spec.packed_refusal(refused.reason, refused.rung, refused.rows or [])
    try:
        _write(report, data)
    except OSError:  # the host is gone
        pass
    os._exit(0)


class Report:
    """What the host hears of a run: the report when it comes, and meanwhile how long it has been waiting."""

    def __init__(
        self, reporting: int, *, interrupts: int, stop: Callable[[], None], waiting: Callable[[float], None] | None
    ) -> None:
        self._reporting = reporting
        self._interrupts = interrupts
        self._stop = stop
        self._waiting = waiting

    def read(self, seconds: float) -> Ended | dict[str, Any] | None:
        """Return the report, or None when the supervisor went away without one or is long overdue."""
        began = time.monotonic()
        next_word = began + _FIRST_WORD_SECONDS
        waiter = select.poll()
        waiter.register(self._reporting, select.POLLIN)
        if self._interrupts >= 0:
            waiter.register(self._interrupts, select.POLLIN)
        kept = bytearray()
        while (now := time.monotonic()) < began + seconds + _GRACE_SECONDS:
            if self._waiting is not None and now >= next_word:
                next_word = now + 1
                self._waiting(now - began)
            ready = {descriptor for descriptor, _ in waiter.poll(1000)}
            if self._interrupts in ready:
                waiter.unregister(self._interrupts)
                self._stop()
            if self._reporting in ready:
                chunk = os.read(self._reporting, _CHUNK)
                kept += chunk
                if not chunk or run_spec.is_whole(kept):
                    break
        return run_spec.unpacked_report(bytes(kept))


def detach(*kept: int) -> None:
    """Leave the caller's terminal, group and standard streams; only the host's end may stop a supervisor.

    The descriptors `kept` stay open, whatever their numbers.
    """
    gc.disable()  # a collection would only copy pages that the host shares with this short life
    os.setsid()
    signal.set_wakeup_fd(-1)
    for number in (*ASKING_TO_STOP, signal.SIGPIPE, signal.SIGTSTP):
        signal.signal(number, signal.SIG_IGN)
    null = os.open(os.devnull, os.O_RDWR)
    for descriptor in range(3):
        if descriptor not in kept:
            os.dup2(null, descriptor)


def _hear_of_children() -> int:
    """Return a descriptor that becomes readable when a child has ended."""
    reading, writing = os.pipe()
    for descriptor in (reading, writing):
        os.set_blocking(descriptor, False)
    signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    return reading


def _watch(stop: int, host: int) -> int:
    """Return a descriptor that becomes readable when the host closes `stop`, writes to it, or dies."""
    if not hasattr(select, "epoll"):
        return stop
    watched = select.epoll()
    watched.register(stop, select.EPOLLIN)
    try:
        watched.register(os.pidfd_open(host), select.EPOLLIN)
    except (AttributeError, OSError):  # gone already: `stop` is at its end then
        pass
    _kept.append(watched)
    return watched.fileno()


def _write(descriptor: int, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(descriptor, rest) :]


_kept: list[select.epoll] = []  # closed by nobody: the process ends with it
