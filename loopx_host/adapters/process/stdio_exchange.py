"""The exchange with one running provider: feed its input, keep its output within caps, watch clock and signals."""

from __future__ import annotations

import os
import time

from loopx_host.adapters.process import descriptors
from loopx_host.adapters.process.descriptors import CHUNK_BYTES
from loopx_host.lifecycle.extensions.process import STDERR, STDOUT, TIMEOUT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from loopx_host.adapters.process.attribute_broker import AttributeBroker
    from loopx_host.adapters.process.child import Child
    from loopx_host.lifecycle.extensions.process import Limits

EXITED, INTERRUPTED = "exited", "interrupted"
_BLIND_SECONDS = 0.005  # between looks, only where a process has no descriptor to wait for


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
                chunk = os.read(self.descriptor, min(CHUNK_BYTES, self.cap + 1 - len(self.data)))
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
    """The loop around one wait: standard input, two outputs, the process, what it asks about, the caller's signals.

    `interrupts` become readable when the run shall stop; `children` when a child has ended, and `reap` then takes
    the status of those nobody waits for; `broker` answers what the process asks about.
    """

    def __init__(
        self,
        provider: Child,
        *,
        stdin: int,
        request: bytes,
        stdout: int,
        stderr: int,
        limits: Limits,
        interrupts: Iterable[int],
        children: int,
        reap: Callable[[], None],
        broker: AttributeBroker,
    ) -> None:
        self.stdout = Stream(stdout, limits.stdout_bytes, STDOUT)
        self.stderr = Stream(stderr, limits.stderr_bytes, STDERR)
        self._provider = provider
        self._interrupts = {*interrupts}
        self._children = children
        self._reap = reap
        self._broker = broker
        self._stdin = stdin
        self._request = memoryview(request)
        self._streams = {stream.descriptor: stream for stream in (self.stdout, self.stderr)}
        if stdin >= 0:
            os.set_blocking(stdin, False)
            self._feed()

    def until_end(self, deadline: float) -> str:
        """Exchange until the process exits, a cap or `deadline` is reached, or a signal asks to stop.

        Returns `exited`, `interrupted`, or the name of the bound.
        """
        process = self._provider.descriptor
        while True:
            remaining = deadline - time.monotonic()
            if remaining <= 0:
                return EXITED if self._provider.has_ended() else TIMEOUT
            ready = descriptors.ready(
                (process, self._children, self._broker.listener, *self._interrupts, *self._streams),
                remaining if process >= 0 else min(remaining, _BLIND_SECONDS),
                writing=(self._stdin,),
            )
            if self._children in ready:
                descriptors.discard(self._children)
                self._reap()
            if self._broker.listener in ready:
                self._broker.answer()
            over = self._exchange(ready)
            if over:
                return over
            if self._interrupts & ready:
                return INTERRUPTED
            if (process in ready or process < 0) and self._provider.has_ended():
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
            self._interrupts = set()
        for stream in [stream for stream in self._streams.values() if stream.name == reason]:
            del self._streams[stream.descriptor]

    def end_input(self) -> None:
        """Close standard input, if it is still open."""
        if self._stdin >= 0:
            os.close(self._stdin)
            self._stdin = -1

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
            del self._streams[stream.descriptor]
        return stream.is_over

    def _feed(self) -> None:
        """Write as much of the request as the pipe takes; a provider that does not read it is its own affair."""
        try:
            while self._request:
                self._request = self._request[os.write(self._stdin, self._request[:CHUNK_BYTES]) :]
        except BlockingIOError:
            return
        except BrokenPipeError:
            pass
        self.end_input()
