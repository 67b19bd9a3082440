"""Tests run at the level that users get; each that does not says why, and their number only goes down."""

from __future__ import annotations

import re

from tests.support import levels
from tests.support.project_files import ROOT

MARKED = 45  # functions and modules with a reason below; lower it when one was moved
TESTS = [path for path in (ROOT / "tests").rglob("test_*.py") if "trials" not in path.parts]


def test_every_reason_is_one_and_says_something() -> None:
    for mark in (levels.LEAVES_MARKS, levels.CHANGES_ITSELF, levels.HELD_BY_NOTHING, levels.NOBODY_ASKS):
        assert mark.kwargs["because"]


def test_no_more_tests_than_these_ask_for_less_than_users_get() -> None:
    name = re.compile(r"^(?:@|pytestmark = .*|    )(?:LEAVES_MARKS|CHANGES_ITSELF|HELD_BY_NOTHING)\b", re.MULTILINE)

    found = sum(len(name.findall(path.read_text("utf-8"))) for path in TESTS if path.name != "test_levels.py")

    assert found <= MARKED


def test_a_level_below_the_default_is_asked_for_by_a_reason_only() -> None:
    asking = re.compile(r"LOOPX_CONTAINMENT[\"']?(?:: |\] = |=)[\"']?(?:limits|process)")
    found = {path.name for path in TESTS if asking.search(path.read_text("utf-8"))}

    assert found <= {"test_trials.py", "test_plugin_commands.py"}
