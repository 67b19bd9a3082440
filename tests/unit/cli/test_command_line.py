"""argv is split once: the options of every command, what belongs to the command, what a next command repeats."""

from __future__ import annotations

import pytest

from loopx_host.cli.command_line import CommandLine
from tests.support.fakes import code_of


def test_options_may_stand_before_and_after_the_words() -> None:
    line = CommandLine(["--state-file", "s.json", "extension", "--debug", "show", "--format=json", "notes"])

    assert line.row is not None
    assert (line.row.words, line.arguments) == (("extension", "show"), ["notes"])
    assert (line.debug, line.format) == (True, "json")


def test_the_settings_of_the_container_are_what_is_given() -> None:
    given = CommandLine(
        ["--state-file", "s", "--runtime-root=r", "--containment", "limits", "--no-extensions"]
    ).settings()
    none = CommandLine(["extension", "list"]).settings()

    assert (given.state_file, given.runtime_root, given.containment, given.no_extensions) == (
        "s",
        "r",
        "limits",
        True,
    )
    assert (none.state_file, none.runtime_root, none.containment, none.no_extensions) == (None, None, None, False)


def test_what_follows_two_dashes_is_the_commands() -> None:
    line = CommandLine(["extension", "show", "--", "--format", "json"])

    assert line.arguments == ["--", "--format", "json"]
    assert line.format == "text"


@pytest.mark.parametrize(
    ("argv", "summary"),
    [
        (["extension", "list", "--state-file"], "--state-file needs a value"),
        (["extension", "list", "--state-file="], "--state-file needs a value"),
        (["--debug=yes", "extension", "list"], "--debug takes no value"),
        (["--format", "yaml", "extension", "list"], "--format is text or json, not yaml"),
        (["--format", "text", "--format", "json"], "--format is given twice with different values"),
    ],
)
def test_a_line_that_cannot_be_split_keeps_its_problem_and_knows_nothing(argv: list[str], summary: str) -> None:
    line = CommandLine(argv)

    assert line.problem is not None
    assert (line.problem.code, line.problem.diagnostic.summary) == ("usage_error", summary)
    assert (line.row, line.words, line.arguments, line.repeated) == (None, (), [], ())


@pytest.mark.parametrize(
    "argv",
    [
        ["--format", "json", "--debug=yes"],
        ["--format=json", "--state-file"],
        ["--format", "text", "--format", "json"],
        ["--debug=yes", "--format=json"],
    ],
)
def test_the_format_is_known_where_the_split_fails(argv: list[str]) -> None:
    line = CommandLine(argv)

    assert line.problem is not None
    assert line.format == "json"


def test_a_next_command_repeats_what_names_the_state_and_the_format() -> None:
    options = ["--no-extensions", "--containment", "limits", "--runtime-root=r", "--debug", "--state-file", "a\nb"]

    assert CommandLine(["extension", "list", *options]).repeated == (
        *("--state-file", "a\\x0ab"),
        *("--runtime-root", "r"),
        *("--containment", "limits"),
    )
    assert CommandLine(["extension", "list", "--format", "json"]).repeated == ("--format", "json")
    assert CommandLine(["extension", "list", "--format", "text"]).repeated == ()


def test_this_command_again_is_its_words_made_visible() -> None:
    line = CommandLine(["extension", "disable", "a\x1bb", "--format", "json", "--execute"])

    assert line.retry_command == ("extension", "disable", "a\\x1bb", "--execute")


@pytest.mark.parametrize(
    ("argv", "top", "own"),
    [
        ([], True, False),
        (["--format", "json"], True, False),
        (["--help", "extension"], True, False),
        (["extension", "--help"], False, False),
        (["extension", "list", "-h"], False, True),
        (["extension", "list"], False, False),
    ],
)
def test_which_help_is_asked_for(argv: list[str], top: bool, own: bool) -> None:
    line = CommandLine(argv)

    assert (line.wants_top_help, line.wants_help) == (top, own)


@pytest.mark.req("X10")
@pytest.mark.parametrize(
    ("argv", "arguments", "execute"),
    [
        (["roar", "a", "--b", "c"], ["a", "--b", "c"], False),
        (["roar", "--execute", "a"], ["a"], True),
        (["--format", "json", "roar", "a", "--debug", "--execute"], ["a"], True),
        (["roar", "a", "--", "--execute"], ["a", "--", "--execute"], False),
        (["roar", "--executed"], ["--executed"], False),
    ],
)
def test_whether_a_command_of_a_package_is_executed_is_read_by_the_host(
    argv: list[str], arguments: list[str], execute: bool
) -> None:
    assert CommandLine(argv).of_package == ("roar", arguments, execute)


def test_execute_takes_no_value() -> None:
    assert code_of(lambda: CommandLine(["roar", "--execute=no"]).of_package) == "usage_error"


@pytest.mark.parametrize(("word", "may"), [("repo-health", True), ("extension", False), ("--execute", False)])
def test_a_package_brings_no_group_of_ours_and_no_option(word: str, may: bool) -> None:
    assert CommandLine([word, "x"]).may_be_of_package is may
