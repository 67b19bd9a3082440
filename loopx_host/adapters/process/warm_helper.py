"""The helper process of `warm`: forks a process for each order, and ends with the program it serves."""

from __future__ import annotations

import gc
import json  # noqa: F401 (loaded once here, not again in every fork)
import os
import signal

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
    warm_judge,
)
from loopx_host.adapters.process.helper_process import CONTROL, JUDGE, RUN
from loopx_host.adapters.process.local_sockets import LocalSocket
from loopx_host.adapters.process.run_spec import RunSpec, is_whole
from loopx_host.adapters.process.supervisor import detach, serve

_WORD_BYTES, _DESCRIPTORS = 16, 2
_A_RUN, _A_JUDGE = b"r", b"j"


def main(host: int) -> None:
    """Serve the orders of the process `host`, each with descriptors, until nobody can send more."""
    _let_go()
    kernel.be_called("run-helper")
    control = LocalSocket(CONTROL)
    own = descriptors.of_process(os.getpid())
    control.send_with(b"hello", [own] if own >= 0 else [])
    if own >= 0:
        os.close(own)
    _Helper(control, host).serve()


def _let_go() -> None:
    """Leave what the program had at the moment of the start: its session, its directory, open descriptors."""
    os.setsid()
    os.chdir("/")
    os.set_inheritable(CONTROL, False)
    for number in spawn.others():
        if number != CONTROL:
            os.close(number)


class _Helper:
    """Keeps one process ahead of the orders: forked and detached already, it waits at the control socket."""

    def __init__(self, control: LocalSocket, host: int) -> None:
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
                if os.read(self._taken, 1) == _A_JUDGE:
                    warm_judge.load()  # once here, from now on, not again in every fork
                self._fork()
            if self._woken in ready:
                self._reap()
            if control in ready:
                self._is_open = False

    def _fork(self) -> None:
        pid = child.fork(self._wait_for_order)
        self._supervisors.add(pid)
        self._waiting = pid

    def _wait_for_order(self) -> None:
        """Take the next order, and carry it out; ends with the program that would send one."""
        detach(self._control.fileno(), self._take)
        spawn.not_default()
        order, given = self._control.receive_with(_WORD_BYTES, _DESCRIPTORS)
        if not given:
            return
        os.write(self._take, _A_JUDGE if order == JUDGE else _A_RUN)
        os.close(self._take)
        self._control.close()
        if order == JUDGE:
            warm_judge.serve(given[0])
        elif order == RUN:
            self._attend(*given)

    def _attend(self, told: int, report: int) -> None:
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
