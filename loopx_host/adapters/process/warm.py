"""Supervision for a program that has threads and children of its own: a helper process forks its supervisors.

Being the parent of orphans is a property of a whole process, and forking one that has threads may find locks held
for ever; both belong in a process that does nothing else. Starting it costs a Python start, once; it then serves
run after run, each by one fork. It ends when this program does, however that ends.
"""

from __future__ import annotations

import os
import sys
import threading
import weakref

from loopx_host.adapters.process.child import Pipes
from loopx_host.adapters.process.descriptors import read_all, write_all
from loopx_host.adapters.process.run_spec import lost

TYPE_CHECKING = False
if TYPE_CHECKING:
    import socket
    import subprocess

    from loopx_host.adapters.process.run_spec import NotReached, RunSpec
    from loopx_host.lifecycle.extensions.process import Ended

_END_SECONDS = 10.0
_PLACES = ("XDG_RUNTIME_DIR", "TMPDIR")  # where private directories are made
_BOOT = (
    "import sys; sys.path.append(sys.argv[1]); "
    "from loopx_host.adapters.process.warm_helper import main; main(int(sys.argv[2]))"
)


class WarmSupervisors:
    """The helper process of this program, started at the first run; safe to use from several threads.

    After a fork of this program the child starts a helper of its own.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._owner = 0
        self._control: socket.socket | None = None
        self._helper: subprocess.Popen[bytes] | None = None
        here = weakref.ref(self)
        os.register_at_fork(after_in_child=lambda: _forget(here()))

    def forget(self) -> None:
        """Forget, in a forked child, the lock that another thread may have held and the helper of the parent."""
        self._lock = threading.Lock()
        self._owner, self._control, self._helper = 0, None, None

    def begin(self, spec: RunSpec) -> WarmSupervisor:
        """Have one run attended. Raises OSError when no helper can be started."""
        pipes = Pipes(reads=1, writes=1)
        try:
            self._hand_over(pipes.theirs)
        except OSError:
            pipes.close_ours()
            raise
        finally:
            pipes.close_theirs()
        return WarmSupervisor(pipes, spec)

    def close(self) -> None:
        """Let the helper end; runs that go on meanwhile are finished first."""
        with self._lock:
            if self._control is not None:
                self._control.close()
            if self._helper is not None and self._owner == os.getpid():
                self._helper.wait()
            self._control = self._helper = None

    def _hand_over(self, descriptors: list[int]) -> None:
        import socket

        with self._lock:
            for _ in range(2):  # the second time with a new helper, should somebody have killed the first
                control = self._control if self._control and self._owner == os.getpid() else self._start()
                try:
                    socket.send_fds(control, [b"."], descriptors)
                except OSError:
                    self._control = None
                else:
                    return
        raise OSError("the helper process that supervises runs cannot be reached")

    def _start(self) -> socket.socket:
        import socket
        import subprocess

        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        packages = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
        with theirs:
            self._helper = subprocess.Popen(
                [sys.executable, "-I", "-S", "-c", _BOOT, packages, str(theirs.fileno())],
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                cwd="/",
                env={name: os.environ[name] for name in _PLACES if name in os.environ},
                start_new_session=True,
            )
        self._control, self._owner = ours, os.getpid()
        return ours


class WarmSupervisor:
    """The supervisor of one run, a child of the helper process, as this program deals with it."""

    def __init__(self, pipes: Pipes, spec: RunSpec) -> None:
        self._pipes = pipes
        self._telling, self.reporting = pipes.ours
        try:
            write_all(self._telling, spec.packed())
        except BrokenPipeError:  # it is gone, which is found out when its report does not come
            pass

    def stop(self) -> None:
        """Ask it to end the run; it reports then."""
        self._pipes.close_ours(self._telling)

    def finish(self, report: Ended | NotReached | None) -> Ended | NotReached:
        """Let it end; return its report, or without one how the run ended."""
        self.stop()
        # The end of its report, even of one that came too late, says that it has ended its run.
        ended = report is not None or read_all(self.reporting, seconds=_END_SECONDS) is not None
        self._pipes.close()
        return report or lost(None, "reported" if ended else "not_proved")


def _forget(supervisors: WarmSupervisors | None) -> None:
    if supervisors is not None:
        supervisors.forget()
