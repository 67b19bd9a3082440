"""Strict JSON, both ways (contract section 6): one object, and nothing two readers could read differently."""

from __future__ import annotations

import json

from loopx_host.core.limits import DEPTH, INTEGER_DIGITS

_INFINITY = float("inf")
_UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")


class JsonViolation(ValueError):  # noqa: N818 (a violation, not a malfunction)
    """A document broke one rule of strict JSON; `kind` is a stable token, the message one clause."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind


def parse_object(data: bytes) -> dict[str, object]:
    """Return the one JSON object in `data`.

    Raises JsonViolation with kind `empty`, `byte_order_mark`, `encoding`, `syntax`, `duplicate_key`,
    `not_finite`, `integer_too_long`, `too_deep`, `lone_surrogate` or `not_an_object`.
    """
    text = _decode(data)
    try:
        value = json.loads(
            text,
            object_pairs_hook=_unique,
            parse_int=_integer,
            parse_float=_finite,
            parse_constant=_no_constant,
        )
    except RecursionError:
        raise _too_deep() from None
    except json.JSONDecodeError as error:
        where = f"line {error.lineno} column {error.colno}"
        raise JsonViolation("syntax", f"not one JSON document: {error.msg} ({where})") from None
    if not isinstance(value, dict):
        raise JsonViolation("not_an_object", f"a JSON object is wanted, not {_kind(value)}")
    _check_depth(value, data)
    if "\\u" in text:
        _check_surrogates(value)
    return value


def _decode(data: bytes) -> str:
    if data.startswith(b"\xef\xbb\xbf"):
        raise JsonViolation("byte_order_mark", "starts with a byte order mark (BOM); write UTF-8 without one")
    if data.startswith(_UTF16_MARKS):
        raise JsonViolation("encoding", "is UTF-16, not UTF-8")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise JsonViolation("encoding", f"not valid UTF-8 at byte {error.start}") from None
    if not text.strip(" \t\r\n"):
        raise JsonViolation("empty", "empty; one JSON object is wanted")
    return text


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    made = dict(pairs)
    if len(made) != len(pairs):
        seen: set[str] = set()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        raise JsonViolation("duplicate_key", f"duplicate key {json.dumps(twice)[:80]}")
    return made


def _integer(digits: str) -> int:
    if len(digits.lstrip("-")) > INTEGER_DIGITS:
        raise JsonViolation("integer_too_long", f"an integer of more than {INTEGER_DIGITS} digits")
    try:
        return int(digits)
    except ValueError:  # an embedding program may have set a lower limit of its own
        raise JsonViolation("integer_too_long", "an integer longer than this interpreter accepts") from None


def _finite(digits: str) -> float:
    value = float(digits)
    if value in (_INFINITY, -_INFINITY):
        raise JsonViolation("not_finite", f"the number {digits[:40]} overflows")
    return value


def _no_constant(name: str) -> object:
    raise JsonViolation("not_finite", f"{name} is not JSON")


def _too_deep() -> JsonViolation:
    return JsonViolation("too_deep", f"nested deeper than {DEPTH} levels")


def _check_depth(value: object, data: bytes) -> None:
    """Refuse more than DEPTH levels; a document with fewer brackets than that needs no walk."""
    if data.count(b"{") + data.count(b"[") <= DEPTH:
        return
    level: list[object] = [value]
    for _ in range(DEPTH):
        level = [child for node in level for child in _children(node) if isinstance(child, (dict, list))]
        if not level:
            return
    raise _too_deep()


def _check_surrogates(value: object) -> None:
    level: list[object] = [value]
    while level:
        for node in level:
            texts = node if isinstance(node, dict) else ()
            for text in (*texts, *_children(node)):
                if isinstance(text, str) and not _is_unicode(text):
                    raise JsonViolation("lone_surrogate", "a lone surrogate is not valid Unicode")
        level = [child for node in level for child in _children(node) if isinstance(child, (dict, list))]


def _is_unicode(text: str) -> bool:
    if text.isascii():
        return True
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _children(node: object) -> tuple[object, ...] | list[object]:
    if isinstance(node, dict):
        return list(node.values())
    return node if isinstance(node, list) else ()


def _kind(value: object) -> str:
    names = {list: "an array", str: "a string", bool: "a boolean", type(None): "null"}
    return names.get(type(value), "a number")
