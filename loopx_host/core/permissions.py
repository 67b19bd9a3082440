"""Permission tokens: which open something at the kernel (see the formats page), and which speak of writing."""

from __future__ import annotations

NET_CONNECT = "net.connect"
READ_REFERENCE, WRITE_REFERENCE = "fs.read:", "fs.write:"
_WRITING = frozenset({"write", "writes", "writing"})


def reference_of(token: str) -> str | None:
    """Return the name of the context reference that `token` opens, or None."""
    for prefix in (READ_REFERENCE, WRITE_REFERENCE):
        if token.startswith(prefix):
            return token.removeprefix(prefix)
    return None


def may_write(token: str) -> bool:
    """Whether `token` is a permission to write, enforced or advisory: no operation that only reads asks for one.

    What a reference is called says nothing: ``fs.read:write`` reads.
    """
    permission = token.partition(":")[0]
    return not _WRITING.isdisjoint(permission.replace("_", ".").split("."))
