"""The constant of `loopx --help` says what the tables of commands and common options say."""

from __future__ import annotations

import re

from loopx_host.cli.common import COMMON, FORMATS
from loopx_host.cli.routes import ROUTES
from loopx_host.cli.top_help import TOP_HELP

HELP_ONLY = {"--help", "--version"}


def block(title: str) -> list[str]:
    """Return the indented lines below `title`."""
    lines = TOP_HELP.partition(f"\n{title}:\n")[2].splitlines()
    return [line.strip() for line in lines[: next((i for i, line in enumerate(lines) if not line), len(lines))]]


def test_it_lists_every_route_with_its_summary_in_the_order_of_the_table() -> None:
    listed = [tuple(re.split(r"\s{2,}", line, maxsplit=1)) for line in block("commands")]

    assert listed == [(" ".join(route.words), route.summary) for route in ROUTES]


def test_it_lists_every_common_option_with_its_help() -> None:
    lines = [line for line in block("options of every command") if not set(line.split(", ")) <= HELP_ONLY]

    listed = {line.split()[0]: re.split(r"\s{2,}", line, maxsplit=1)[1] for line in lines}

    assert listed == {flag: text for flag, (_, text) in COMMON.items()}


def test_an_option_shows_a_value_exactly_when_it_takes_one() -> None:
    lines = [line for line in block("options of every command") if line.split()[0] in COMMON]

    shown = {line.split()[0]: len(re.split(r"\s{2,}", line)[0].split()) == 2 for line in lines}

    assert shown == {flag: takes_value for flag, (takes_value, _) in COMMON.items()}


def test_it_lists_the_formats() -> None:
    assert f"--format {'|'.join(FORMATS)}" in TOP_HELP


def test_it_is_plain_ascii_that_ends_with_one_line_feed() -> None:
    assert TOP_HELP.isascii()
    assert TOP_HELP.endswith("\n")
    assert not TOP_HELP.endswith("\n\n")


def test_its_example_is_one_of_a_command() -> None:
    assert block("example")[0] in {route.example for route in ROUTES}
