"""Every row of the page of surroundings names tests that are there, and codes that exist."""

from __future__ import annotations

import re

import pytest

from loopx_host.core.codes import CODES
from tests.support.project_files import ROOT

PAGE = (ROOT / "docs/explanation/surroundings.md").read_text("utf-8")
ROWS = [line.strip("|").split(" | ") for line in PAGE.splitlines() if line.startswith("| ") and "**" not in line][1:]


@pytest.fixture(scope="module")
def tests_there() -> set[str]:
    files = (path.read_text("utf-8") for path in (ROOT / "tests").rglob("test_*.py"))
    return {name for text in files for name in re.findall(r"^def (test_\w+)\(", text, re.MULTILINE)}


def test_every_row_names_a_test_that_is_there(tests_there: set[str]) -> None:
    named = [re.findall(r"`(test_\w+)`", row[-1]) for row in ROWS]

    assert len(ROWS) > 20
    assert all(named)
    assert {name for row in named for name in row} - tests_there == set()


def test_every_code_of_the_page_exists() -> None:
    told = {word for row in ROWS for word in re.findall(r"`([a-z]+_[a-z_]+)`", row[1])}

    assert told
    assert told <= set(CODES)
