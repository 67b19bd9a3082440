"""The exchange with one running provider: feed its input, keep its output within caps, watch clock and signals."""

from __future__ import annotations

import os
import select
import time

from loopx_host.lifecycle.extensions.process import STDERR, STDOUT, TIMEOUT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from loopx_host.lifecycle.extensions.process import Limits

EXITED, INTERRUPTED = "exited", "interrupted"
_CHUNK = 1 << 16
_BLIND_POLL_MS = 5  # only where a process has no descriptor to wait for


class Stream:
    """One output of the provider and its cap."""

    __slots__ = ("cap", "data", "descriptor", "name")

    def __init__(self, descriptor: int, cap: int, name: str) -> None:
        os.set_blocking(descriptor, False)
        self.descriptor = descriptor
        self.cap = cap
        self.name = name
        self.data = bytearray()

    def read(self) -> bool:
        """Take what is there now; False at the end of the stream. At most one byte past the cap is kept."""
        while len(self.data) <= self.cap:
            try:
                chunk = os.read(self.descriptor, min(_CHUNK, self.cap + 1 - len(self.data)))
            except BlockingIOError:
                return True
            if not chunk:
                return False
            self.data += chunk
        return True

    @property
    def is_over(self) -> bool:
        """Whether the provider wrote more than the cap."""
        return len(self.data) > self.cap


class StdioExchange:
    """The loop around one ``poll``: standard input, two outputs, the process, the caller's signals.

    `children` becomes readable when a child has ended; `reap` then takes the status of those nobody waits for.
    """

    def __init__(
        self,
        *,
        process: int,
        has_exited: Callable[[], bool],
        stdin: int,
        request: bytes,
        stdout: int,
        stderr: int,
        limits: Limits,
        interrupts: int,
        children: int = -1,
        reap: Callable[[], None] | None = None,
    ) -> None:
        self.stdout = Stream(stdout, limits.stdout_bytes, STDOUT)
        self.stderr = Stream(stderr, limits.stderr_bytes, STDERR)
        self._has_exited = has_exited
        self._process = process
        self._interrupts = interrupts
        self._children = children
        self._reap = reap
        self._stdin = stdin
        self._request = memoryview(request)
        self._poll = select.poll()
        self._streams = {stream.descriptor: stream for stream in (self.stdout, self.stderr)}
        for descriptor in (process, interrupts, stdout, stderr, children):
            if descriptor >= 0:
                self._poll.register(descriptor, select.POLLIN)
        self._begin_input()

    def until_end(self, deadline: float) -> str:
        """Exchange until the process exits, a cap or `deadline` is reached, or a signal asks to stop.

        Returns `exited`, `interrupted`, or the name of the bound.
        """
        while True:
            remaining = deadline - time.monotonic()
            if remaining <= 0:
                return EXITED if self._has_exited() else TIMEOUT
            ready = {descriptor for descriptor, _ in self._poll.poll(self._wait_ms(remaining))}
            if self._children in ready and self._reap is not None:
                _empty(self._children)
                self._reap()
            over = self._exchange(ready)
            if over:
                return over
            if self._interrupts in ready:
                return INTERRUPTED
            if (self._process in ready or self._process < 0) and self._has_exited():
                return EXITED

    def drain(self) -> str | None:
        """Read what is left in the pipes without waiting for anyone; return the cap that broke, if one did."""
        self.end_input()
        over = [stream.name for stream in list(self._streams.values()) if self._take(stream)]
        return over[0] if over else None

    def mute(self, reason: str) -> None:
        """Stop listening to what ended the exchange: the stream over its cap, or the caller's signals.

        Its writer cannot hold up the end then, and the same reason is not reported twice.
        """
        if reason == INTERRUPTED:
            self._poll.unregister(self._interrupts)
            self._interrupts = -1
        for stream in [stream for stream in self._streams.values() if stream.name == reason]:
            self._forget(stream)

    def end_input(self) -> None:
        """Close standard input, if it is still open."""
        if self._stdin >= 0:
            self._poll.unregister(self._stdin)
            os.close(self._stdin)
            self._stdin = -1

    def _wait_ms(self, remaining: float) -> int:
        milliseconds = int(remaining * 1000) + 1
        return milliseconds if self._process >= 0 else min(milliseconds, _BLIND_POLL_MS)

    def _exchange(self, ready: set[int]) -> str | None:
        if self._stdin in ready:
            self._feed()
        for descriptor in ready & self._streams.keys():
            stream = self._streams[descriptor]
            if self._take(stream):
                return stream.name
        return None

    def _take(self, stream: Stream) -> bool:
        if not stream.read():
            self._forget(stream)
        return stream.is_over

    def _forget(self, stream: Stream) -> None:
        self._poll.unregister(stream.descriptor)
        del self._streams[stream.descriptor]

    def _begin_input(self) -> None:
        if self._stdin >= 0:
            os.set_blocking(self._stdin, False)
            self._poll.register(self._stdin, select.POLLOUT)
            self._feed()

    def _feed(self) -> None:
        """Write as much of the request as the pipe takes; a provider that does not read it is its own affair."""
        try:
            while self._request:
                self._request = self._request[os.write(self._stdin, self._request[:_CHUNK]) :]
        except BlockingIOError:
            return
        except BrokenPipeError:
            pass
        self.end_input()


def _empty(descriptor: int) -> None:
    """Read what signals left in their pipe; it does not block."""
    try:
        while os.read(descriptor, _CHUNK):
            pass
    except BlockingIOError:
        pass
