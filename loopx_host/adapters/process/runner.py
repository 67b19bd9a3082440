"""The process port: one bounded provider process, and the end of all it started on every way out."""

from __future__ import annotations

import errno
import os
import resource
import select
import signal
import time

from loopx_host.adapters.process import descendants, private_directory
from loopx_host.adapters.process.conversation import EXITED, INTERRUPTED, Conversation
from loopx_host.adapters.process.environment import provider_environment
from loopx_host.adapters.process.private_directory import PrivateDirectory
from loopx_host.core.limits import TERMINATE_GRACE_SECONDS
from loopx_host.core.text import visible
from loopx_host.lifecycle.launch import TIMEOUT, Ended

TYPE_CHECKING = False
if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable
    from typing import Any

    from loopx_host.adapters.process.interrupts import Interrupts
    from loopx_host.lifecycle.launch import Launch, Limits

RUNG = "process"
_MIB = 1 << 20
_ENDINGS = (os.CLD_EXITED, os.CLD_KILLED, os.CLD_DUMPED)
_KILL_SECONDS = 2.0  # how long a killed process may take to end
_BLIND_POLL_MS = 5  # only where a process has no descriptor to wait for


class ProcessRunner:
    """Runs providers in their own session and group.

    `owns_process` is true for the command line, whose whole process serves one command: it becomes the
    subreaper of its descendants. An embedding program never is, and only the group is ended. `waiting` is called
    with the seconds so far, about once a second, while a provider takes longer than two.
    """

    def __init__(
        self,
        interrupts: Interrupts,
        *,
        owns_process: bool,
        waiting: Callable[[float], None] | None = None,
    ) -> None:
        self._interrupts = interrupts
        self._waiting = waiting
        self._owns_process = owns_process

    def run(self, launch: Launch) -> Ended:
        """Run one launch (see the port). A signal meanwhile is raised when everything has ended."""
        with self._interrupts:
            began = time.monotonic()
            try:
                private = PrivateDirectory.create()
            except OSError as error:
                return Ended(start_error=f"no private directory: {error.strerror or error}")
            removed = False
            try:
                ended = self._start(launch, private.path)
            finally:
                removed = private.remove()
                private_directory.sweep(os.path.dirname(private.path))
            ended.duration_ms = int((time.monotonic() - began) * 1000)
            ended.containment["private_directory"] = "removed" if removed else "left"
            return ended

    def _start(self, launch: Launch, private: str) -> Ended:
        subreaper = self._owns_process and descendants.become_subreaper()
        before = descendants.snapshot() if subreaper else descendants.NOBODY
        import subprocess  # 4 ms that a preview need not pay

        try:
            child = subprocess.Popen(
                launch.argv,
                stdin=subprocess.PIPE if launch.stdin else subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                cwd=private,
                env=provider_environment(os.environ, launch.env_names, launch.env_set, private, launch.path_first),
                start_new_session=True,
                bufsize=0,
            )
        except (OSError, ValueError) as error:
            return Ended(start_error=_why(error, launch.argv[0]))
        provider = Provider(child, launch, subreaper=subreaper, before=before)
        try:
            return provider.attend(self._interrupts.descriptor, self._waiting)
        finally:
            provider.close()


