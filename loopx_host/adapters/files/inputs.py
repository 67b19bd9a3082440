"""What a caller hands over as a file, or on standard input: read within its bound, before anything else."""

from __future__ import annotations

from loopx_host.adapters.files import bounded
from loopx_host.adapters.files.paths import absolute
from loopx_host.core.errors import refusal
from loopx_host.core.limits import EXPORT_BYTES, REQUEST_BYTES
from loopx_host.core.text import visible

TYPE_CHECKING = False
if TYPE_CHECKING:
    from contextlib import AbstractContextManager
    from typing import Protocol

    class Waiting(Protocol):
        """Signals, raised at once inside the block: a pipe may never be written."""

        def waiting(self) -> AbstractContextManager[None]:
            """Return the block."""
            ...


class Inputs:
    """Files by path, ``-`` for standard input. Each raises Refused: `request_too_large`, `input_unreadable`."""

    def __init__(self, interrupts: Waiting) -> None:
        self._interrupts = interrupts

    def request(self, path: str) -> bytes:
        """Return the bytes of a request."""
        return self._read(path, REQUEST_BYTES, "request")

    def example(self, path: str) -> bytes:
        """Return the bytes of a package's example request."""
        return self._read(path, REQUEST_BYTES, "example")

    def export(self, path: str) -> tuple[bytes, str]:
        """Return the bytes of an export and its path as it is shown."""
        return self._read(path, EXPORT_BYTES, "export"), "-" if path == "-" else visible(absolute(path))

    def _read(self, path: str, limit: int, what: str) -> bytes:
        shown = "standard input" if path == "-" else visible(path)
        try:
            with self._interrupts.waiting():
                return bounded.read_bounded(0, limit) if path == "-" else bounded.read_any(absolute(path), limit)
        except bounded.TooLargeError:
            summary = f"the {what} in {shown} is larger than {limit} bytes"
            raise refusal("request_too_large", shown, summary, hint=f"send a smaller {what}") from None
        except (OSError, ValueError) as error:
            reason = (isinstance(error, OSError) and error.strerror) or str(error)
            summary = f"the {what} cannot be read from {shown}: {reason}"
            hint = "name a readable file, or - for standard input"
            raise refusal("input_unreadable", shown, summary, hint=hint) from None
