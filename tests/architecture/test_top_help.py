"""What `loopx --help` shows is what the index of commands and their routes say."""

from __future__ import annotations

import re

from loopx_host.cli.help import UNKNOWN_PACKAGES, top_help
from loopx_host.cli.index import COMMON, FORMATS, OF_PACKAGES
from loopx_host.cli.route import routes

TOP_HELP = top_help([])

HELP_ONLY = {"--help", "--version"}


def block(title: str) -> list[str]:
    """Return the indented lines below `title`."""
    lines = TOP_HELP.partition(f"\n{title}:\n")[2].splitlines()
    return [line.strip() for line in lines[: next((i for i, line in enumerate(lines) if not line), len(lines))]]


def test_it_lists_every_route_with_its_summary_in_the_order_of_the_table() -> None:
    listed = [tuple(re.split(r"\s{2,}", line, maxsplit=1)) for line in block("commands")]

    assert listed == [(" ".join(route.words), route.summary) for route in routes()]


def test_it_lists_every_common_option_with_its_help() -> None:
    lines = [line for line in block("options of every command") if not set(line.split(", ")) <= HELP_ONLY]

    listed = {line.split()[0]: re.split(r"\s{2,}", line, maxsplit=1)[1] for line in lines}

    assert listed == {flag: text for flag, (_, text) in COMMON.items()}


def test_it_lists_every_option_of_the_commands_of_packages_with_its_help() -> None:
    listed = dict(re.split(r"\s{2,}", line, maxsplit=1) for line in block("options of every command of a package"))

    assert listed == {flag: text for flag, (_, text) in OF_PACKAGES.items()}


def test_an_option_shows_a_value_exactly_when_it_takes_one() -> None:
    lines = [line for line in block("options of every command") if line.split()[0] in COMMON]

    shown = {line.split()[0]: len(re.split(r"\s{2,}", line)[0].split()) == 2 for line in lines}

    assert shown == {flag: value is not None for flag, (value, _) in COMMON.items()}


def test_it_lists_the_formats() -> None:
    assert f"--format {'|'.join(FORMATS)}" in TOP_HELP


def test_it_is_plain_ascii_that_ends_with_one_line_feed() -> None:
    assert TOP_HELP.isascii()
    assert TOP_HELP.endswith("\n")
    assert not TOP_HELP.endswith("\n\n")


def test_its_example_is_one_of_a_command() -> None:
    assert block("example")[0] in {route.example for route in routes()}


def test_no_words_are_too_long_for_their_column() -> None:
    lines = [*block("commands"), *block("options of every command")]

    assert [line for line in lines if "  " not in line and not set(line.split(", ")) <= HELP_ONLY] == []


def test_the_commands_of_packages_follow_our_own() -> None:
    assert top_help([["repo-health", "Look at a repository", "off"]]) == TOP_HELP.replace(
        "\n\noptions of every command:",
        "\n  repo-health                   Look at a repository (off)\n\noptions of every command:",
    )
    assert top_help(None) == TOP_HELP.replace(
        "\n\noptions of every command:", f"\n{UNKNOWN_PACKAGES}\n\noptions of every command:"
    )
