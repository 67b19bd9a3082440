"""docs/reference/cli.md is what its generator writes, and the generator leaves no command out."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from loopx_host.cli.route import Route, routes
from loopx_host.core.codes import CODES
from tests.support.cli_reference import PAGE, page

EXIT_STATUS = Path(PAGE).with_name("exit-status.md")
SIGNALS = {129, 130, 143}


def test_the_page_is_the_one_the_generator_writes() -> None:
    assert PAGE.read_text("utf-8") == page(), "run: python -m tests.support.cli_reference"


@pytest.mark.parametrize("route", routes(), ids=lambda route: " ".join(route.words))
def test_a_command_has_a_heading_and_all_its_arguments(route: Route) -> None:
    section = page().partition(f"\n### loopx {' '.join(route.words)}\n")[2].partition("\n### ")[0]

    named = re.findall(r"^\| `([^` ]+)", section, re.MULTILINE)

    assert named == [
        str(one.settings.get("metavar")) if not one.names[0].startswith("-") else one.names[0]
        for one in route.arguments
    ]


def test_every_exit_status_of_a_code_is_on_its_page() -> None:
    listed = {int(status) for status in re.findall(r"^\| ([0-9]+) \|", EXIT_STATUS.read_text("utf-8"), re.MULTILINE)}

    assert {status for status, _, _ in CODES.values()} | SIGNALS | {0, 1} <= listed
