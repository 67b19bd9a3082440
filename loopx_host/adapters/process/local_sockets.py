"""Pairs of local sockets between this program and a process of ours, whatever the program did to sockets in general.

A program may have set a default time-out, which makes every new socket one that does not wait, on both ends; put
green threads in the place of `socket`; closed its standard streams, so that the next descriptor is where somebody
will print to; or let SIGPIPE end it. So these are the interpreter's own objects, above the standard streams, and
sending never raises a signal.
"""

from __future__ import annotations

import _socket
import array
import os
import struct

from loopx_host.adapters.process.descriptors import above_standard

MESSAGES, STREAM = _socket.SOCK_SEQPACKET, _socket.SOCK_STREAM

_QUIETLY = getattr(_socket, "MSG_NOSIGNAL", 0)
_ONE_DESCRIPTOR = array.array("i", [0]).itemsize


class LocalSocket:
    """One end: it waits, and closes when nobody holds it any more."""

    __slots__ = ("_socket",)

    def __init__(self, descriptor: int) -> None:
        """Take a descriptor over; it waits from now on, for all who hold it."""
        self._socket = _socket.socket(fileno=descriptor)
        self._socket.setblocking(True)

    def fileno(self) -> int:
        """Return its descriptor; -1 when it is closed."""
        return self._socket.fileno()

    def send(self, data: bytes) -> None:
        """Send all of it. Raises OSError, BrokenPipeError among them."""
        self._socket.sendall(data, _QUIETLY)

    def send_with(self, message: bytes, descriptors: list[int]) -> None:
        """Send a message with descriptors. Raises OSError."""
        rights = (_socket.SOL_SOCKET, _socket.SCM_RIGHTS, array.array("i", descriptors))
        self._socket.sendmsg([message], [rights], _QUIETLY)

    def receive_with(self, size: int, descriptors: int) -> tuple[bytes, list[int]]:
        """Return a message and the descriptors that came with it, none at the end. Raises OSError."""
        room = _socket.CMSG_LEN(descriptors * _ONE_DESCRIPTOR)
        message, rows, *_ = self._socket.recvmsg(size, room)
        received = array.array("i")
        for level, kind, data in rows:
            if (level, kind) == (_socket.SOL_SOCKET, _socket.SCM_RIGHTS):
                received.frombytes(data[: len(data) - len(data) % _ONE_DESCRIPTOR])
        for descriptor in received:
            os.set_inheritable(descriptor, False)
        return message, list(received)

    def wait_at_most(self, seconds: int) -> None:
        """Let `receive_with` wait that long from now on, 0: for ever; then it raises BlockingIOError."""
        self._socket.setsockopt(_socket.SOL_SOCKET, _socket.SO_RCVTIMEO, struct.pack("ll", seconds, 0))

    def say_end(self) -> None:
        """Let the other side read to the end, whoever else holds a copy of this one; what it says can still come."""
        try:
            self._socket.shutdown(_socket.SHUT_WR)
        except OSError:  # the other side is gone, or it is closed
            pass

    def close(self) -> None:
        """Close it; once is enough."""
        descriptor = self._socket.detach()
        if descriptor >= 0:
            os.close(descriptor)

    def __del__(self) -> None:
        self.close()


def pair(kind: int) -> tuple[LocalSocket, LocalSocket]:
    """Return the two ends of a new pair. Raises OSError."""
    made: list[LocalSocket] = []
    first, second = _socket.socketpair(_socket.AF_UNIX, kind)
    with_descriptors = [first.detach(), second.detach()]
    try:
        while with_descriptors:
            made.append(LocalSocket(above_standard(with_descriptors.pop())))
    except OSError:
        for descriptor in with_descriptors:
            os.close(descriptor)
        raise
    ours, theirs = made
    return ours, theirs
