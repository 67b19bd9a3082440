"""docs/reference/diagnostics.md has one heading per code, and its facts are those of the table."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from loopx_host.core.codes import CODES, FAILURE_KINDS, FINDING_CODES, GIVEN, NONE, PROBLEM_CODES, RETRY

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "diagnostics.md"
HEADING = re.compile(r"^### `(?P<code>[^`]+)`$", re.MULTILINE)
NEXT_COMMAND = {
    GIVEN: "next command: the one in the document",
    RETRY: "next command: the same command again",
    NONE: "next command: none",
}


def sections(page: str) -> dict[str, str]:
    """Return the text below each heading of a code, up to the next heading of any kind."""
    found: dict[str, str] = {}
    for match in HEADING.finditer(page):
        assert match["code"] not in found, f"{match['code']} has two headings"
        found[match["code"]] = re.split(r"^#", page[match.end() :], maxsplit=1, flags=re.MULTILINE)[0].strip()
    return found


def facts(code: str) -> list[str]:
    """Return the lines that the section of `code` has to hold, in their order."""
    lines: list[str] = []
    if code in CODES:
        status, error_status, source = CODES[code]
        lines.append(f"- exit status {status}, status `{error_status}`, {NEXT_COMMAND[source]}")
    if code in PROBLEM_CODES:
        lines.append("- a row of `problems` or `warnings`")
    if code in FINDING_CODES:
        lines.append("- a row of `extension discover` or `loopx doctor`")
    if code in FAILURE_KINDS:
        lines.append("- a `failure_kind`")
    return lines


ALL_CODES = sorted({*CODES, *PROBLEM_CODES, *FINDING_CODES, *FAILURE_KINDS})
SECTIONS = sections(PAGE.read_text("utf-8"))
DOCUMENTED = [code for code in ALL_CODES if code in SECTIONS]  # the first test names those that are not


def test_every_code_has_a_heading_and_every_heading_is_a_code() -> None:
    assert sorted(SECTIONS) == ALL_CODES


@pytest.mark.parametrize("code", DOCUMENTED)
def test_the_facts_of_a_code_are_those_of_the_table(code: str) -> None:
    stated = [line for line in SECTIONS[code].splitlines() if line.startswith("- ")]

    assert stated == facts(code)


@pytest.mark.parametrize("code", DOCUMENTED)
def test_a_section_says_what_its_code_means(code: str) -> None:
    prose = [line for line in SECTIONS[code].splitlines() if line and not line.startswith("- ")]

    assert len(" ".join(prose).split()) >= 5


def test_codes_are_lower_snake_tokens() -> None:
    assert [code for code in ALL_CODES if not re.fullmatch(r"[a-z][a-z0-9]*(_[a-z0-9]+)*", code)] == []
