"""The grammar and the meaning of `requires_loopx_api`."""

from __future__ import annotations

import pytest

from loopx_host.registry import api


@pytest.mark.parametrize(
    ("expression", "clauses"),
    [
        ("1", [("==", 1)]),
        ("==1", [("==", 1)]),
        (">= 1 , < 2", [(">=", 1), ("<", 2)]),
        ("<=10,>0", [("<=", 10), (">", 0)]),
    ],
)
def test_clauses_are_operators_with_whole_numbers(expression: str, clauses: list[tuple[str, int]]) -> None:
    assert api.clauses(expression) == clauses


@pytest.mark.parametrize("expression", [">=1,", "", ",1", "=1", "~=1", "!=2", "*", ">=1.0", "1 2", "- 1", "\u0661"])
def test_anything_else_is_malformed_and_admits_nothing(expression: str) -> None:
    """api_malformed (case 7)"""
    assert api.clauses(expression) is None
    assert not api.admits(expression)


@pytest.mark.parametrize(
    ("expression", "admitted"),
    [
        ("2", {2}),
        ("==2", {2}),
        (">=2", {2, 3, 4}),
        ("<=2", {0, 1, 2}),
        (">2", {3, 4}),
        ("<2", {0, 1}),
        (">=1,<3", {1, 2}),
        (">2,<2", set()),
    ],
)
def test_every_clause_must_hold(expression: str, admitted: set[int]) -> None:
    assert {number for number in range(5) if api.admits(expression, number)} == admitted


def test_the_host_speaks_1() -> None:
    """api_ok (case 6), api_unmet (case 8)"""
    assert api.admits("==1")
    assert not api.admits(">=2")
    assert not api.admits("<1")
