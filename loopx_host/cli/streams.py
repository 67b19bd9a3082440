"""The standard streams, as bytes; the one place of the command line that writes."""

from __future__ import annotations

import os

STDOUT, STDERR = 1, 2
READER_GONE = 141  # what a shell reports for SIGPIPE


def write_out(text: str) -> str | None:
    """Write `text` to standard output. Return the reason when it cannot be written.

    Raises BrokenPipeError when the reader went away.
    """
    try:
        _write(STDOUT, text)
    except BrokenPipeError:
        raise
    except OSError as error:
        return error.strerror or str(error)
    return None


def write_err(text: str) -> None:
    """Write `text` to standard error; where that fails there is nobody left to tell."""
    try:
        _write(STDERR, text)
    except OSError:
        pass


def is_terminal(descriptor: int = STDOUT) -> bool:
    """Whether a person looks at the stream."""
    try:
        return os.isatty(descriptor)
    except OSError:
        return False


def takes_colour() -> bool:
    """Whether standard output is a terminal with colours; ``TERM=dumb`` and ``NO_COLOR`` get plain text."""
    return is_terminal() and os.environ.get("TERM", "dumb") != "dumb" and "NO_COLOR" not in os.environ


def _write(descriptor: int, text: str) -> None:
    view = memoryview(text.encode("utf-8", "backslashreplace"))
    while view:
        try:
            view = view[os.write(descriptor, view) :]
        except BlockingIOError:  # somebody else made the stream non-blocking
            _wait(descriptor)


def _wait(descriptor: int) -> None:
    import select

    waiter = select.poll()
    waiter.register(descriptor, select.POLLOUT)
    waiter.poll()
