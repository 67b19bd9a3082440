"""Supervision for a program that has threads and children of its own: a helper process forks its supervisors.

Being the parent of orphans is a property of a whole process, and forking one that has threads may find locks held
for ever; both belong in a process that does nothing else. Starting it costs a Python start, once; it then serves
run after run, each by one fork. It ends when this program does, however that ends.
"""

from __future__ import annotations

import os
import select
import sys
import threading
import time
import weakref

TYPE_CHECKING = False
if TYPE_CHECKING:
    import socket
    import subprocess
    from collections.abc import Callable

    from loopx_host.adapters.process.run_spec import RunSpec
    from loopx_host.lifecycle.extensions.process import Ended

_CHUNK = 1 << 16
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

    def begin(self, spec: RunSpec) -> tuple[int, Callable[[], None], Callable[[bool], Ended]]:
        """Have one run attended; return its report's descriptor, how to stop it, how to finish with it.

        Raises OSError when no helper can be started.
        """
        ours: list[int] = []
        theirs: list[int] = []
        try:
            for _ in range(2):
                reading, writing = os.pipe()
                theirs.append(writing if theirs else reading)
                ours.append(reading if ours else writing)
            self._hand_over(*theirs)
        except OSError:
            _close(ours)
            raise
        finally:
            _close(theirs)
        specs, reporting = ours
        open_ends = [specs]
        _send(specs, spec.packed())

        def stop() -> None:
            while open_ends:
                os.close(open_ends.pop())

        def finish(reported: bool) -> Ended:
            from loopx_host.adapters.process.runner import lost

            stop()
            ended = reported or _await_end(reporting)
            os.close(reporting)
            return lost(None, "reported" if ended else "not_proved")

        return reporting, stop, finish

    def close(self) -> None:
        """Let the helper end; runs that go on meanwhile are finished first."""
        with self._lock:
            if self._control is not None:
                self._control.close()
            if self._helper is not None and self._owner == os.getpid():
                self._helper.wait()
            self._control = self._helper = None

    def _hand_over(self, *descriptors: int) -> None:
        import socket

        with self._lock:
            for _ in range(2):  # the second time with a new helper, should somebody have killed the first
                control = self._control if self._control and self._owner == os.getpid() else self._start()
                try:
                    socket.send_fds(control, [b"."], list(descriptors))
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


def _forget(supervisors: WarmSupervisors | None) -> None:
    if supervisors is not None:
        supervisors.forget()


def _close(descriptors: list[int]) -> None:
    for descriptor in descriptors:
        os.close(descriptor)


def _await_end(reporting: int) -> bool:
    """Wait until a supervisor that was told to stop has ended its run, the end of its report says; not for ever."""
    waiter = select.poll()
    waiter.register(reporting, select.POLLIN)
    deadline = time.monotonic() + _END_SECONDS
    while (left := deadline - time.monotonic()) > 0 and waiter.poll(1 + int(1000 * left)):
        if not os.read(reporting, _CHUNK):
            return True
    return False


def _send(descriptor: int, data: bytes) -> None:
    """Write all of a specification; a supervisor that is gone is found out when its report does not come."""
    rest = memoryview(data)
    try:
        while rest:
            rest = rest[os.write(descriptor, rest) :]
    except BrokenPipeError:
        pass
