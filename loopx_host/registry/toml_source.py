"""Manifest bytes → TOML document, with every way they can fail to be one, and where a key stands."""

from __future__ import annotations

import re

from loopx_host.core.errors import refuse
from loopx_host.core.limits import DEPTH
from loopx_host.core.text import one_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")


def parse(data: bytes, name: str) -> tuple[dict[str, Any], str]:
    """Return the TOML document in `data` and its text.

    Raises Refused: `manifest_encoding`, `manifest_syntax` (a duplicate key included) or `manifest_too_deep`.
    """
    import tomli

    text = _decode(data, name)
    try:
        document = tomli.loads(text)
    except RecursionError:
        raise _too_deep(name) from None
    except tomli.TOMLDecodeError as error:
        raise refuse("manifest_syntax", name, f"{name} is not valid TOML: {_explain(error)}") from None
    except ValueError as error:  # a number or date that no type can hold
        raise refuse("manifest_syntax", name, f"{name}: {one_line(str(error))}") from None
    if _depth_exceeds(document, DEPTH):
        raise _too_deep(name)
    return document, text


def _decode(data: bytes, name: str) -> str:
    if data.startswith(b"\xef\xbb\xbf"):
        raise refuse(
            "manifest_encoding",
            name,
            f"{name} starts with a byte order mark (BOM); save it as UTF-8 without one",
        )
    if data.startswith(_UTF16_MARKS):
        raise refuse("manifest_encoding", name, f"{name} is in the encoding UTF-16; save it as UTF-8")
    try:
        return data.decode("utf-8").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        summary = f"{name} is not valid UTF-8 at byte {error.start}; save it in the encoding UTF-8"
        raise refuse("manifest_encoding", name, summary) from None


def _explain(error: Exception) -> str:
    message = one_line(str(error))
    overwritten = ("Cannot overwrite", "Cannot declare", "Cannot mutate", "Duplicate inline table key")
    return f"duplicate key: {message}" if message.startswith(overwritten) else message


def _too_deep(name: str) -> Exception:
    return refuse("manifest_too_deep", name, f"{name} is nested deeper than {DEPTH} levels")


def _depth_exceeds(value: object, limit: int) -> bool:
    level: list[object] = [value]
    for _ in range(limit):
        level = [child for node in level for child in _containers(node)]
        if not level:
            return False
    return True


def _containers(node: object) -> list[object]:
    children = node.values() if isinstance(node, dict) else node if isinstance(node, list) else ()
    return [child for child in children if isinstance(child, (dict, list))]


_HEADER = re.compile(r"\s*(\[\[?)\s*([A-Za-z0-9_.\"' -]+?)\s*\]\]?\s*(?:#.*)?$")
_KEY = re.compile(r"\s*(?:\"([^\"]*)\"|'([^']*)'|([A-Za-z0-9_-]+))\s*(?:=|\.)")
_MULTILINE = re.compile(r"'''|\"\"\"")
_STEP = re.compile(r"([^.\[\]]+)(?:\[([0-9]+)\])?")


def line_of(text: str, pointer: str) -> int | None:
    """Return the 1-based line of the key that `pointer` (``runtime.args``, ``provides[1].id``) names.

    None where it cannot be known: a key inside an inline table, or a text this reading does not follow.
    """
    path = [(name, int(index) if index else None) for name, index in _STEP.findall(pointer)]
    if not path:
        return None
    *tables, (key, _) = path
    return _scan(text, tables, key) or (_scan_header(text, path) if path else None)


def _scan(text: str, tables: list[tuple[str, int | None]], key: str) -> int | None:
    wanted = ".".join(name for name, _ in tables)
    wanted_index = tables[-1][1] if tables else None
    for number, header, index, name in _keys(text):
        if header == wanted and name == key and (wanted_index is None or index == wanted_index):
            return number
    return None


def _scan_header(text: str, path: list[tuple[str, int | None]]) -> int | None:
    wanted = ".".join(name for name, _ in path)
    index_wanted = path[-1][1]
    for number, header, index, name in _keys(text):
        if name is None and header == wanted and (index_wanted is None or index == index_wanted):
            return number
    return None


def _keys(text: str) -> list[tuple[int, str, int, str | None]]:
    """Return (line, table, index of the table in its array, key or None for the header) in file order."""
    found: list[tuple[int, str, int, str | None]] = []
    header, index, seen, inside = "", 0, dict[str, int](), None
    for number, line in enumerate(text.split("\n"), start=1):
        if inside is None:
            head = _HEADER.match(line)
            if head:
                header = head[2].replace('"', "").replace("'", "").replace(" ", "")
                index = seen.get(header, -1) + 1
                seen[header] = index
                found.append((number, header, index, None))
            elif key := _KEY.match(line):
                found.append((number, header, index, key[1] or key[2] or key[3]))
        for mark in _MULTILINE.findall(line):
            inside = mark if inside is None else None if mark == inside else inside
    return found
