"""Every command that changes or starts something, from the table of commands: it previews, and does what was seen.

What its execution reads is not listed by hand: it is written down while a twin of the same world is changed. So a
command that comes to read more is held to more, and a command without a set-up fails here.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.support.capabilities import Station
from tests.support.cli import Answer
from tests.support.levels import LEAVES_MARKS
from tests.support.lifecycle import tree
from tests.support.plans import PASSING, SETUPS, Words, gone, moved, mutating, reads, swapped

pytestmark = pytest.mark.timeout(300)  # each is some forty commands

ROUTES = [" ".join(route.words) for route in mutating()]
ANOTHER = f"sha256:{'0' * 64}"


def asked(world: Station, *words: str) -> Answer:
    """Ask a host that remembers nothing: what it forgets and finds again is not what this is about."""
    shutil.rmtree(world.cache, ignore_errors=True)
    return world(*words)


def arranged(root: Path, words: str) -> tuple[Station, Words]:
    world = Station(root)
    (root / "home/cache").mkdir()  # a preview may fill it
    return world, SETUPS[words](world)


@LEAVES_MARKS
@pytest.mark.req("X2", "B5")
@pytest.mark.parametrize("words", ROUTES)
def test_a_plan_binds_everything_that_its_execution_reads(tmp_path: Path, words: str) -> None:
    world, command = arranged(tmp_path / "world", words)
    twin, same = arranged(tmp_path / "twin", words)
    there = [name for name in reads(twin, same) if (world.root / name).is_file()]
    before = tree(world.root, without=PASSING)

    preview = asked(world, *command)

    assert preview.status == 0, preview
    assert tree(world.root, without=PASSING) == before
    plan = preview.document["plan"]
    refused = asked(world, *command, "--execute", "--plan", ANOTHER)
    assert (refused.code, refused.document["plan"]) == ("plan_changed", plan)
    assert tree(world.root, without=PASSING) == before
    for name in there:
        for move in (swapped, gone):
            with moved(world.root / name, move):
                there_now = tree(world.root, without=PASSING)
                answer = asked(world, *command, "--execute", "--plan", plan)
                assert answer.document["ok"] is False, (name, move.__name__, answer)
                assert tree(world.root, without=PASSING) == there_now, (name, move.__name__, answer)
    done = asked(world, *command, "--execute", "--plan", plan)
    assert (done.document["plan"], "code" in done.document) == (plan, False), done


def test_no_set_up_is_for_a_command_that_is_not_there() -> None:
    assert sorted(SETUPS) == sorted(ROUTES)
