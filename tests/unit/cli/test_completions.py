"""The completion scripts are written from the table of commands, without a gap and without a command of their own."""

from __future__ import annotations

import re

import pytest

from loopx_host.cli import completions
from loopx_host.cli.index import COMMON, FORMATS
from loopx_host.cli.route import routes

ROUTES = routes()
SHELLS = ("bash", "zsh", "fish")


@pytest.mark.parametrize("shell", SHELLS)
def test_every_word_and_flag_of_the_tables_is_in_the_script(shell: str) -> None:
    text = completions.script(shell)
    words = {word for route in ROUTES for word in route.words}
    names = {flag.lstrip("-") for route in ROUTES for flag in completions.flags(route)}

    assert [
        word for word in sorted(words | names) if not re.search(rf"(?<![\w]){re.escape(word)}(?![\w])", text)
    ] == []


@pytest.mark.parametrize("shell", SHELLS)
def test_a_script_calls_nothing(shell: str) -> None:
    code = [line for line in completions.script(shell).splitlines() if not line.startswith("#")]

    # `$(compgen …)` is the shell's own; anything else in `$( )` or backquotes would be a program.
    started = [word for line in code for word in re.findall(r"\$\((?!\()\s*([\w./-]+)|`([^`]*)`|<\(", line)]

    assert {found for pair in started for found in pair if found} <= {"compgen"}


def test_a_flag_that_takes_a_value_is_known_as_one() -> None:
    taking = {flag for flag, (value, _) in COMMON.items() if value is not None}

    assert taking | {"--manifest", "--to", "--plan", "--pairs", "--version"} <= set(completions.value_flags())
    assert {"--execute", "--debug", "--strict", "--rebuild"} & set(completions.value_flags()) == set()


def test_the_formats_are_those_of_the_command_line() -> None:
    assert " ".join(FORMATS) in completions.script("bash")


def test_a_group_is_no_command_of_its_own() -> None:
    assert {"extension", "capability", "doctor", "completions"} <= set(completions.first_words())
    assert completions.second_words("doctor") == []
    assert {"init", "run"} <= set(completions.second_words("extension"))
