"""Names of files and branches as text that is safe to show: one line, printable, bounded."""

from __future__ import annotations

NAME_BYTES = 240
_FIRST_ESCAPED_BYTE, _LAST_ESCAPED_BYTE = 0xDC80, 0xDCFF  # how `surrogateescape` spells a byte that is not UTF-8
_ONE_BYTE, _TWO_BYTES = 0xFF, 0xFFFF


def shown(name: bytes) -> str:
    r"""Return `name` with bytes outside UTF-8 as ``\xNN``, other unprintable characters escaped, long ones cut."""
    text = name.decode("utf-8", "surrogateescape")
    if not text.isprintable() or "\\" in text:
        text = "".join(map(_escaped, text))
    data = text.encode("utf-8")
    return text if len(data) <= NAME_BYTES else data[: NAME_BYTES - 3].decode("utf-8", "ignore") + "…"


def _escaped(character: str) -> str:
    point = ord(character)
    if character == "\\":
        return "\\\\"  # or a name could be written that looks like another one's escape
    if character.isprintable():
        return character
    if _FIRST_ESCAPED_BYTE <= point <= _LAST_ESCAPED_BYTE:
        return f"\\x{point - 0xDC00:02x}"
    if point <= _ONE_BYTE:
        return f"\\x{point:02x}"
    return f"\\u{point:04x}" if point <= _TWO_BYTES else f"\\U{point:08x}"
