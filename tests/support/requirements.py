"""The rows of docs/reference/requirements.md, and which of them no passing test proves."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "requirements.md"
_ROW = re.compile(r"^\| (?P<id>[A-Z][0-9]{1,3}) \|", re.MULTILINE)


def rows(page: str) -> list[str]:
    """Return the ids of the page in its order. Raises ValueError for an id that stands twice."""
    ids = [match["id"] for match in _ROW.finditer(page)]
    twice = sorted({row for row in ids if ids.count(row) > 1})
    if twice:
        raise ValueError(f"rows with the same id: {', '.join(twice)}")
    return ids


def unproved(ids: Iterable[str], proved: set[str], failing: set[str]) -> list[str]:
    """Return the rows that are not proved: no test passes, or one that is marked with it fails."""
    return [row for row in ids if row not in proved or row in failing]


def report(ids: list[str], proved: set[str], failing: set[str]) -> list[str]:
    """Return the lines that a person reads at the end of a test run."""
    missing = unproved(ids, proved, failing)
    lines = [f"{len(ids) - len(missing)} of {len(ids)} rows have a passing test and none that fails"]
    if failing:
        lines.append(f"with a test that fails or is expected to: {' '.join(sorted(failing))}")
    if missing:
        lines.append(f"not proved: {' '.join(missing)}")
    return lines
