"""The helper process of `warm`: forks a supervisor for each run, and ends with the program it serves."""

from __future__ import annotations

import gc
import json  # noqa: F401 (loaded once here, not again in every fork)
import os
import select
import signal
import socket

from loopx_host.adapters.process import (
    descendants,
    kernel,
    landlock,
    private_directory,
    seccomp,
    spawn,
    system_files,
)
from loopx_host.adapters.process.run_spec import RunSpec, is_whole
from loopx_host.adapters.process.supervisor import detach, serve

_CHUNK = 1 << 16


def main(control_descriptor: int) -> None:
    """Serve runs, which arrive as pairs of descriptors (specification, report), until nobody can send more."""
    host = os.getppid()
    with socket.socket(fileno=control_descriptor) as control:
        control.set_inheritable(False)
        _Helper(control, host).serve()


class _Helper:
    """Keeps one supervisor ahead of the runs: forked and detached already, it waits at the control socket."""

    def __init__(self, control: socket.socket, host: int) -> None:
        self._control = control
        self._host = host
        self._is_open = True
        self._supervisors: set[int] = set()
        self._waiting = 0  # the one that takes the next run
        descendants.become_subreaper()
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGPIPE):
            signal.signal(number, signal.SIG_IGN)
        self._woken, wake = os.pipe()
        os.set_blocking(self._woken, False)
        os.set_blocking(wake, False)
        signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        self._taken, self._take = os.pipe()

    def serve(self) -> None:
        """Fork a supervisor for each run until nobody can send more, then wait for those at work."""
        _make_ready()
        gc.freeze()  # what is here stays; forks then share its pages instead of copying them
        waiter = select.poll()
        waiter.register(self._control, 0)  # only its end is news here
        waiter.register(self._woken, select.POLLIN)
        waiter.register(self._taken, select.POLLIN)
        self._fork()
        while self._is_open or self._supervisors:
            ready = {descriptor for descriptor, _ in waiter.poll()}
            if self._taken in ready:
                os.read(self._taken, 1)
                self._fork()
            if self._woken in ready:
                self._reap()
            if self._is_open and self._control.fileno() in ready:
                self._is_open = False
                waiter.unregister(self._control)

    def _fork(self) -> None:
        pid = os.fork()
        if pid == 0:
            try:
                self._wait_for_run()
            finally:
                os._exit(1)
        self._supervisors.add(pid)
        self._waiting = pid

    def _wait_for_run(self) -> None:
        """Take the next run, and attend it; ends with the program that would send one."""
        detach(self._control.fileno(), self._take)
        spawn.not_default()
        _, descriptors, _, _ = socket.recv_fds(self._control, 1, 2)
        if len(descriptors) != 2:  # noqa: PLR2004 (a pair)
            return
        os.write(self._take, b".")
        os.close(self._take)
        self._control.close()
        specs, report = descriptors
        kept = bytearray()
        while not is_whole(kept):
            chunk = os.read(specs, _CHUNK)
            if not chunk:
                return
            kept += chunk
        serve(RunSpec.unpacked(bytes(kept)), specs, report, self._host)

    def _reap(self) -> None:
        """Take the status of every ended child; end what a supervisor that was killed left behind."""
        try:
            os.read(self._woken, _CHUNK)
        except BlockingIOError:
            pass
        try:
            while (ended := os.waitpid(-1, os.WNOHANG))[0]:
                self._supervisors.discard(ended[0])
                if ended[0] == self._waiting and self._is_open:
                    self._fork()  # somebody killed it before it had anything to do
        except ChildProcessError:
            return
        descendants.end_all_but(self._supervisors)


def _make_ready() -> None:
    """Do once, before any fork, what every confinement needs."""
    private_directory.sweep()
    kernel.library()
    landlock.version()
    landlock.open_ahead((*system_files.PROGRAMS, *system_files.DATA, *system_files.DEVICES))
    if seccomp.is_supported(kernel.machine()):
        seccomp.encoded(kernel.machine(), network=False, attributes=False, sessions=True)
