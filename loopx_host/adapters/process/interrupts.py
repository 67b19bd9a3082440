"""INT, TERM and HUP as something a run can wait for, instead of an exception in the middle of a fork."""

from __future__ import annotations

import os
import signal

from loopx_host.core.errors import Interrupted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import FrameType

ASKING_TO_STOP = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Interrupts:
    """Inside ``with interrupts:`` a signal is kept and wakes `descriptor`; leaving the block raises it.

    Outside such a block it raises Interrupted at once. Without `install` nothing is handled and `descriptor`
    is -1: an embedding program keeps its own handlers.
    """

    def __init__(self) -> None:
        self.descriptor = -1
        self.pending: int | None = None
        self._depth = 0

    def install(self) -> None:
        """Handle the signals of this process; one that was ignored at the start (nohup) stays ignored."""
        self.descriptor, write_end = os.pipe()  # both ends close on exec
        os.set_blocking(self.descriptor, False)
        os.set_blocking(write_end, False)
        signal.set_wakeup_fd(write_end, warn_on_full_buffer=False)
        for number in ASKING_TO_STOP:
            if signal.getsignal(number) is not signal.SIG_IGN:
                signal.signal(number, self._arrived)
        # Inherited as ignored, the kernel would reap children itself and lose their exit status.
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)

    def __enter__(self) -> Interrupts:
        self._depth += 1
        return self

    def __exit__(self, *_: object) -> None:
        self._depth -= 1
        if self._depth == 0 and self.pending is not None:
            self._raise(self.pending)

    def _arrived(self, number: int, _frame: FrameType | None) -> None:
        if self._depth:
            self.pending = self.pending or number
        else:
            self._raise(number)

    def _raise(self, number: int) -> None:
        self.pending = None
        raise Interrupted(number, signal.Signals(number).name)
