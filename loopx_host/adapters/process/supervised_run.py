"""One started provider, from its first byte to its last descendant."""

from __future__ import annotations

import os
import select
import signal
import time

from loopx_host.adapters.process import descendants, spawn
from loopx_host.adapters.process.bytecode import harvest
from loopx_host.adapters.process.confinement import NAMESPACED, Fence
from loopx_host.adapters.process.private_directory import PrivateDirectory
from loopx_host.adapters.process.stdio_exchange import EXITED, INTERRUPTED, StdioExchange
from loopx_host.core.limits import TERMINATE_GRACE_SECONDS
from loopx_host.lifecycle.extensions.process import TIMEOUT, Ended

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from loopx_host.adapters.process.run_spec import RunSpec
    from loopx_host.adapters.process.spawn import Started

_ENDINGS = (os.CLD_EXITED, os.CLD_KILLED, os.CLD_DUMPED)
_KILL_SECONDS = 2.0  # how long a killed process may take to end
_BLIND_POLL_MS = 5  # only where a process has no descriptor to wait for
_BYTECODE = "bytecode"
_AHEAD = 10  # steps of niceness


def attend(spec: RunSpec, interrupts: int, *, subreaper: bool, fenced: bool = False, children: int = -1) -> Ended:
    """Run one spec in a private directory of its own, to the end or a bound, and end all it started.

    `interrupts` is a descriptor that becomes readable when the run shall stop, or -1; `children` one that becomes
    readable when a child has ended. With `subreaper`, orphans below this process become its children, and it has
    none but those of this run; with `fenced` it can signal nobody else. Raises NotStarted only for a level of
    containment that could not be reached.
    """
    began = time.monotonic()
    try:
        private = PrivateDirectory.create()
    except OSError as error:
        return Ended(start_error=f"no private directory: {error.strerror or error}")
    removed = False
    try:
        ended = _started(spec, private.path, interrupts, subreaper=subreaper, fenced=fenced, children=children)
        if spec.bytecode_to and ended.exit_code == 0 and ended.stopped_by is None:
            harvest(os.path.join(private.path, _BYTECODE), spec.bytecode_to)
    finally:
        removed = private.remove()
    ended.duration_ms = int((time.monotonic() - began) * 1000)
    ended.containment["private_directory"] = "removed" if removed else "left"
    return ended


def _started(spec: RunSpec, private: str, interrupts: int, *, subreaper: bool, fenced: bool, children: int) -> Ended:
    pipes = Pipes(has_input=bool(spec.stdin))
    settings = {"PYTHONPYCACHEPREFIX": os.path.join(private, _BYTECODE), **spec.environment, "TMPDIR": private}
    fence = Fence(spec.level, private, spec.argv[0], spec.grants, spec.limits)
    try:
        started = spawn.start(spec.argv, settings, pipes.theirs, fence)
    except spawn.NotStarted as not_started:
        pipes.close()
        if not_started.rows is not None:
            raise
        return Ended(start_error=not_started.reason)
    pipes.close_theirs()
    if subreaper:
        _come_first()
    provider = Provider(started, spec, pipes, subreaper=subreaper, fenced=fenced)
    try:
        return provider.attend(interrupts, children)
    finally:
        provider.close()
        pipes.close()


def _come_first() -> None:
    """Get the processor before a provider that starts processes without end; only root may ask for that."""
    try:
        os.setpriority(os.PRIO_PROCESS, 0, os.getpriority(os.PRIO_PROCESS, 0) - _AHEAD)
    except OSError:  # an ordinary user's processes are limited in number instead
        pass


class Pipes:
    """The three standard streams of a provider: `theirs` are its ends, the others are ours. -1: closed."""

    def __init__(self, *, has_input: bool) -> None:
        their_input, self.stdin = os.pipe() if has_input else (os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC), -1)
        self.stdout, their_output = os.pipe()
        self.stderr, their_errors = os.pipe()
        self.theirs = (their_input, their_output, their_errors)

    def close_theirs(self) -> None:
        """Close the provider's ends, which it has by now."""
        for descriptor in self.theirs:
            os.close(descriptor)
        self.theirs = (-1, -1, -1)

    def close(self) -> None:
        """Close what is still open."""
        for descriptor in (*self.theirs, self.stdin, self.stdout, self.stderr):
            if descriptor >= 0:
                os.close(descriptor)
        self.theirs = (-1, -1, -1)
        self.stdin = self.stdout = self.stderr = -1


