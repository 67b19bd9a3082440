"""The seven symptoms of the lifecycle chapter, provoked; docs/how-to/troubleshooting.md says what comes (row X11)."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from loopx_host.core.codes import CODES, GIVEN, NONE, RETRY
from tests.support.cli import Loopx
from tests.support.lifecycle import Subject

PAGE = Path(__file__).parents[2] / "docs/how-to/troubleshooting.md"
Document = dict[str, Any]


def tables() -> list[list[list[str]]]:
    """Return the rows of each table of the page, as cells, without their headings."""
    found: list[list[list[str]]] = []
    for block in re.findall(r"(?:^\|.*\n)+", PAGE.read_text("utf-8"), re.MULTILINE):
        rows = [[cell.strip() for cell in line.strip("|\n").split("|")] for line in block.splitlines()]
        found.append(rows[2:])
    return found


SYMPTOMS, STATE_CODES = tables()
ROWS = {code.strip("`"): next_command.strip("`") for _, code, _, next_command in SYMPTOMS}


def missing_program(subject: Subject) -> Document:
    return subject.install("1.0", "--execute", entrypoint="no-such-program").document


def forgotten_execute(subject: Subject) -> Document:
    assert subject.install("1.0").document["dry_run"] is True
    assert subject.loopx.rows() == []
    return subject.run().document


def stale_doctor(subject: Subject) -> Document:
    assert subject.install("1.0", "--execute").status == 0
    subject.replace_program()
    return subject.run().document


def disabled(subject: Subject) -> Document:
    assert subject.install("1.0", "--execute").status == 0
    assert subject.do("disable", "--execute").status == 0
    return subject.run().document


def with_permissions(subject: Subject) -> Document:
    assert subject.install("1.0", "--execute", permissions=("net.connect",)).status == 0
    return subject.run().document


def failed_upgrade(subject: Subject) -> Document:
    assert subject.install("1.0", "--execute").status == 0
    subject.doctor_exits(1, "2.0")
    return subject.upgrade("2.0", "--execute").document


def no_rollback(subject: Subject) -> Document:
    assert subject.install("1.0", "--execute").status == 0
    return subject.do("rollback", "--execute").document


# In the order of the chapter's table.
PROVOKED: dict[str, Callable[[Subject], Document]] = {
    "entrypoint_missing": missing_program,
    "extension_not_installed": forgotten_execute,
    "readiness_stale": stale_doctor,
    "extension_disabled": disabled,
    "permissions_declared": with_permissions,
    "doctor_failed": failed_upgrade,
    "rollback_unavailable": no_rollback,
}


def command_of(document: Document) -> str:
    """Return the next command of a document the way the page writes it."""
    if document["next_command"] is None:
        return "none"
    words = shlex.split(document["next_command"])
    shown: list[str] = []
    skip = False
    for word in words:
        if skip or word in {"--state-file", "--format"}:
            skip = not skip
        else:
            shown.append("ID" if word == "subject" else "PATH" if word.endswith("extension.toml") else word)
    return " ".join(shown)


@pytest.mark.req("X11")
def test_the_page_lists_the_seven_symptoms_in_the_order_of_the_chapter() -> None:
    assert list(ROWS) == list(PROVOKED)


@pytest.mark.req("X11")
@pytest.mark.parametrize("code", PROVOKED)
def test_a_symptom_has_its_own_code_and_the_next_command_the_page_names(tmp_path: Path, code: str) -> None:
    document = PROVOKED[code](Subject(Loopx(tmp_path)))

    assert (document["ok"], document["code"]) == (False, code)
    assert command_of(document) == ROWS[code]


@pytest.mark.req("X11")
@pytest.mark.parametrize("code", PROVOKED)
def test_every_symptom_has_a_next_command(code: str) -> None:
    assert ROWS[code] != "none"
    assert CODES[code][2] != NONE


@pytest.mark.parametrize(("codes", "next_command"), [(row[0], row[2]) for row in STATE_CODES])
def test_the_codes_of_the_state_file_have_the_next_command_that_the_table_of_codes_says(
    codes: str, next_command: str
) -> None:
    source = {"none": NONE, "the same command again": RETRY}.get(next_command, GIVEN)

    assert {CODES[code][2] for code in re.findall(r"`([a-z_]+)`", codes)} == {source}


@pytest.mark.parametrize("symptom", SYMPTOMS, ids=lambda row: row[1])
def test_every_symptom_says_what_it_means(symptom: list[str]) -> None:
    assert len(symptom[2].split()) >= 5
