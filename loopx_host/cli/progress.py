"""A sign of life on standard error while a provider takes longer than two seconds."""

from __future__ import annotations

from loopx_host.cli import streams

_CLEAR = "\r\x1b[K"


class Progress:
    """Rewrites one line on a terminal; elsewhere says it once, so that a log is not filled."""

    def __init__(self) -> None:
        self._has_spoken = False
        self._on_terminal = False

    def __call__(self, seconds: float) -> None:
        """Say that the provider has been running for `seconds`."""
        line = f"loopx: the provider is still running ({seconds:.0f} s)"
        if not self._has_spoken:
            self._on_terminal = streams.is_terminal(streams.STDERR)
        if self._on_terminal:
            streams.write_err(f"{_CLEAR}{line}")
        elif not self._has_spoken:
            streams.write_err(f"{line}\n")
        self._has_spoken = True

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *_: object) -> None:
        if self._has_spoken and self._on_terminal:
            streams.write_err(_CLEAR)
