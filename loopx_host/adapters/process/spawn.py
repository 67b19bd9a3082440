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

from loopx_host.adapters.process import attribute_broker, confinement, kernel, landlock, rlimits, seccomp
from loopx_host.adapters.process.child import Child
from loopx_host.adapters.process.descriptors import read_all, write_all
from loopx_host.core.text import visible

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import TypedDict

    from loopx_host.adapters.process.confinement import Fence
    from loopx_host.documents.parts import Limit

    class StartReport(TypedDict, total=False):
        """What a child says on its way to being the provider; it is done well when `rows` are all that was said."""

        namespaces: str  # why it has none
        rows: list[Limit]
        rung: str
        refused: str  # what the demanded level lacks
        listener: int  # its descriptor of calls that it asks about; it waits for a word then
        error: int  # of the system, in `step`
        step: str


_REPORT_BYTES = 1 << 16
_FAILED = 127
_TAKEN, _NOT_TAKEN = b"1", b"0"
_FIRST_OTHER = 3  # descriptor after the standard streams
_NEEDED = (attribute_broker, landlock, rlimits, seccomp)  # loaded before the fork: afterwards no file can be read
_not_default: list[int] = []


class NotStarted(Exception):  # noqa: N818 (the outcome of a start)
    """A provider that was not started: `reason` for a person; `rows` when the level could not be reached.

    `error` is that of a step before it was executed, which is none of the provider's.
    """

    def __init__(
        self, reason: str, rows: list[Limit] | None = None, rung: str | None = None, error: OSError | None = None
    ) -> None:
        super().__init__(reason)
        self.reason = reason
        self.error = error
        self.rows = rows
        self.rung = rung


class Started:
    """A process that was started: the child, the rung it is on, the rows of what it gave up.

    `listener` is our descriptor of the calls it asks about, -1 where it asks about none.
    """

    __slots__ = ("child", "listener", "rows", "rung")

    def __init__(self, child: Child, rung: str, rows: list[Limit], listener: int) -> None:
        self.child = child
        self.rung = rung
        self.rows = rows
        self.listener = listener


def start(argv: list[str], environment: dict[str, str], streams: Sequence[int], fence: Fence) -> Started:
    """Start `argv` in the private directory of `fence` with the three standard streams.

    Raises NotStarted, and OSError where there is no process to be had.
    """

    def execute() -> None:
        os.execve(argv[0], argv, environment)  # noqa: S606 (no shell is what is wanted)

    child, report, listener = _forked(execute, streams, fence)
    if "error" not in report and "refused" not in report and "rows" in report:
        return Started(child, report["rung"], report["rows"], listener)
    if listener >= 0:
        os.close(listener)
    child.reap()
    if "refused" in report:
        raise NotStarted(report["refused"], report.get("rows"), report.get("rung"))
    number, step = report.get("error", 0), report.get("step", "")
    before = OSError(number, f"{os.strerror(number)} ({step})") if number and step not in ("execute", "") else None
    raise NotStarted(_why(number, step, argv[0]), error=before)


def trial(fence: Fence) -> tuple[str, list[Limit], str | None]:
    """Confine a process that does nothing; return the rung it reached, its rows, and why it got no further."""
    null = os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC)
    try:
        child, report, listener = _forked(lambda: os._exit(0), (null, null, null), fence)
    finally:
        os.close(null)
    if listener >= 0:
        os.close(listener)
    child.reap()
    child.close()
    return report.get("rung", confinement.PROCESS), report.get("rows", []), report.get("namespaces")


def _forked(become: Callable[[], object], streams: Sequence[int], fence: Fence) -> tuple[Child, StartReport, int]:
    """Fork a child that confines itself and then becomes the provider.

    Returns it, what it said meanwhile, and our descriptor of what it asks about, or -1.
    """
    if kernel.is_linux():
        kernel.library()
    if fence.level.includes(confinement.NAMESPACED):
        _load_namespaces()
    parent = os.getpid()
    child = Child.forked(
        lambda word, report: _ProviderToBe(word, report, streams, fence, parent).become(become), reads=1, writes=1
    )
    try:
        return child, *_heard(child)
    finally:
        child.pipes.close()


def _heard(child: Child) -> tuple[StartReport, int]:
    """Return what a child says until it is the provider, and our descriptor of what it will ask about, or -1."""
    word, reading = child.pipes.ours
    listener = -1
    said = read_all(reading, at_most=_REPORT_BYTES, until=_waits_for_a_word) or b""
    if _waits_for_a_word(said):
        listener = _taken(child, _parsed(said)["listener"])
        try:
            write_all(word, _TAKEN if listener >= 0 else _NOT_TAKEN)
        except BrokenPipeError:  # it was killed meanwhile
            pass
        said += read_all(reading, at_most=_REPORT_BYTES) or b""
    return _parsed(said), listener