class Provider:
    """One started provider, from its first byte to its last descendant."""

    def __init__(
        self,
        child: subprocess.Popen[bytes],
        launch: Launch,
        *,
        subreaper: bool,
        before: descendants.Snapshot,
    ) -> None:
        self._child = child
        self._launch = launch
        self._subreaper = subreaper
        self._before = before
        self._process = _pidfd(child.pid)
        self._talk: Conversation | None = None
        self._lost = False
        self._is_over = False

    def attend(self, interrupts: int, waiting: Callable[[float], None] | None) -> Ended:
        """Exchange until the end or a bound, then end the group and sweep, then read what is left."""
        deadline = time.monotonic() + self._launch.limits.timeout_seconds
        bounds = _bound(self._child.pid, self._launch.limits)
        talk = self._talk = self._conversation(interrupts, waiting)
        reason = talk.until_end(deadline)
        if reason != EXITED:
            talk.mute(reason)
            self._ask_to_end(talk)
        left_running = descendants.orphans(self._before, self._child.pid) if self._subreaper else None
        survivors, proof = self.end()
        over = talk.drain()
        stopped_by = reason if reason not in (EXITED, INTERRUPTED) else over
        return Ended(
            **self._status(stopped_by),
            stopped_by=stopped_by,
            stdout=bytes(talk.stdout.data[: talk.stdout.cap]),
            stderr=bytes(talk.stderr.data[: talk.stderr.cap]),
            containment={
                "rung": RUNG,
                "group": True,
                "subreaper": self._subreaper,
                "left_running": left_running,
                "survivors": survivors,
                "proof": proof,
                "ended_by": "pidfd" if self._process >= 0 else "polling",
                "limits": bounds,
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
        if ended:
            self._child.wait()
        if self._subreaper:
            return descendants.sweep(self._before)
        return (None, "group_ended") if ended else (1, "not_proved")

    def close(self) -> None:
        """End what is not over yet and close every descriptor."""
        self.end()
        if self._talk is not None:
            self._talk.end_input()
        for descriptor in (self._child.stdout, self._child.stderr):
            if descriptor is not None:
                descriptor.close()
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

    def _conversation(self, interrupts: int, waiting: Callable[[float], None] | None) -> Conversation:
        stdin, stdout, stderr = self._child.stdin, self._child.stdout, self._child.stderr
        if stdout is None or stderr is None:
            raise RuntimeError("the provider was started without pipes")
        # The conversation closes standard input itself, as soon as the provider has all of it.
        descriptor = -1 if stdin is None else os.dup(stdin.fileno())
        if stdin is not None:
            stdin.close()
        return Conversation(
            process=self._process,
            has_exited=self._has_exited,
            stdin=descriptor,
            request=self._launch.stdin,
            stdout=stdout.fileno(),
            stderr=stderr.fileno(),
            limits=self._launch.limits,
            interrupts=interrupts,
            waiting=waiting,
        )

    def _ask_to_end(self, talk: Conversation) -> None:
        self._signal_group(signal.SIGTERM)
        deadline = time.monotonic() + TERMINATE_GRACE_SECONDS
        while (reason := talk.until_end(deadline)) not in (EXITED, TIMEOUT):
            talk.mute(reason)

    def _signal_group(self, number: int) -> None:
        try:
            os.killpg(self._child.pid, number)
        except (ProcessLookupError, PermissionError):
            pass

    def _has_exited(self) -> bool:
        """Whether the leader has ended; its status is left for later, so that its number stays its own."""
        try:
            seen = os.waitid(os.P_PID, self._child.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        except ChildProcessError:
            self._lost = True
            return True
        # A provider that asked to be traced is also "seen" when it merely stops.
        return seen is not None and seen.si_code in _ENDINGS

    def _status(self, stopped_by: str | None) -> dict[str, Any]:
        """Return exit code or signal name; a status that somebody else took is no success."""
        if self._lost:
            return {} if stopped_by else {"start_error": "its exit status was taken by another part of this program"}
        code = self._child.returncode
        if code is None:  # it could not be ended
            return {}
        if code >= 0:
            return {"exit_code": code}
        try:
            return {"signal": signal.Signals(-code).name}
        except ValueError:
            return {"signal": f"SIG{-code}"}


def _pidfd(pid: int) -> int:
    try:
        return os.pidfd_open(pid)
    except (AttributeError, OSError):
        return -1


def _bound(pid: int, limits: Limits) -> list[dict[str, Any]]:
    """Set the resource bounds of a started provider; return a row for each with whether it holds."""
    wanted = [
        ("core_file_bytes", resource.RLIMIT_CORE, 0, 1),
        ("open_files", resource.RLIMIT_NOFILE, limits.open_files, 1),
    ]
    if limits.memory_mb is not None:
        wanted.append(("memory_mb", resource.RLIMIT_AS, limits.memory_mb, _MIB))
    return [
        {"limit": name, "value": value, "enforced": _limit(pid, which, value * unit), "by": "prlimit"}
        for name, which, value, unit in wanted
    ]


def _limit(pid: int, which: int, value: int) -> bool:
    try:
        hard = resource.prlimit(pid, which)[1]
        bound = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.prlimit(pid, which, (bound, bound))
    except (AttributeError, OSError, ValueError):  # no prlimit outside Linux
        return False
    return True


def _why(error: OSError | ValueError, program: str) -> str:
    if not isinstance(error, OSError) or not error.strerror:
        return str(error)
    if error.errno == errno.ENOENT and os.path.exists(program):
        return f"{error.strerror}: {visible(program)} is there, so it is the interpreter that its first line names"
    if error.errno == errno.ENOEXEC:
        return f"{error.strerror}: {visible(program)} is neither a program nor a script with a #! line"
    return error.strerror
