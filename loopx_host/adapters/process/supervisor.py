"""The process between host and provider, whose only work is that nothing of a run outlives it.

It is forked for one run and has no child but those of this run: being the parent of every orphan below it, it can
say from the kernel's own answer that none is left. It watches the host through a pipe and through the host's
process descriptor, so that even SIGKILL of the host ends the run.
"""

from __future__ import annotations

import gc
import os
import time

from loopx_host.adapters.process import child, descendants, kernel, landlock, private_directory, run_spec
from loopx_host.adapters.process.confinement import CONTAINED
from loopx_host.adapters.process.descriptors import CHUNK_BYTES, is_lack, is_refused, ready, write_all
from loopx_host.adapters.process.spawn import NotStarted
from loopx_host.adapters.process.supervised_run import attend
from loopx_host.lifecycle.extensions.process import Ended

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from loopx_host.adapters.process.run_spec import NotReached, RunSpec

SUPERVISED, NOT_COVERED = "supervised", "not_covered"
_NAME = "run-supervisor"  # not the host's: who ends every `loopx` does not end what cleans up after it
_GRACE_SECONDS = 20.0  # beyond a run's own time: its end, the sweep, the removal of its directory
_FIRST_WORD_SECONDS = 2.0
_WORD_SECONDS = 1.0


class ForkedSupervisor:
    """The supervisor of one run, a child of this process, as the host deals with it.

    Forking one makes this process the parent of its orphans, so that it can clean up should a supervisor be killed.
    """

    def __init__(self, spec: RunSpec) -> None:
        """Fork it. Raises OSError."""
        private_directory.sweep()
        subreaper = descendants.become_subreaper()
        self._before = descendants.snapshot() if subreaper else descendants.NOBODY
        host = os.getpid()
        self._child = child.Child.forked(lambda stop, report: _begin(spec, stop, report, host), reads=1, writes=1)
        self._stopping, self.reporting = self._child.pipes.ours

    def stop(self) -> None:
        """Ask it to end the run; it reports then."""
        self._child.pipes.close_ours(self._stopping)

    def finish(self, report: Ended | NotReached | None) -> Ended | NotReached:
        """Let it end; return its report, or without one, after cleaning up, how the run ended."""
        self._child.pipes.close()  # one that still writes must not wait for a reader
        if report is None:
            self._child.kill()
        self._child.reap()
        return report or run_spec.lost(*descendants.sweep(self._before))


class Report:
    """What the host hears of a run: the report when it comes, and meanwhile how long it has been waiting."""

    def __init__(
        self, reporting: int, *, interrupts: int, stop: Callable[[], None], waiting: Callable[[float], None] | None
    ) -> None:
        self._reporting = reporting
        self._interrupts = interrupts
        self._stop = stop
        self._waiting = waiting

    def read(self, seconds: float) -> Ended | NotReached | None:
        """Return the report, or None when the supervisor went away without one or is long overdue."""
        began = time.monotonic()
        next_word = began + _FIRST_WORD_SECONDS
        interrupts = self._interrupts
        kept = bytearray()
        while (now := time.monotonic()) < began + seconds + _GRACE_SECONDS:
            if self._waiting is not None and now >= next_word:
                next_word = now + _WORD_SECONDS
                self._waiting(now - began)
            readable = ready((self._reporting, interrupts), _WORD_SECONDS)
            if interrupts in readable:
                interrupts = -1  # once is enough
                self._stop()
            if self._reporting in readable:
                chunk = os.read(self._reporting, CHUNK_BYTES)
                kept += chunk
                if not chunk or run_spec.is_whole(kept):
                    break
        return run_spec.unpacked_report(bytes(kept))


def serve(spec: RunSpec, stop: int, report: int, host: int) -> None:
    """Attend one run in this process, detached already, and write the report; ends the process."""
    subreaper = descendants.become_subreaper()
    try:
        stopped = child.end_of(host, stop)
        # What keeps the provider's signals in keeps this process's in as well: all it can reach is the run.
        fenced = subreaper and spec.level.includes(CONTAINED) and landlock.fence_signals(host)
        ended = attend(spec, stopped, subreaper=subreaper, fenced=fenced, children=child.hear_of_children())
        ended.containment["host_death"] = SUPERVISED if subreaper else NOT_COVERED
        data = run_spec.packed_report(ended)
    except NotStarted as refused:
        data = run_spec.packed_refusal(refused.reason, refused.rung, refused.rows or [])
    except OSError as error:
        data = run_spec.packed_report(not_run(error))
    try:
        write_all(report, data)
    except OSError:  # the host is gone
        pass
    os._exit(0)


def detach(*kept: int) -> None:
    """Leave the caller's terminal, group, name and standard streams; only the host's end may stop a supervisor.

    The descriptors `kept` stay open, whatever their numbers.
    """
    gc.disable()  # a collection would only copy pages that the host shares with this short life
    child.detach()
    kernel.be_called(_NAME)
    null = os.open(os.devnull, os.O_RDWR)
    for descriptor in range(3):
        if descriptor not in kept:
            os.dup2(null, descriptor)


def not_run(error: OSError) -> Ended:
    """Return how a run ended that the system kept from starting; what is no lack and no refusal is told as it is."""
    why = error.strerror or str(error)
    if is_lack(error):
        return Ended(lacks=("no_processes", f"there is not enough left to run anything: {why}"))
    if is_refused(error):
        return Ended(lacks=("kernel_refused", f"the kernel refuses a call that running anything takes: {why}"))
    return Ended(start_error=f"no process to supervise it: {why}")


def _begin(spec: RunSpec, stop: int, report: int, host: int) -> None:
    try:
        detach(stop, report)
    except OSError as error:
        write_all(report, run_spec.packed_report(not_run(error)))
        os._exit(0)
    serve(spec, stop, report, host)
