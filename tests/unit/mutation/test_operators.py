"""What the mutation runner changes, and what it leaves alone."""

from __future__ import annotations

import pytest

from tests.mutation.operators import mutants


def changes(source: str) -> set[str]:
    return {mutant.change for mutant in mutants(source)}


@pytest.mark.parametrize(
    ("source", "change"),
    [
        ("a = b == c", "`b == c` → `b != c`"),
        ("a = b < c", "`b < c` → `b <= c`"),
        ("a = b in c", "`b in c` → `b not in c`"),
        ("a = b and c", "`b and c` → `b or c`"),
        ("a = not b", "`not b` → `b`"),
        ("a = b + c", "`b + c` → `b - c`"),
        ("a = 1", "`1` → `2`"),
        ("a = True", "`True` → `False`"),
        ("a = 'word'", "`'word'` → `'wordX'`"),
        ("a = ''", "`''` → `'X'`"),
        ("f(a, b=c)", "`f(a, b=c)` → `f(a)`"),
        ("f(a)", "`f(a)` → `pass`"),
        ("raise A", "`raise A` → `pass`"),
        ("def f():\n    return a", "`return a` → `return None`"),
        ("for a in b:\n    break", "`break` → `continue`"),
        ("if a: f()", "`a` → `not a`"),
        ("a = b if c() else d", "`c()` → `not c()`"),
        ("A = {b, c}", "`{b, c}` → `{c}`"),
        ("A = {b: c, d: e}", "`{b: c, d: e}` → `{b: c}`"),
    ],
)
def test_a_change_is_made(source: str, change: str) -> None:
    assert change in changes(source)


@pytest.mark.parametrize(
    "source",
    [
        '"""A text."""',
        'def f():\n    """A text."""',
        "a: Literal['word']",
        "def f(a: 'word') -> 'word': ...",
        "class A:\n    __slots__ = ('a', 'b')",
        "TYPE_CHECKING = False\nif TYPE_CHECKING:\n    f(a=1)",
        "a = 'A sentence for people.'",
        "a = f'word {b}'",
        "a = f(b='A sentence.')",
        "a = f(b=f'A {c}.')",
        "a, b = c",
        "def f():\n    return None",
    ],
)
def test_what_decides_nothing_is_left_alone(source: str) -> None:
    assert changes(source) == set()


@pytest.mark.parametrize(
    ("source", "function"),
    [
        ("A = 1", "(module)"),
        ("def f():\n    def g():\n        a = 1", "f"),
        ("class A:\n    B = 1", "A (class)"),
        ("class A:\n    def f(self):\n        a = 1", "A.f"),
        ("def f(a=1): ...", "f"),
    ],
)
def test_a_mutant_says_what_has_to_run_for_it_to_matter(source: str, function: str) -> None:
    assert {mutant.function for mutant in mutants(source)} == {function}


def test_a_mutant_is_the_whole_source_with_one_change() -> None:
    source = "a = 1\nb = 2"

    assert [mutant.source for mutant in mutants(source)] == ["a = 2\nb = 2", "a = 1\nb = 3"]
