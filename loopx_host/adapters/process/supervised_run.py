"""One started provider, from its first byte to its last descendant."""

from __future__ import annotations

import os
import signal
import time

from loopx_host.adapters.process import descendants, spawn
from loopx_host.adapters.process.attribute_broker import AttributeBroker
from loopx_host.adapters.process.child import Pipes
from loopx_host.adapters.process.confinement import LIMITS, NAMESPACED, Fence
from loopx_host.adapters.process.descriptors import is_lack, is_refused
from loopx_host.adapters.process.private_directory import PrivateDirectory
from loopx_host.adapters.process.stdio_exchange import EXITED, INTERRUPTED, StdioExchange
from loopx_host.core.limits import TERMINATE_GRACE_SECONDS
from loopx_host.lifecycle.extensions.process import TIMEOUT, Ended

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import TypedDict

    from loopx_host.adapters.process.memory_group import MemoryGroup
    from loopx_host.adapters.process.run_spec import RunSpec
    from loopx_host.adapters.process.spawn import Started
    from loopx_host.documents.parts import Limit
    from loopx_host.lifecycle.extensions.process import Limits

    class Outcome(TypedDict, total=False):
        """One of these, or none for a provider that could not be ended."""

        exit_code: int
        signal: str
        start_error: str


_KILL_SECONDS = 2.0  # how long a killed process may take to end
_BYTECODE = "bytecode"
_AHEAD = 10  # steps of niceness


def attend(
    spec: RunSpec, interrupts: Iterable[int], *, subreaper: bool, fenced: bool = False, children: int = -1
) -> Ended:
    """Do one run in a private directory of its own, to the end or a bound, and end all it started.

    `interrupts` are descriptors that become readable when the run shall stop; `children` is one that becomes
    readable when a child has ended, or -1. With `subreaper`, orphans below this process become its children, and it
    has none but those of this run; with `fenced` it can signal nobody else. Raises NotStarted only for a level of
    containment that could not be reached, and OSError where descriptors, memory or processes ran out.
    """
    began = time.monotonic()
    try:
        private = PrivateDirectory.create()
    except OSError as error:
        if is_lack(error):
            raise
        return Ended(start_error=f"no private directory: {error.strerror or error}")
    removed = False
    group = None
    try:
        group = _memory_group(spec, private.path)
        fence = Fence(spec.level, private.path, spec.argv[0], spec.grants, spec.limits, group)
        ended = _started(spec, fence, interrupts, subreaper=subreaper, fenced=fenced, children=children)
        if spec.bytecode_to and ended.exit_code == 0 and ended.stopped_by is None:
            from loopx_host.adapters.process.bytecode import harvest

            harvest(os.path.join(private.path, _BYTECODE), spec.bytecode_to)
    finally:
        removed = private.remove()
        if group is not None:
            group.remove()
    ended.duration_ms = int((time.monotonic() - began) * 1000)
    ended.containment["private_directory"] = "removed" if removed else "left"
    return ended


def _memory_group(spec: RunSpec, private: str) -> MemoryGroup | None:
    """Return a group for a run whose memory is bounded, named like its private directory, where one can be had."""
    if spec.limits.memory_mb is None or not spec.level.includes(LIMITS):
        return None
    from loopx_host.adapters.process.memory_group import MemoryGroup

    return MemoryGroup.create(os.path.basename(os.path.dirname(private)), spec.limits.memory_mb << 20)


def _started(
    spec: RunSpec, fence: Fence, interrupts: Iterable[int], *, subreaper: bool, fenced: bool, children: int
) -> Ended:
    pipes = Pipes(reads=1 if spec.stdin else 0, writes=2)
    if not spec.stdin:
        pipes.theirs.insert(0, os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC))
    private = fence.private
    settings = {"PYTHONPYCACHEPREFIX": os.path.join(private, _BYTECODE), **spec.environment, "TMPDIR": private}
    try:
        started = spawn.start(spec.argv, settings, pipes.theirs, fence)
    except spawn.NotStarted as not_started:
        pipes.close()
        if not_started.rows is not None:
            raise
        if not_started.error is not None and is_refused(not_started.error):
            raise not_started.error from None
        return Ended(start_error=not_started.reason)
    pipes.close_theirs()
    if subreaper:
        _come_first()
    broker = AttributeBroker(started.listener, fence.writable)
    provider = Provider(started, spec, pipes, broker, subreaper=subreaper, fenced=fenced)
    try:
        return provider.attend(interrupts, children)
    finally:
        provider.close()


def _bounds(limits: Limits) -> list[Limit]:
    """Return the rows of what this process itself holds a run to, at every level."""
    values = {
        "timeout_seconds": limits.timeout_seconds,
        "stdout_bytes": limits.stdout_bytes,
        "stderr_bytes": limits.stderr_bytes,
    }
    return [{"limit": name, "value": value, "enforced": True, "by": "supervisor"} for name, value in values.items()]


