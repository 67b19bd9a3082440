"""A forked child: its pipes, its end, its status. Whoever needs a process of our own code has it from here."""

from __future__ import annotations

import os
import signal
import time
import warnings

from loopx_host.adapters.process import descriptors
from loopx_host.adapters.process.interrupts import ASKING_TO_STOP, wakeup_descriptor

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

_ENDINGS = (os.CLD_EXITED, os.CLD_KILLED, os.CLD_DUMPED)
_BLIND_SECONDS = 0.005  # between looks, only where a process has no descriptor to wait for


class Pipes:
    """Pipes between this process and another: our ends and theirs, those the other one reads before the others."""

    __slots__ = ("ours", "theirs")

    def __init__(self, *, reads: int = 0, writes: int = 0) -> None:
        """Make them; raises OSError, and leaves none open then."""
        self.ours: list[int] = []
        self.theirs: list[int] = []
        try:
            for index in range(reads + writes):
                reading, writing = descriptors.pipe()
                self.theirs.append(reading if index < reads else writing)
                self.ours.append(writing if index < reads else reading)
        except OSError:
            self.close()
            raise

    def close_theirs(self) -> None:
        """Close the other process's ends, which it has by now."""
        while self.theirs:
            os.close(self.theirs.pop())

    def close_ours(self, end: int | None = None) -> None:
        """Close our ends, or one of them; what is closed already is left alone."""
        for descriptor in [*self.ours] if end is None else [end]:
            if descriptor in self.ours:
                self.ours.remove(descriptor)
                os.close(descriptor)

    def close(self) -> None:
        """Close what is still open, on both sides."""
        self.close_theirs()
        self.close_ours()


class Child:
    """A child of this process. Its status is taken by `reap` only, so that until then its number stays its own."""

    __slots__ = ("_descriptor", "is_lost", "pid", "pipes")

    def __init__(self, pid: int, pipes: Pipes) -> None:
        self.pid = pid
        self.pipes = pipes
        self.is_lost = False  # somebody else in this program took its status
        self._descriptor: int | None = None

    @classmethod
    def forked(cls, become: Callable[..., object], *, reads: int = 0, writes: int = 0) -> Child:
        """Fork a child that calls `become` with its ends of the pipes, those it reads first (see `fork`).

        Raises OSError, and leaves nothing open then.
        """
        pipes = Pipes(reads=reads, writes=writes)

        def begin() -> None:
            pipes.close_ours()
            become(*pipes.theirs)

        try:
            pid = fork(begin)
        except OSError:
            pipes.close()
            raise
        pipes.close_theirs()
        return cls(pid, pipes)

    @property
    def descriptor(self) -> int:
        """What becomes readable when it ends; -1 where processes have no descriptors."""
        if self._descriptor is None:
            self._descriptor = descriptors.of_process(self.pid)
        return self._descriptor

    def has_ended(self) -> bool:
        """Whether it has ended; a child whose status somebody else took is `is_lost` from then on."""
        try:
            seen = os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        except ChildProcessError:
            self.is_lost = True
            return True
        # One that asked to be traced is also "seen" when it merely stops.
        return seen is not None and seen.si_code in _ENDINGS

    def await_end(self, seconds: float | None, *others: int) -> bool:
        """Wait for its end; False when `seconds` are over (None: never) or one of `others` is readable before."""
        deadline = None if seconds is None else time.monotonic() + seconds
        while not self.has_ended():
            patience = None if deadline is None else deadline - time.monotonic()
            if patience is not None and patience <= 0:
                return False
            if self.descriptor < 0:
                patience = _BLIND_SECONDS
            if descriptors.ready((self.descriptor, *others), patience).intersection(others):
                return self.has_ended()
        return True

    def signal_group(self, number: int) -> None:
        """Send a signal to the group it leads; one that is gone, or became another user's, gets none."""
        try:
            os.killpg(self.pid, number)
        except (ProcessLookupError, PermissionError):
            pass

    def kill(self) -> None:
        """Kill it unless it has ended: the number of one whose status somebody took may be another's by now."""
        try:
            if self.descriptor >= 0:
                signal.pidfd_send_signal(self.descriptor, signal.SIGKILL)
            elif not self.has_ended():
                os.kill(self.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass

    def reap(self) -> int | None:
        """Wait for its end and return its status; None when somebody else took that."""
        try:
            return os.waitpid(self.pid, 0)[1]
        except ChildProcessError:
            self.is_lost = True
            return None

    def end(self) -> None:
        """Kill it unless it has ended, take its status, close every descriptor."""
        self.kill()
        self.reap()
        self.close()

    def close(self) -> None:
        """Close every descriptor this process has of it."""
        self.pipes.close()
        if self._descriptor is not None and self._descriptor >= 0:
            os.close(self._descriptor)
        self._descriptor = None


def fork(become: Callable[[], object]) -> int:
    """Fork a child that calls `become` and ends, with status 1 unless `become` ended it; return its number.

    Python's warning is silenced: a child that waits for a lock which another thread holds is ended by its deadline.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        pid = os.fork()
    if pid == 0:
        try:
            become()
        finally:
            os._exit(1)
    return pid


def detach() -> None:
    """Leave the parent's session and all that it does about signals: what asks it to stop is not for this process."""
    os.setsid()
    inherited = signal.set_wakeup_fd(-1)
    if inherited >= 0:  # nothing here may wake the parent
        os.close(inherited)
    for number in (*ASKING_TO_STOP, signal.SIGPIPE, signal.SIGTSTP):
        signal.signal(number, signal.SIG_IGN)


def hear_of_children() -> int:
    """Return a descriptor that becomes readable when a child has ended; it does not block."""
    reading = wakeup_descriptor()
    signal.signal(signal.SIGCHLD, lambda *_: None)
    return reading


def end_of(parent: int, stop: int) -> tuple[int, ...]:
    """Return what becomes readable when a parent closes `stop`, writes to it, or dies."""
    return stop, descriptors.of_process(parent)  # a parent that is gone already has closed `stop`
