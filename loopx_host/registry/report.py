"""Gather every problem of one manifest, then speak once; the readers every rule is made of."""

from __future__ import annotations

from loopx_host.core.diagnostics import ERROR, WARNING, Problem
from loopx_host.core.text import one_line
from loopx_host.registry.toml_source import step

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    Table = dict[str, object]
    Check = Callable[[str], str | None]  # what is wrong with a text, as a clause, or None

ROWS = 100  # a quarter of a megabyte can hold a hundred thousand mistakes, and nobody reads them
_LARGEST_SHOWN = 10**19


class Report:
    """The problems found so far, errors and warnings; past `ROWS` of a kind they are only counted in `more`.

    `unknown` counts the keys that are none of a manifest.
    """

    def __init__(self) -> None:
        self.errors: list[Problem] = []
        self.warnings: list[Problem] = []
        self.more = 0
        self.unknown = 0

    def error(self, code: str, pointer: str, summary: str, nearest: str | None = None) -> None:
        """Add a problem that refuses the manifest."""
        self._add(self.errors, Problem(code, pointer, summary, nearest=nearest, severity=ERROR))

    def warn(self, code: str, pointer: str, summary: str, nearest: str | None = None) -> None:
        """Add a problem that becomes a row of the receipt."""
        self._add(self.warnings, Problem(code, pointer, summary, nearest=nearest, severity=WARNING))

    def missing(self, pointer: str) -> None:
        """Add the problem of a key that must be there."""
        self.error("manifest_missing_key", pointer, f"{pointer} is missing")

    def wrong_type(self, pointer: str, wanted: str, value: object) -> None:
        """Add the problem of a value of another kind, naming the kind found."""
        self.error("manifest_wrong_type", pointer, f"{pointer} must be {wanted}, not {kind_of(value)}")

    def bad(self, pointer: str, clause: str) -> None:
        """Add the problem of a value that does not follow its rule."""
        self.error("manifest_bad_value", pointer, f"{pointer} {clause}")

    def _add(self, rows: list[Problem], problem: Problem) -> None:
        if len(rows) < ROWS:
            rows.append(problem)
        else:
            self.more += 1


def kind_of(value: object) -> str:
    """Name the TOML kind of `value`, with the value where it is short."""
    if isinstance(value, bool):
        return f"a boolean ({str(value).lower()})"
    if isinstance(value, int):
        return f"an integer ({value})" if abs(value) < _LARGEST_SHOWN else "an integer of many digits"
    if isinstance(value, float):
        return f"a float ({value})"
    if isinstance(value, str):
        return f'a string ("{one_line(value, 40)}")'
    names = {"list": "an array", "dict": "a table", "datetime": "a date-time"}
    return names.get(type(value).__name__, f"a {type(value).__name__}")


def text(report: Report, table: Table, key: str, at: str, check: Check | None = None) -> str:
    """Return the stripped string at `key`, which must be there; empty with the problem reported."""
    if key not in table:
        report.missing(at + key)
        return ""
    return scalar(report, table[key], at + key, check)


def optional_text(report: Report, table: Table, key: str, at: str, check: Check) -> str | None:
    """Return the stripped string at `key`; None where there is none, or with the problem reported."""
    return (scalar(report, table[key], at + key, check) or None) if key in table else None


def scalar(report: Report, value: object, pointer: str, check: Check | None) -> str:
    """Return `value` stripped if it is a non-blank string without control characters that passes `check`.

    Empty with the problem reported.
    """
    if not isinstance(value, str):
        report.wrong_type(pointer, "a string", value)
        return ""
    stripped = value.strip()
    wrong = _blank_or_control(stripped) or (check(stripped) if check else None)
    if wrong:
        report.bad(pointer, wrong)
        return ""
    return stripped


def _blank_or_control(value: str) -> str | None:
    if not value:
        return "must not be blank"
    if any(char < " " or "\x7f" <= char <= "\x9f" for char in value):
        return "holds a control character"
    return None


def texts(report: Report, table: Table, key: str, at: str, check: Check | None = None) -> list[str]:
    """Return the list of stripped strings at `key`; absent means empty."""
    pointer = at + key
    items = _array(report, table, key, pointer)
    read = [scalar(report, item, f"{pointer}[{index}]", check) for index, item in enumerate(items)]
    return [item for item in read if item]


def arguments(report: Report, table: Table, key: str, at: str) -> list[str]:
    """Return the list of program arguments at `key`, verbatim; absent means empty. NUL is refused."""
    pointer = at + key
    kept: list[str] = []
    for index, item in enumerate(_array(report, table, key, pointer)):
        if not isinstance(item, str):
            report.wrong_type(f"{pointer}[{index}]", "a string", item)
        elif "\0" in item:
            report.bad(f"{pointer}[{index}]", "holds a NUL character")
        else:
            kept.append(item)
    return kept


def _array(report: Report, table: Table, key: str, pointer: str) -> list[object]:
    value = table.get(key, [])
    if not isinstance(value, list):
        report.wrong_type(pointer, "an array of strings", value)
        return []
    return value


def integer(report: Report, table: Table, key: str, at: str, low: int, high: int) -> int | None:
    """Return the integer at `key` within `low`…`high`; a boolean is not an integer. None if absent."""
    if key not in table:
        return None
    value, pointer = table[key], at + key
    if isinstance(value, bool) or not isinstance(value, int):
        report.wrong_type(pointer, f"an integer from {low} to {high}", value)
        return None
    if not low <= value <= high:
        clause = f"{pointer} must be from {low} to {high}, not {kind_of(value)}"
        report.error("manifest_out_of_range", pointer, clause)
        return None
    return value


def tables(report: Report, document: Table, key: str) -> list[tuple[str, Table]]:
    """Return (pointer, table) of each element of the array of tables at `key`; absent means none."""
    value = document.get(key, [])
    if not isinstance(value, list):
        report.wrong_type(key, f"an array of tables ([[{key}]])", value)
        return []
    found: list[tuple[str, Table]] = []
    for index, item in enumerate(value):
        if isinstance(item, dict):
            found.append((f"{key}[{index}]", item))
        else:
            report.wrong_type(f"{key}[{index}]", "a table", item)
    return found


def known_keys(report: Report, table: Table, at: str, valid: Iterable[str], *, closed: bool) -> None:
    """Report unknown keys: errors where the set is closed or a valid key is close, else warnings.

    A typo must never load as "zero permission" (contract section 2); keys starting with ``x-`` are the author's.
    """
    names = sorted(valid)
    for key in table:
        if key in names or key.startswith("x-"):
            continue
        report.unknown += 1
        if report.unknown > ROWS:  # looking for what was meant takes time, and nobody mistypes so often
            report.error("manifest_unknown_key", at + step(key), f"{at + step(key)} is one of too many unknown keys")
            return
        near, close = nearest(key, names)
        pointer = at + step(key)
        advice = f"; the nearest key is `{near}`" if near else ""
        say = report.error if closed or close else report.warn
        say("manifest_unknown_key", pointer, f"{pointer} is not a key of this manifest{advice}", near)


def nearest(key: str, names: list[str]) -> tuple[str | None, bool]:
    """Return the most similar of `names` and whether it is close enough to be what was meant."""
    import difflib

    scored = [(difflib.SequenceMatcher(None, key.lower()[:80], name).ratio(), name) for name in names]
    if not scored:
        return None, False
    ratio, name = max(scored)
    if "permissions" in names and "perm" in key.lower():  # a typo must never load as "zero permission"
        return "permissions", True
    return name, ratio >= _CLOSE


_CLOSE = 0.75
