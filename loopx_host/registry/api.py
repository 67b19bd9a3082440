"""`requires_loopx_api`: which versions of the host's extension API a manifest accepts."""

from __future__ import annotations

import re

from loopx_host.core.limits import HOST_API

_CLAUSE = re.compile(r"(>=|<=|==|>|<)?\s*([0-9]{1,9})", re.ASCII)


def clauses(expression: str) -> list[tuple[str, int]] | None:
    """Return the (operator, number) clauses of `expression`, or None when it does not follow the grammar."""
    found = [_CLAUSE.fullmatch(part.strip(" \t")) for part in expression.split(",")]
    if not all(found):
        return None
    return [(match[1] or "==", int(match[2])) for match in found if match]


def admits(expression: str, api: int = HOST_API) -> bool:
    """Whether every clause of `expression` holds for the host's API number; False when malformed."""
    parsed = clauses(expression)
    return parsed is not None and all(_holds(operator, api, number) for operator, number in parsed)


def _holds(operator: str, api: int, number: int) -> bool:
    return {
        ">=": api >= number,
        "<=": api <= number,
        "==": api == number,
        ">": api > number,
        "<": api < number,
    }[operator]
