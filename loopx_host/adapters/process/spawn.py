"""Start a provider: fork, give up what the level says, execute; and tell the parent how far it got.

A fork without a bootstrap program in between costs well under a millisecond, and what the child gives up is in
force before the first instruction of the provider. Only for a process with one thread: a fork in another may find
locks held for ever (see `warm`).
"""

from __future__ import annotations

import errno
import json
import os
import signal

from loopx_host.adapters.process import confinement, kernel, landlock, namespaces, rlimits, seccomp
from loopx_host.core.text import visible

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from loopx_host.adapters.process.confinement import Fence, Row

__all__ = ["NotStarted", "Started", "start", "trial"]

_REPORT_BYTES = 1 << 16
_FAILED = 127
_FIRST_OTHER = 3  # descriptor after the standard streams
_NEEDED = (landlock, rlimits, seccomp)  # loaded before the fork: afterwards no file can be read
_not_default: list[int] = []


class NotStarted(Exception):  # noqa: N818 (the outcome of a start)
    """A provider that was not started: `reason` for a person; `rows` when the level could not be reached."""

    def __init__(self, reason: str, rows: list[Row] | None = None, rung: str | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.rows = rows
        self.rung = rung


class Started:
    """A process that was started: its number, the rung it is on, the rows of what it gave up."""

    __slots__ = ("pid", "rows", "rung")

    def __init__(self, pid: int, rung: str, rows: list[Row]) -> None:
        self.pid = pid
        self.rung = rung
        self.rows = rows


def start(argv: list[str], environment: dict[str, str], streams: tuple[int, int, int], fence: Fence) -> Started:
    """Start `argv` in the private directory of `fence` with the three standard streams. Raises NotStarted."""

    def execute() -> None:
        os.execve(argv[0], argv, environment)  # noqa: S606 (no shell is what is wanted)

    pid, said = _forked(execute, streams, fence)
    if "error" not in said and "refused" not in said and "rows" in said:
        return Started(pid, said["rung"], said["rows"])
    os.waitpid(pid, 0)
    if "refused" in said:
        raise NotStarted(said["refused"], said.get("rows"), said.get("rung"))
    raise NotStarted(_why(said.get("error", 0), said.get("step", ""), argv[0]))


def trial(fence: Fence) -> tuple[str, list[Row], str | None]:
    """Confine a process that does nothing; return the rung it reached, its rows, and why it got no further."""
    null = os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC)
    try:
        pid, said = _forked(lambda: os._exit(0), (null, null, null), fence)
    finally:
        os.close(null)
    os.waitpid(pid, 0)
    return said.get("rung", confinement.PROCESS), said.get("rows", []), said.get("namespaces")


def _forked(become: Any, streams: tuple[int, int, int], fence: Fence) -> tuple[int, dict[str, Any]]:  # noqa: ANN401
    """Fork a child that confines itself and then becomes the provider; return it and what it said meanwhile."""
    if kernel.is_linux():
        kernel.library()
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            _Child(writing, streams, fence).become(become)
        finally:
            os._exit(_FAILED)
    os.close(writing)
    try:
        return pid, _heard(reading)
    finally:
        os.close(reading)


def _heard(reading: int) -> dict[str, Any]:
    kept = bytearray()
    while len(kept) < _REPORT_BYTES and (chunk := os.read(reading, _REPORT_BYTES)):
        kept += chunk
    said: dict[str, Any] = {}
    for line in bytes(kept).splitlines():
        said.update(json.loads(line))
    return said