class Provider:
    """A running provider: its exchange, its end, the end of what it left."""

    def __init__(self, started: Started, spec: RunSpec, pipes: Pipes, *, subreaper: bool, fenced: bool) -> None:
        self._started = started
        self._pid = started.pid
        self._spec = spec
        self._pipes = pipes
        self._subreaper = subreaper
        self._fenced = fenced
        self._process = _pidfd(started.pid)
        self._exchange: StdioExchange | None = None
        self._status: int | None = None
        self._killed = False
        self._lost = False
        self._is_over = False

    def attend(self, interrupts: int, children: int) -> Ended:
        """Exchange until the end or a bound, then end the group and sweep, then read what is left."""
        deadline = time.monotonic() + self._spec.limits.timeout_seconds
        exchange = self._exchange = self._begin_exchange(interrupts, children)
        reason = exchange.until_end(deadline)
        if reason != EXITED:
            exchange.mute(reason)
            self._ask_to_end(exchange)
        # What lives in a process namespace ends with its first process, uncounted.
        is_counted = self._subreaper and self._started.rung != NAMESPACED
        left_running = descendants.orphans(self._pid) if is_counted else None
        survivors, proof = self.end()
        over = exchange.drain()
        stopped_by = reason if reason not in (EXITED, INTERRUPTED) else over
        return Ended(
            **self._outcome(stopped_by),
            stopped_by=stopped_by,
            stdout=bytes(exchange.stdout.data[: exchange.stdout.cap]),
            stderr=bytes(exchange.stderr.data[: exchange.stderr.cap]),
            containment={  # type: ignore[arg-type]
                "rung": self._started.rung,
                "group": True,
                "subreaper": self._subreaper,
                "left_running": left_running,
                "survivors": survivors,
                "proof": proof,
                "killed": self._killed,
                "ended_by": "pidfd" if self._process >= 0 else "polling",
                "limits": self._started.rows,
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
        self._signal_group(signal.SIGKILL)
        ended = self._await_end()
        if ended and not self._lost:
            self._status = os.waitpid(self._pid, 0)[1]
        if self._subreaper:
            return descendants.sweep(descendants.NOBODY, fenced=self._fenced)
        return (None, "group_ended") if ended else (1, "not_proved")

    def close(self) -> None:
        """End what is not over yet and close every descriptor."""
        self.end()
        if self._exchange is not None:
            self._exchange.end_input()
        if self._process >= 0:
            os.close(self._process)

    def _await_end(self) -> bool:
        """Wait for the end of the killed leader, but not for ever: one that became another user cannot be killed."""
        deadline = time.monotonic() + _KILL_SECONDS
        waiter = select.poll()
        if self._process >= 0:
            waiter.register(self._process, select.POLLIN)
        while not self._has_exited():
            remaining = deadline - time.monotonic()
            if remaining <= 0:
                return False
            waiter.poll(1 + int(1000 * remaining) if self._process >= 0 else _BLIND_POLL_MS)
        return True

    def _begin_exchange(self, interrupts: int, children: int) -> StdioExchange:
        # The exchange closes standard input itself, as soon as the provider has all of it.
        stdin, self._pipes.stdin = self._pipes.stdin, -1
        return StdioExchange(
            process=self._process,
            has_exited=self._has_exited,
            stdin=stdin,
            request=self._spec.stdin,
            stdout=self._pipes.stdout,
            stderr=self._pipes.stderr,
            limits=self._spec.limits,
            interrupts=interrupts,
            children=children if self._subreaper else -1,
            reap=lambda: descendants.reap_all_but(self._pid),
        )

    def _ask_to_end(self, exchange: StdioExchange) -> None:
        self._signal_group(signal.SIGTERM)
        deadline = time.monotonic() + TERMINATE_GRACE_SECONDS
        while (reason := exchange.until_end(deadline)) not in (EXITED, TIMEOUT):
            exchange.mute(reason)
        self._killed = reason == TIMEOUT

    def _signal_group(self, number: int) -> None:
        try:
            os.killpg(self._pid, number)
        except (ProcessLookupError, PermissionError):
            pass

    def _has_exited(self) -> bool:
        """Whether the leader has ended; its status is left for later, so that its number stays its own."""
        try:
            seen = os.waitid(os.P_PID, self._pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        except ChildProcessError:
            self._lost = True
            return True
        # A provider that asked to be traced is also "seen" when it merely stops.
        return seen is not None and seen.si_code in _ENDINGS

    def _outcome(self, stopped_by: str | None) -> dict[str, Any]:
        """Return exit code or signal name; a status that somebody else took is no success."""
        if self._lost:
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


def _pidfd(pid: int) -> int:
    try:
        return os.pidfd_open(pid)
    except (AttributeError, OSError):
        return -1
