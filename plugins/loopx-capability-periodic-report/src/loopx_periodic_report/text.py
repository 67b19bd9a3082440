"""Hostile text made safe to show: escaped for markup, and every invisible or reordering character written out."""

from __future__ import annotations

import html
import math
import unicodedata

_JOINERS = "\u200c\u200d"  # they shape letters and emoji, and reorder nothing
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_SCALES = ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e4, "k"))
_TINY = 1e-4
_SIX_DIGITS = 1e6
_SCALED_DECIMALS = 2


def shown(text: str, keep: str = "") -> str:
    """Return `text` for use in markup, in an element or a quoted attribute; characters in `keep` stay."""
    plain = "".join(char if char.isprintable() or char in _JOINERS or char in keep else _named(char) for char in text)
    return html.escape(plain, quote=True)


def _named(char: str) -> str:
    """A space of any width stays a space; whatever else cannot be printed is named."""
    return " " if unicodedata.category(char) == "Zs" else f"‹U+{ord(char):04X}›"


def paragraphs(text: str) -> str:
    """Return `text` as paragraphs; a line feed inside one stays a line break."""
    blocks = [block for block in text.replace("\r\n", "\n").split("\n\n") if block.strip()]
    return "".join(f'<p dir="auto">{shown(block.strip(chr(10)), keep=chr(10))}</p>' for block in blocks)


def number(value: float) -> str:
    """Return a number for a person: grouped, at most six significant digits, a true minus sign."""
    if value == 0:
        return "0"
    size = abs(value)
    if size < _TINY:
        text = f"{value:.3g}"
    elif size >= _SIX_DIGITS or value == int(value):
        text = f"{round(value):,}"
    else:
        decimals = max(0, 5 - math.floor(math.log10(size)))
        text = f"{value:,.{decimals}f}".rstrip("0").rstrip(".")
    return _signed(text)


def axis_labels(values: list[float], step: float) -> list[str]:
    """Return the labels of an axis: one scale and one number of decimals for all of its ticks."""
    largest = max(abs(value) for value in values)
    if largest < _TINY:
        return [_signed(f"{value:.3g}") if value else "0" for value in values]
    scale, suffix = next(
        ((size, name) for size, name in _SCALES if largest >= size and decimals_of(step / size) <= _SCALED_DECIMALS),
        (1.0, ""),
    )
    decimals = decimals_of(step / scale)
    return [_signed(f"{value / scale:,.{decimals}f}{suffix}") if value else "0" for value in values]


def _signed(text: str) -> str:
    return text.replace("-", "−")


def decimals_of(step: float) -> int:
    """Return how many decimals tell two multiples of a step of 1, 2, 2.5 or 5 times a power of ten apart."""
    decimals = max(0, -math.floor(math.log10(step)))
    return decimals if math.isclose(step * 10**decimals, round(step * 10**decimals)) else decimals + 1


def day(at: str, *, year: bool = True) -> str:
    """Return the date of a timestamp as ``3 Nov 2026``."""
    text = f"{int(at[8:10])} {_MONTHS[int(at[5:7]) - 1]}"
    return f"{text} {at[:4]}" if year else text


def month(at: str) -> str:
    """Return the month of a timestamp as ``Nov 2026``."""
    return f"{_MONTHS[int(at[5:7]) - 1]} {at[:4]}"


def instant(at: str) -> str:
    """Return a timestamp for a person: the date, and the time where there is one."""
    return f"{day(at)}, {at[11:16]} UTC" if "T" in at else day(at)