class _Child:
    """The forked child, until it is the provider."""

    def __init__(self, report: int, streams: tuple[int, int, int], fence: Fence) -> None:
        self._report = report
        self._streams = streams
        self._fence = fence
        self._parent = os.getppid()

    def become(self, become: Any) -> None:  # noqa: ANN401 (what never returns has no type of its own)
        """Confine and become. Never returns."""
        try:
            self._prepare()
            namespaced = self._fence.level.includes(confinement.NAMESPACED) and self._enter_namespaces()
            if namespaced:
                namespaces.stand_in(lambda: self._finish(become, namespaced=True), self._failed, self._let_go)
            else:
                self._finish(become, namespaced=False)
        except OSError as error:
            self._failed(error)

    def _prepare(self) -> None:
        os.setsid()
        if kernel.is_linux():
            kernel.prctl(kernel.PR_SET_PDEATHSIG, signal.SIGKILL)
            if os.getppid() != self._parent:  # it died before it could be heard of
                os._exit(_FAILED)
        for target, source in enumerate(self._streams):
            os.dup2(source, target, inheritable=True)
        _close_on_exec()
        os.chdir(self._fence.private)
        for number in not_default():
            signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_SETMASK, [])

    def _enter_namespaces(self) -> bool:
        try:
            namespaces.enter(network=self._fence.network)
        except (OSError, AttributeError) as error:
            self._say(namespaces=str(error))
            return False
        return True

    def _finish(self, become: Any, *, namespaced: bool) -> None:  # noqa: ANN401
        """Confine this process, say so, and become the provider. Never returns."""
        step = "confine"
        try:
            if namespaced:
                kernel.prctl(kernel.PR_SET_PDEATHSIG, signal.SIGKILL)
                namespaces.arrange(self._fence.writable)
                os.chdir(self._fence.private)  # the mount that can be written lies over the one entered before
            step = "open the references"
            confinement.open_references(self._fence)
            step = "confine"
            rows = confinement.confine(self._fence, namespaced=namespaced)
            rung = confinement.reached(rows, namespaced=namespaced)
            self._say(rows=rows, rung=rung)
            level = self._fence.level
            if level.is_demanded and not (_reaches(rung, level.rung) and _holds_sessions(rows)):
                self._say(refused=", ".join(confinement.deciding(rows)) or "namespaces")
                os._exit(_FAILED)
            step = "execute"
            become()
        except OSError as error:
            self._say(error=error.errno or 0, step=step)
        except ValueError:  # a NUL in an argument, a name that has no bytes
            self._say(error=errno.EINVAL, step=step)
        finally:
            os._exit(_FAILED)

    def _failed(self, error: OSError) -> None:
        self._say(error=error.errno or 0, step=str(error))

    def _let_go(self, kept: int) -> None:
        """Drop, in a stand-in, every descriptor but one: they would keep streams and report open."""
        null = os.open(os.devnull, os.O_RDWR)
        for target in range(_FIRST_OTHER):
            os.dup2(null, target)
        for number in _others():
            if number != kept:
                os.close(number)

    def _say(self, **words: object) -> None:
        os.write(self._report, json.dumps(words).encode("ascii") + b"\n")


def not_default() -> list[int]:
    """Return the signals that are handled or ignored here, remembered: an ignored one would stay so in a provider."""
    if not _not_default:
        catchable = signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}
        _not_default.extend(one for one in catchable if signal.getsignal(one) not in (signal.SIG_DFL, None))
    return _not_default


def _reaches(rung: str, wanted: str) -> bool:
    return confinement.RUNGS.index(rung) >= confinement.RUNGS.index(wanted)


def _holds_sessions(rows: list[Row]) -> bool:
    return all(row["enforced"] for row in rows if row["limit"] == "sessions")


def _close_on_exec() -> None:
    """Let no descriptor but the standard streams reach the provider, whoever left it open to be inherited."""
    try:
        kernel.close_range_on_exec(_FIRST_OTHER)
    except (OSError, ImportError, AttributeError):  # before Linux 5.11, or not Linux
        for number in _others():
            os.set_inheritable(number, False)


def _others() -> list[int]:
    """Return the open descriptors beyond the standard streams."""
    try:
        numbers = [int(name) for name in os.listdir("/proc/self/fd")]
    except OSError:
        numbers = list(range(_FIRST_OTHER, 256))
    return [number for number in numbers if number >= _FIRST_OTHER and _is_open(number)]


def _is_open(number: int) -> bool:
    try:
        os.fstat(number)
    except OSError:
        return False
    return True


def _why(number: int, step: str, program: str) -> str:
    """Say why a program could not be executed."""
    reason = os.strerror(number) if number else "its process ended before it was executed"
    if step not in ("execute", ""):
        return f"{reason} ({step})"
    if number == errno.ENOENT and os.path.exists(program):
        return f"{reason}: {visible(program)} is there, so it is the interpreter that its first line names"
    if number == errno.ENOEXEC:
        return f"{reason}: {visible(program)} is neither a program nor a script with a #! line"
    return reason
