"""Permission tokens that open something at the kernel; any other grants nothing (formats, *Permission tokens*)."""

from __future__ import annotations

NET_CONNECT = "net.connect"
READ_REFERENCE, WRITE_REFERENCE = "fs.read:", "fs.write:"


def reference_of(token: str) -> str | None:
    """Return the name of the context reference that `token` opens, or None."""
    for prefix in (READ_REFERENCE, WRITE_REFERENCE):
        if token.startswith(prefix):
            return token.removeprefix(prefix)
    return None


def may_write(token: str) -> bool:
    """Whether whoever holds `token` can write to a file of the caller's: no operation that only reads needs it."""
    return token.startswith(WRITE_REFERENCE)
