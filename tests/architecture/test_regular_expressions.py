"""Regular expressions mean the same on every Python that the project promises."""

from __future__ import annotations

import re

import pytest

from tests.support.project_files import ROOT, files

# Such as `(…)*+`: before Python 3.11.5 it goes wrong where the group backtracks; `(?>(…)*)` says the same.
POSSESSIVE_GROUP = re.compile(r"(?<!\\)\)(?:[*+?]|\{[0-9,]+\})\+")
PRODUCT = [path for path in files() if path.suffix == ".py" and path.relative_to(ROOT).parts[0] != "tests"]


def test_no_pattern_repeats_a_group_possessively() -> None:
    found = {
        str(path.relative_to(ROOT)): repeated
        for path in PRODUCT
        if (repeated := POSSESSIVE_GROUP.findall(path.read_text("utf-8")))
    }

    assert PRODUCT
    assert found == {}


@pytest.mark.parametrize("pattern", ["(?:a|b)*+", "(a)++", "(a)?+", "(a){1,3}+"])
def test_a_possessive_repetition_of_a_group_is_found(pattern: str) -> None:
    assert POSSESSIVE_GROUP.search(pattern)


@pytest.mark.parametrize("pattern", ["[^-]++", r"\)*+", "(?>(?:a|b)*)", "(a)*b+"])
def test_other_repetitions_are_not(pattern: str) -> None:
    assert not POSSESSIVE_GROUP.search(pattern)
