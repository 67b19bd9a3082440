"""The helper process of `warm`: forks a supervisor for each order, and ends with the program it serves."""

from __future__ import annotations

import json  # noqa: F401 (loaded once here, not again in every fork)
import os
import select
import signal
import socket

from loopx_host.adapters.process import descendants
from loopx_host.adapters.process.order import Order, is_whole
from loopx_host.adapters.process.supervisor import serve

_CHUNK = 1 << 16


def main(control_descriptor: int) -> None:
    """Serve orders, which arrive as pairs of descriptors (order, report), until nobody can send more."""
    host = os.getppid()
    with socket.socket(fileno=control_descriptor) as control:
        control.set_inheritable(False)
        _Helper(control, host).serve()


class _Helper:
    def __init__(self, control: socket.socket, host: int) -> None:
        self._control = control
        self._host = host
        self._supervisors: set[int] = set()
        descendants.become_subreaper()
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGPIPE):
            signal.signal(number, signal.SIG_IGN)
        self._woken, wake = os.pipe()
        os.set_blocking(self._woken, False)
        os.set_blocking(wake, False)
        signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)

    def serve(self) -> None:
        waiter = select.poll()
        waiter.register(self._control, select.POLLIN)
        waiter.register(self._woken, select.POLLIN)
        is_open = True
        while is_open or self._supervisors:
            ready = {descriptor for descriptor, _ in waiter.poll()}
            if self._woken in ready:
                self._reap()
            if is_open and self._control.fileno() in ready:
                is_open = self._accept()
                if not is_open:
                    waiter.unregister(self._control)

    def _accept(self) -> bool:
        """Fork a supervisor for what arrived; whether more can come."""
        _, descriptors, _, _ = socket.recv_fds(self._control, 1, 2)
        if len(descriptors) != 2:  # noqa: PLR2004 (a pair)
            return False
        pid = os.fork()
        if pid == 0:
            try:
                self._control.close()
                self._attend(*descriptors)
            finally:
                os._exit(1)
        for descriptor in descriptors:
            os.close(descriptor)
        self._supervisors.add(pid)
        return True

    def _attend(self, orders: int, report: int) -> None:
        kept = bytearray()
        while not is_whole(kept):
            chunk = os.read(orders, _CHUNK)
            if not chunk:
                return
            kept += chunk
        serve(Order.unpacked(bytes(kept)), orders, report, self._host)

    def _reap(self) -> None:
        """Take the status of every ended child; end what a supervisor that was killed left behind."""
        try:
            os.read(self._woken, _CHUNK)
        except BlockingIOError:
            pass
        try:
            while (ended := os.waitpid(-1, os.WNOHANG))[0]:
                self._supervisors.discard(ended[0])
        except ChildProcessError:
            return
        descendants.end_all_but(self._supervisors)