def _come_first() -> None:
    """Get the processor before a provider that starts processes without end; only root may ask for that."""
    try:
        os.setpriority(os.PRIO_PROCESS, 0, os.getpriority(os.PRIO_PROCESS, 0) - _AHEAD)
    except OSError:  # an ordinary user's processes are limited in number instead
        pass


class Provider:
    """A running provider: its exchange, its end, the end of what it left."""

    def __init__(
        self,
        started: Started,
        spec: RunSpec,
        pipes: Pipes,
        broker: AttributeBroker,
        *,
        subreaper: bool,
        fenced: bool,
    ) -> None:
        self._started = started
        self._child = started.child
        self._spec = spec
        self._pipes = pipes
        self._broker = broker
        self._subreaper = subreaper
        self._fenced = fenced
        self._exchange: StdioExchange | None = None
        self._status: int | None = None
        self._killed = False
        self._is_over = False

    def attend(self, interrupts: Iterable[int], children: int) -> Ended:
        """Exchange until the end or a bound, then end the group and sweep, then read what is left."""
        deadline = time.monotonic() + self._spec.limits.timeout_seconds
        exchange = self._exchange = self._begin_exchange(interrupts, children)
        reason = exchange.until_end(deadline)
        if reason != EXITED:
            exchange.mute(reason)
            self._ask_to_end(exchange)
        # What lives in a process namespace ends with its first process, uncounted.
        is_counted = self._subreaper and self._started.rung != NAMESPACED
        left_running = descendants.orphans(self._child.pid) if is_counted else None
        survivors, proof = self.end()
        over = exchange.drain()
        stopped_by = reason if reason not in (EXITED, INTERRUPTED) else over
        return Ended(
            **self._outcome(stopped_by),
            stopped_by=stopped_by,
            stdout=bytes(exchange.stdout.data[: exchange.stdout.cap]),
            stderr=bytes(exchange.stderr.data[: exchange.stderr.cap]),
            containment={
                "rung": self._started.rung,
                "group": True,
                "subreaper": self._subreaper,
                "left_running": left_running,
                "survivors": survivors,
                "proof": proof,
                "killed": self._killed,
                "ended_by": "pidfd" if self._child.descriptor >= 0 else "polling",
                "limits": [*_bounds(self._spec.limits), *self._started.rows],
            },
        )

    def end(self) -> tuple[int | None, str]:
        """Kill the group, take the leader's status, sweep; return (survivors, proof).

        The group is killed while its ended leader is not yet reaped: until then its number cannot belong to
        anyone else.
        """
        if self._is_over:
            return None, "ended_before"
        self._is_over = True
        self._child.signal_group(signal.SIGKILL)
        # Not for ever: one that became another user cannot be killed.
        ended = self._child.await_end(_KILL_SECONDS)
        if ended and not self._child.is_lost:
            self._status = self._child.reap()
        if self._subreaper:
            return descendants.sweep(descendants.NOBODY, fenced=self._fenced)
        return (None, "group_ended") if ended else (1, "not_proved")

    def close(self) -> None:
        """End what is not over yet and close every descriptor."""
        self.end()
        if self._exchange is not None:
            self._exchange.end_input()
        self._broker.close()
        self._child.close()
        self._pipes.close()

    def _begin_exchange(self, interrupts: Iterable[int], children: int) -> StdioExchange:
        *stdin, stdout, stderr = self._pipes.ours
        if stdin:  # the exchange closes standard input itself, as soon as the provider has all of it
            self._pipes.ours.remove(stdin[0])
        return StdioExchange(
            self._child,
            stdin=stdin[0] if stdin else -1,
            request=self._spec.stdin,
            stdout=stdout,
            stderr=stderr,
            limits=self._spec.limits,
            interrupts=interrupts,
            children=children if self._subreaper else -1,
            reap=lambda: descendants.reap_all_but(self._child.pid),
            broker=self._broker,
        )

    def _ask_to_end(self, exchange: StdioExchange) -> None:
        self._child.signal_group(signal.SIGTERM)
        deadline = time.monotonic() + TERMINATE_GRACE_SECONDS
        while (reason := exchange.until_end(deadline)) not in (EXITED, TIMEOUT):
            exchange.mute(reason)
        self._killed = reason == TIMEOUT

    def _outcome(self, stopped_by: str | None) -> Outcome:
        """Return exit code or signal name; a status that somebody else took is no success."""
        if self._child.is_lost:
            return {} if stopped_by else {"start_error": "its exit status was taken by another part of this program"}
        if self._status is None:  # it could not be ended
            return {}
        if os.WIFEXITED(self._status):
            return {"exit_code": os.WEXITSTATUS(self._status)}
        number = os.WTERMSIG(self._status)
        try:
            return {"signal": signal.Signals(number).name}
        except ValueError:
            return {"signal": f"SIG{number}"}
