"""The helper process of `warm`: forks a supervisor for each run, and ends with the program it serves."""

from __future__ import annotations

import gc
import json  # noqa: F401 (loaded once here, not again in every fork)
import os
import signal
import socket

from loopx_host.adapters.process import (
    bytecode,  # noqa: F401 (loaded once here, not again in every fork)
    child,
    descendants,
    descriptors,
    kernel,
    landlock,
    namespaces,  # noqa: F401
    private_directory,
    seccomp,
    spawn,
    system_files,
)
from loopx_host.adapters.process.run_spec import RunSpec, is_whole
from loopx_host.adapters.process.supervisor import detach, serve


def main(control_descriptor: int) -> None:
    """Serve runs, which arrive as pairs of descriptors (specification, report), until nobody can send more."""
    host = os.getppid()
    kernel.be_called("run-helper")
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
        self._woken = child.hear_of_children()
        self._taken, self._take = os.pipe()

    def serve(self) -> None:
        """Fork a supervisor for each run until nobody can send more, then wait for those at work."""
        _make_ready()
        gc.freeze()  # what is here stays; forks then share its pages instead of copying them
        control = self._control.fileno()
        self._fork()
        while self._is_open or self._supervisors:
            # Of the socket only its end is news here: what comes over it is for the supervisor that waits.
            ready = descriptors.ready((self._woken, self._taken), ending=(control,) if self._is_open else ())
            if self._taken in ready:
                os.read(self._taken, 1)
                self._fork()
            if self._woken in ready:
                self._reap()
            if control in ready:
                self._is_open = False

    def _fork(self) -> None:
        pid = child.fork(self._wait_for_run)
        self._supervisors.add(pid)
        self._waiting = pid

    def _wait_for_run(self) -> None:
        """Take the next run, and attend it; ends with the program that would send one."""
        detach(self._control.fileno(), self._take)
        spawn.not_default()
        _, pair, _, _ = socket.recv_fds(self._control, 1, 2)
        if len(pair) != 2:  # noqa: PLR2004
            return
        os.write(self._take, b".")
        os.close(self._take)
        self._control.close()
        told, report = pair
        spec = descriptors.read_all(told, until=is_whole)
        if spec is not None and is_whole(spec):  # else the program gave the run up before it had told all of it
            serve(RunSpec.unpacked(spec), told, report, self._host)

    def _reap(self) -> None:
        """Take the status of every ended child; end what a supervisor that was killed left behind."""
        descriptors.discard(self._woken)
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