def _waits_for_a_word(said: bytes | bytearray) -> bool:
    return said.endswith(b"}\n") and said.rpartition(b"{")[2].startswith(b'"listener"')


def _parsed(said: bytes) -> StartReport:
    report: StartReport = {}
    for line in said.splitlines():
        report.update(json.loads(line))
    return report


def _taken(child: Child, listener: int) -> int:
    """Return our own descriptor of what the child has, -1 where this process may not look into it."""
    try:
        return attribute_broker.taken(child.descriptor, listener)
    except (OSError, ImportError, AttributeError):
        return -1


def _load_namespaces() -> None:
    """Import what only this level needs; in the child no file can be read any more."""
    import loopx_host.adapters.process.namespaces  # noqa: F401


class _ProviderToBe:
    """The forked child, until it is the provider."""

    def __init__(self, word: int, report: int, streams: Sequence[int], fence: Fence, parent: int) -> None:
        self._word = word
        self._report = report
        self._streams = streams
        self._fence = fence
        self._parent = parent
        self._grouped = False

    def become(self, become: Callable[[], object]) -> None:
        """Confine and become. Never returns."""
        try:
            self._prepare()
            if self._fence.level.includes(confinement.NAMESPACED):
                self._become_in_namespaces(become)
            self._finish(become)
        except OSError as error:
            self._failed(error)

    def _prepare(self) -> None:
        os.setsid()
        if self._fence.group is not None:
            self._grouped = self._fence.group.join()
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

    def _become_in_namespaces(self, become: Callable[[], object]) -> None:
        """Enter namespaces and become there; returns, having said why, only where there are none to be had."""
        from loopx_host.adapters.process import namespaces

        try:
            namespaces.enter(network=self._fence.network)
        except (OSError, AttributeError) as error:
            self._say(namespaces=str(error))
            return
        namespaces.stand_in(lambda: self._finish(become, namespaces.arrange), self._failed, self._let_go)

    def _finish(self, become: Callable[[], object], arrange: Callable[[list[str]], None] | None = None) -> None:
        """Confine this process, say so, and become the provider. Never returns.

        `arrange` makes the mounts of a process in namespaces of its own.
        """
        step = "confine"
        try:
            if arrange is not None:
                kernel.prctl(kernel.PR_SET_PDEATHSIG, signal.SIGKILL)
                arrange(self._fence.writable)
                os.chdir(self._fence.private)  # the mount that can be written lies over the one entered before
            step = "open the references"
            confinement.open_references(self._fence)
            step = "confine"
            rows = confinement.confine(
                self._fence,
                namespaced=arrange is not None,
                grouped=self._grouped,
                hand_over=self._hand_over if attribute_broker.is_there() else None,
            )
            rung = confinement.reached(rows, namespaced=arrange is not None)
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

    def _hand_over(self, listener: int) -> bool:
        """Let the supervisor take the listener; whether it has it. What it has not, nobody answers."""
        self._say(listener=listener)
        try:
            return os.read(self._word, 1) == _TAKEN
        finally:
            os.close(listener)

    def _failed(self, error: OSError) -> None:
        self._say(error=error.errno or 0, step=str(error))

    def _let_go(self, kept: int) -> None:
        """Drop, in a stand-in, every descriptor but one: they would keep streams and report open."""
        null = os.open(os.devnull, os.O_RDWR)
        for target in range(_FIRST_OTHER):
            os.dup2(null, target)
        for number in others():
            if number != kept:
                os.close(number)

    def _say(self, **words: object) -> None:
        write_all(self._report, json.dumps(words).encode("ascii") + b"\n")


def not_default() -> list[int]:
    """Return the signals that are handled or ignored here, remembered: an ignored one would stay so in a provider."""
    if not _not_default:
        catchable = signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}
        _not_default.extend(one for one in catchable if signal.getsignal(one) not in (signal.SIG_DFL, None))
    return _not_default


def _reaches(rung: str, wanted: str) -> bool:
    return confinement.RUNGS.index(rung) >= confinement.RUNGS.index(wanted)


def _holds_sessions(rows: list[Limit]) -> bool:
    return all(row["enforced"] for row in rows if row["limit"] == "sessions")


def _close_on_exec() -> None:
    """Let no descriptor but the standard streams reach the provider, whoever left it open to be inherited."""
    try:
        kernel.close_range_on_exec(_FIRST_OTHER)
    except (OSError, ImportError, AttributeError):  # before Linux 5.11, or not Linux
        for number in others():
            os.set_inheritable(number, False)


def others() -> list[int]:
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
