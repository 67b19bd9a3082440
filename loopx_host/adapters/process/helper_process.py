"""The helper process of an embedding program, as the program deals with it: started once, asked, ended.

It is no child of the program: a program that waits for all its children must not wait for ours, and one that takes
the status of every child takes none that we need. What is started here, and is a child for a moment, forks the helper
and ends. No signal goes to a number: it could be another process's by then.
"""

from __future__ import annotations

import os
import signal
import sys

from loopx_host.adapters import interpreter
from loopx_host.adapters.process import descriptors, local_sockets
from loopx_host.adapters.process.local_sockets import LocalSocket
from loopx_host.core.errors import refusal
from loopx_host.core.text import visible

TYPE_CHECKING = False
if TYPE_CHECKING:
    from loopx_host.core.errors import Refused

RUN, JUDGE = b"run", b"judge"
CONTROL = 3  # the helper's end, in the helper

_IS_HELPER = "LOOPX_HELPER_PROCESS"
_KEPT = (  # of the program's variables: where private directories are made, and what the interpreter's loader needs
    *("XDG_RUNTIME_DIR", "TMPDIR"),
    *("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH"),
)
_HELLO_SECONDS = 20
_HELLO_BYTES = 16
_BOOT = f"""\
import os, sys
if sys.version_info[:2] == {sys.version_info[:2]} and os.fork() == 0:
    sys.path += sys.argv[2:]
    from loopx_host.adapters.process.warm_helper import main
    main(int(sys.argv[1]))
"""


class HelperProcess:
    """One helper. It ends when nobody can ask it any more: at `end`, or with this program, however that ends."""

    __slots__ = ("_control", "_process", "_standing")

    def __init__(self, control: LocalSocket, process: int) -> None:
        self._control = control
        self._process = process  # a descriptor, or -1 where processes have none
        self._standing = _standing()

    @classmethod
    def started(cls) -> HelperProcess:
        """Start one with the first interpreter that answers.

        Raises Refused `interpreter_not_found` and `no_processes`, and OSError where this program lacks descriptors.
        """
        if _IS_HELPER in os.environ:
            raise _no_interpreter([f"{interpreter.named()}, and was started again as the helper process"])
        tried = []
        for program in interpreter.candidates():
            answered = _asked(program)
            if answered is not None:
                return cls(*answered)
            tried.append(f"{visible(program)} did not answer as Python {sys.version_info[0]}.{sys.version_info[1]}")
        raise _no_interpreter([interpreter.named(), *tried])

    @property
    def is_ours(self) -> bool:
        """Whether this process is the one that started it, as the user it was then, with the root it had then."""
        return self._standing == _standing()

    def ask(self, order: bytes, given: list[int]) -> None:
        """Hand an order over, with descriptors. Raises OSError when the helper is gone."""
        self._control.send_with(order, given)

    def end(self) -> None:
        """Let it finish what it was asked for, and wait for its end."""
        self._control.say_end()
        descriptors.ready((self._control.fileno(),))
        if self._process >= 0:
            descriptors.ready((self._process,))
            _take_status(self._process)  # this program may be the parent of all orphans
        self._control.close()

    def __del__(self) -> None:
        process, self._process = self._process, -1
        if process >= 0:
            os.close(process)


def _standing() -> tuple[object, ...]:
    """Return what a helper must have in common with its program: a run has the rights that the program has now."""
    try:
        root = os.stat("/")
        place = (root.st_dev, root.st_ino)
    except OSError:
        place = (0, 0)
    return (os.getpid(), os.getuid(), os.geteuid(), os.getgid(), os.getegid(), tuple(os.getgroups()), place)


def _asked(program: str) -> tuple[LocalSocket, int] | None:
    """Start a program as the helper; return the way to it and the descriptor of its process, or None: no answer."""
    ours, theirs = local_sockets.pair(local_sockets.MESSAGES)
    started = _Started(_spawned(program, theirs.fileno()))
    theirs.close()
    try:
        ours.wait_at_most(_HELLO_SECONDS)
        hello, process = ours.receive_with(_HELLO_BYTES, 1)
        ours.wait_at_most(0)
    except OSError:
        return None
    finally:
        started.end()
    return (ours, process[0] if process else -1) if hello else None


def _spawned(program: str, control: int) -> int:
    """Start a program with nothing of this one's but `control`; return its number.

    Raises Refused `no_processes`.
    """
    packages = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
    caught = signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}
    standard = [(os.POSIX_SPAWN_OPEN, number, os.devnull, os.O_RDWR, 0) for number in range(CONTROL)]
    argv = [program, "-I", "-S", "-X", "utf8", "-c", _BOOT, str(os.getpid()), *dict.fromkeys([packages, *_judges()])]
    try:
        return os.posix_spawn(
            program,
            argv,
            {**{name: os.environ[name] for name in _KEPT if name in os.environ}, _IS_HELPER: "1"},
            file_actions=[(os.POSIX_SPAWN_DUP2, control, CONTROL), *standard],
            setpgroup=0,
            setsigmask=(),
            setsigdef=caught,
        )
    except Exception as error:  # of the system, or whatever an audit hook of this program raises
        reason = getattr(error, "strerror", None) or f"{type(error).__name__}: {error}"
        summary = f"the helper process that supervises runs could not be started: {visible(reason)}"
        raise refusal("no_processes", "helper process", summary) from error


def _judges() -> list[str]:
    """Return where the library is that judges by schemas; the helper knows no other packages."""
    import jsonschema_rs

    return [os.path.dirname(os.path.dirname(os.path.abspath(jsonschema_rs.__file__)))]


class _Started:
    """A child for a moment, whose number and status somebody else in this program may take at any time."""

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._process = -1
        self._is_gone = False
        try:
            self._process = os.pidfd_open(pid)
        except ProcessLookupError:
            self._is_gone = True
        except (AttributeError, OSError):  # no descriptors of processes, or none to be had
            pass

    def end(self) -> None:
        """Kill it unless it has ended, and take its status unless somebody else did."""
        if self._process >= 0:
            self._end_by_descriptor()
        elif not self._is_gone:
            self._end_by_number()

    def _end_by_descriptor(self) -> None:
        try:
            signal.pidfd_send_signal(self._process, signal.SIGKILL)
        except OSError:  # it has ended, and its status was taken
            pass
        _take_status(self._process)
        os.close(self._process)

    def _end_by_number(self) -> None:
        """The same for a number, if the kernel says that it is a child's of this process which has not ended."""
        try:
            if os.waitid(os.P_PID, self._pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
                os.kill(self._pid, signal.SIGKILL)
            os.waitpid(self._pid, 0)
        except (ChildProcessError, ProcessLookupError):
            pass


def _take_status(process: int) -> None:
    try:
        os.waitid(os.P_PIDFD, process, os.WEXITED)
    except OSError:  # no child of this process, or somebody took its status
        pass


def _no_interpreter(reasons: list[str]) -> Refused:
    return refusal(
        "interpreter_not_found",
        "sys.executable",
        f"no Python to run the helper process with was found; nothing was started: {'; '.join(reasons)}",
        hint="set `sys.executable` to the Python that this program was built with before the first run",
        next_command=("doctor",),
    )
