"""Names of files and branches as text that is safe to show: one line, printable, bounded."""

from __future__ import annotations

from loopx_host import visible

NAME_BYTES = 240


def shown(name: bytes) -> str:
    r"""Return `name` with bytes outside UTF-8 as ``\xNN``, other unprintable characters escaped, long ones cut."""
    # Exact, or a name could be written that looks like the escape of another.
    text = visible(name.decode("utf-8", "surrogateescape"), exact=True)
    data = text.encode("utf-8")
    return text if len(data) <= NAME_BYTES else data[: NAME_BYTES - 3].decode("utf-8", "ignore") + "…"
