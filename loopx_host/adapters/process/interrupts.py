"""INT, TERM and HUP as something a run can wait for, instead of an exception in the middle of a fork."""

from __future__ import annotations

import os
import signal

from loopx_host.core.errors import Interrupted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import FrameType

# Whatever ends a process by default and can be caught; only what SIGKILL and SIGSTOP do is out of reach.
ASKING_TO_STOP = tuple(
    getattr(signal, name)
    for name in (
        *("SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGALRM", "SIGUSR1", "SIGUSR2", "SIGVTALRM", "SIGPROF"),
        *("SIGXCPU", "SIGIO", "SIGPWR", "SIGTRAP", "SIGSTKFLT"),
    )
    if hasattr(signal, name)
)
_SIGNAL_BASE = 128


def wakeup_descriptor() -> int:
    """Return a descriptor, which does not block, that becomes readable with every signal that is handled here."""
    reading, writing = os.pipe()  # both ends close on exec
    os.set_blocking(reading, False)
    os.set_blocking(writing, False)
    signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
    return reading


class Interrupts:
    """Signals as something to look at: an arriving one is kept in `pending` and wakes `descriptor`.

    It is raised, as Interrupted, only where the program says so: at the end of a ``with interrupts:`` block, by
    `check`, or at once inside ``with interrupts.waiting():``, around a call that may wait for somebody. Anywhere
    else an exception out of a signal handler could land between a fork and its bookkeeping. Without `install`
    nothing is handled and `descriptor` is -1: an embedding program keeps its own handlers.
    """

    def __init__(self) -> None:
        self.descriptor = -1
        self.pending: int | None = None
        self._is_waiting = False
        self._is_answering = False

    def install(self) -> None:
        """Handle the signals of this process; one that was ignored at the start (nohup) stays ignored."""
        self.descriptor = wakeup_descriptor()
        for number in ASKING_TO_STOP:
            if signal.getsignal(number) is not signal.SIG_IGN:
                signal.signal(number, self._arrived)
        # Inherited as ignored, the kernel would reap children itself and lose their exit status.
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)

    def check(self) -> None:
        """Raise Interrupted if a signal asked to stop."""
        if self.pending is not None:
            number, self.pending = self.pending, None
            raise Interrupted(number, signal.Signals(number).name)

    def waiting(self) -> _Waiting:
        """Return the block inside which a signal is raised at once."""
        return _Waiting(self)

    def answer(self) -> None:
        """Say that only the answer is left to write: it is not cut in half, unless a second signal insists."""
        self._is_answering = True

    def __enter__(self) -> Interrupts:
        return self

    def __exit__(self, *_: object) -> None:
        self.check()

    def _arrived(self, number: int, _frame: FrameType | None) -> None:
        if self._is_answering and self.pending is not None:
            os._exit(_SIGNAL_BASE + number)
        self.pending = self.pending or number
        if self._is_waiting:
            self.check()


class _Waiting:
    """See `Interrupts.waiting`."""

    def __init__(self, interrupts: Interrupts) -> None:
        self._interrupts = interrupts

    def __enter__(self) -> None:
        self._interrupts._is_waiting = True  # noqa: SLF001 (one object in two halves)
        self._interrupts.check()

    def __exit__(self, *_: object) -> None:
        self._interrupts._is_waiting = False  # noqa: SLF001
