"""Supervision for a program that has threads and children of its own: a helper process forks its supervisors.

Being the parent of orphans is a property of a whole process, and forking one that has threads may find locks held
for ever; both belong in a process that does nothing else. Starting it costs a Python start, once; it then serves
run after run, each by one fork. It ends when this program does, however that ends.
"""

from __future__ import annotations

import os
import threading
import weakref

from loopx_host.adapters.process import local_sockets
from loopx_host.adapters.process.child import Pipes
from loopx_host.adapters.process.descriptors import read_all
from loopx_host.adapters.process.helper_process import RUN, HelperProcess
from loopx_host.adapters.process.run_spec import lost

TYPE_CHECKING = False
if TYPE_CHECKING:
    from loopx_host.adapters.process.local_sockets import LocalSocket
    from loopx_host.adapters.process.run_spec import NotReached, RunSpec
    from loopx_host.lifecycle.extensions.process import Ended

_END_SECONDS = 10.0


class WarmSupervisors:
    """The helper process of this program, started at the first run; safe to use from several threads.

    After a fork of this program the child starts a helper of its own; so does a program that became another user.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._helper: HelperProcess | None = None
        here = weakref.ref(self)
        os.register_at_fork(after_in_child=lambda: _forget(here()))

    def forget(self) -> None:
        """Forget, in a forked child, the lock that another thread may have held and the helper of the parent."""
        self._lock = threading.Lock()
        self._helper = None

    def begin(self, spec: RunSpec) -> WarmSupervisor:
        """Have one run attended.

        Raises OSError when no helper can be reached, Refused `interpreter_not_found` and `no_processes`.
        """
        telling, told = local_sockets.pair(local_sockets.STREAM)
        pipes = Pipes(writes=1)
        try:
            self.ask(RUN, [told.fileno(), *pipes.theirs])
        except BaseException:
            pipes.close_ours()
            raise
        finally:
            told.close()
            pipes.close_theirs()
        return WarmSupervisor(telling, pipes, spec)

    def ask(self, order: bytes, given: list[int]) -> None:
        """Hand an order over to the helper, with descriptors. Raises as `begin` does."""
        with self._lock:
            for _ in range(2):  # the second time with a new helper, should somebody have killed the first
                if self._helper is None or not self._helper.is_ours:
                    self._helper = HelperProcess.started()
                try:
                    self._helper.ask(order, given)
                except OSError:
                    self._helper = None
                else:
                    return
        raise OSError("the helper process that supervises runs cannot be reached")

    def close(self) -> None:
        """Let the helper end; runs that go on meanwhile are finished first."""
        with self._lock:
            helper, self._helper = self._helper, None
        if helper is not None and helper.is_ours:
            helper.end()


class WarmSupervisor:
    """The supervisor of one run, a child of the helper process, as this program deals with it."""

    def __init__(self, telling: LocalSocket, pipes: Pipes, spec: RunSpec) -> None:
        self._telling = telling
        self._pipes = pipes
        (self.reporting,) = pipes.ours
        try:
            telling.send(spec.packed())
        except OSError:  # it is gone, which is found out when its report does not come
            pass

    def stop(self) -> None:
        """Ask it to end the run; it reports then."""
        self._telling.say_end()

    def finish(self, report: Ended | NotReached | None) -> Ended | NotReached:
        """Let it end; return its report, or without one how the run ended."""
        self.stop()
        # The end of its report, even of one that came too late, says that it has ended its run.
        ended = report is not None or read_all(self.reporting, seconds=_END_SECONDS) is not None
        self._telling.close()
        self._pipes.close()
        return report or lost(None, "reported" if ended else "not_proved")


def _forget(supervisors: WarmSupervisors | None) -> None:
    if supervisors is not None:
        supervisors.forget()
