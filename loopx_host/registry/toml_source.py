"""Manifest bytes → TOML document, with every way they can fail to be one, and where a key stands."""

from __future__ import annotations

import re

from loopx_host.core.errors import refusal
from loopx_host.core.limits import DEPTH
from loopx_host.core.text import one_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")


def parse(data: bytes, name: str) -> tuple[dict[str, object], str]:
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
        raise refusal("manifest_syntax", name, f"{name} is not valid TOML: {_explain(error)}") from None
    except ValueError as error:  # a number or date that no type can hold
        raise refusal("manifest_syntax", name, f"{name}: {one_line(str(error))}") from None
    if _depth_exceeds(document, DEPTH):
        raise _too_deep(name)
    return document, text


def _decode(data: bytes, name: str) -> str:
    if data.startswith(b"\xef\xbb\xbf"):
        raise refusal(
            "manifest_encoding",
            name,
            f"{name} starts with a byte order mark (BOM); save it as UTF-8 without one",
        )
    if data.startswith(_UTF16_MARKS):
        raise refusal("manifest_encoding", name, f"{name} is in the encoding UTF-16; save it as UTF-8")
    try:
        return data.decode("utf-8").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        summary = f"{name} is not valid UTF-8 at byte {error.start}; save it in the encoding UTF-8"
        raise refusal("manifest_encoding", name, summary) from None


def _explain(error: Exception) -> str:
    message = one_line(str(error))
    overwritten = (
        "Cannot overwrite",
        "Cannot declare",
        "Cannot mutate",
        "Cannot redefine",
        "Duplicate inline table key",
    )
    return f"duplicate key: {message}" if message.startswith(overwritten) else message


def _too_deep(name: str) -> Exception:
    return refusal("manifest_too_deep", name, f"{name} is nested deeper than {DEPTH} levels")


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


_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+", re.ASCII)
# Atomic groups, for a possessive repetition of a group that backtracks goes wrong before Python 3.11.5.
_PART = r"""(?:[A-Za-z0-9_-]++|"(?>(?:[^"\\\n]++|\\.)*)"|'[^'\n]*+')"""
_STATEMENT = re.compile(rf"[ \t]*(\[\[?)?[ \t]*({_PART}(?:[ \t]*\.[ \t]*{_PART})*)")
_PARTS = re.compile(_PART)
# What a statement is made of. Strings and comments are opaque; brackets tell where a value goes on.
_PIECE = re.compile(
    r'''"""(?>(?:[^"\\]++|\\[\s\S]|"{1,2}(?!"))*)"{3,5}'''
    r"""|'''[\s\S]*?'{3,5}"""
    r'''|"(?>(?:[^"\\\n]++|\\.)*)"'''
    r"""|'[^'\n]*+'|\#[^\n]*+"""
    r"""|(?P<open>[\[{])|(?P<close>[\]}])|(?P<end>\n)|[^"'\#\[\]{}\n]++""",
)
_ELEMENT = re.compile(r"\[[0-9]+\]$")


def step(key: str) -> str:
    """Return `key` as it stands in a pointer: quoted, as in TOML, when it is not a bare key; on one short line."""
    return one_line(key, 60) if _BARE_KEY.fullmatch(key) else f'"{one_line(key, 60)}"'


class Lines:
    """The 1-based line of every key and header of a TOML document that parses, by pointer."""

    def __init__(self, text: str) -> None:
        self._said: dict[str, int] = {}
        self._implied: dict[str, int] = {}  # `a` of `[a.b]`, where nothing says `a` itself
        self._elements: dict[str, int] = {}  # arrays of tables: pointer → index of the latest element
        table = ""
        for line, start in _statements(text):
            match = _STATEMENT.match(text, start)
            if match is None:
                continue
            parts = [step(_key(part)) for part in _PARTS.findall(match[2])]
            if match[1] is None:
                self._note(table, parts, line)
            else:
                table = self._header(parts, line, array=match[1] == "[[")

    def of(self, pointer: str) -> int | None:
        """Return the line of what `pointer` (``runtime.args[0]``, ``provides[1].id``) names.

        An element of an array stands where its key stands. None where it cannot be known: a key that is
        missing, or one inside an inline table.
        """
        for name in (pointer, _ELEMENT.sub("", pointer)):
            for known in (self._said, self._implied):
                if name in known:
                    return known[name]
        return None

    def _header(self, parts: list[str], line: int, *, array: bool) -> str:
        pointer = self._note("", parts, line, last=array)
        if array:
            self._elements[pointer] = self._elements.get(pointer, -1) + 1
            pointer = self._element(pointer)
            self._said.setdefault(pointer, line)
        return pointer

    def _note(self, table: str, parts: list[str], line: int, *, last: bool = True) -> str:
        """Remember the line of `parts` below `table`; return the pointer. `last`: do not enter the last one."""
        pointer = table
        for number, part in enumerate(parts, start=1):
            pointer = f"{pointer}.{part}" if pointer else part
            whole = number == len(parts)
            (self._said if whole else self._implied).setdefault(pointer, line)
            if not (whole and last):
                pointer = self._element(pointer)
        return pointer

    def _element(self, pointer: str) -> str:
        return f"{pointer}[{self._elements[pointer]}]" if pointer in self._elements else pointer


def _statements(text: str) -> Iterator[tuple[int, int]]:
    """Yield (line, offset) of each place where a statement may begin: a line outside every value."""
    line, depth = 1, 0
    yield line, 0
    for piece in _PIECE.finditer(text):
        kind = piece.lastgroup
        if kind == "open":
            depth += 1
        elif kind == "close":
            depth -= 1
        elif kind == "end":
            line += 1
            if depth == 0:
                yield line, piece.end()
        else:
            line += text.count("\n", piece.start(), piece.end())


def _key(part: str) -> str:
    """Return the key that `part` of a statement spells."""
    if part[0] not in "\"'":
        return part
    import tomli

    return next(iter(tomli.loads(f"{part} = 0")))
