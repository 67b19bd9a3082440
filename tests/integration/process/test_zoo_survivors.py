"""Whatever an animal leaves behind, nothing of it lives when its run has ended or its host has died (B3)."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support import zoo
from tests.support.cli import finish
from tests.support.zoo import PYTHON, C, Grounds, Keeper

pytestmark = [
    pytest.mark.req("B3"),
    pytest.mark.skipif(sys.platform != "linux", reason="runs are supervised on Linux"),
]
ENDS = ("success", "failure", "crash")
LEVELS = (*zoo.RUNGS, "contained+no-new-session")
FENCED_LEVELS = tuple(level for level in LEVELS if level.startswith(zoo.FENCED))


def trials(count: int = zoo.TRIALS, levels: tuple[str, ...] = LEVELS) -> list[Any]:
    """Return `count` trials that go round all animals, levels and people."""
    animals = [(C, animal) for animal in zoo.SURVIVORS] + [(PYTHON, animal) for animal in zoo.PYTHON_SURVIVORS]
    people = zoo.people()
    made = []
    for number in range(count):
        lap, place = divmod(number, len(animals))
        language, animal = animals[place]
        level = levels[(place + lap) % len(levels)]
        who = people[(place // len(levels) + lap) % len(people)]
        made.append(pytest.param(language, animal, level, who, id=f"{number}-{language}-{animal}-{level}-{who}"))
    return made


@pytest.fixture(scope="module")
def grounds() -> Iterator[Grounds]:
    with zoo.grounds() as made:
        yield made


@pytest.fixture
def mark() -> Iterator[str]:
    made = zoo.new_mark()
    yield made
    zoo.exterminate(made)


@pytest.mark.parametrize(("language", "animal", "level", "who"), trials())
def test_nothing_lives_after_a_run_through_the_port(
    grounds: Grounds, mark: str, language: str, animal: str, level: str, who: str
) -> None:
    argv = grounds.argv(language, who)
    keeper = grounds.keeper("port", language, level, who)
    reads = [argv[0], sys.base_prefix, sys.prefix]

    result = keeper.run(argv=argv, reads=reads, mark=mark, request={"animal": animal})

    assert zoo.living(mark) == []
    assert zoo.said(result)["left"] > 0
    assert (result["containment"]["survivors"], result["containment"]["proof"]) == (0, "no_child_left")
    assert keeper.children() == []


@pytest.mark.parametrize(("language", "animal", "level", "who"), trials())
def test_nothing_lives_after_a_run_of_the_command_line(
    grounds: Grounds, mark: str, language: str, animal: str, level: str, who: str
) -> None:
    guest = grounds.guest(language, who)
    env = {"ZOO_MARK": mark, "LOOPX_CONTAINMENT": level}

    answer = guest.run("zoo", {"animal": animal}, env=env)

    assert zoo.living(mark) == []
    assert answer.status == 0, answer
    assert answer.document["provider_result"]["left"] > 0
    containment = answer.document["containment"]
    assert (containment["survivors"], containment["proof"]) == (0, "no_child_left")
    assert containment["rung"] == level.partition("+")[0]
    assert guest.private_directories() == []


@pytest.mark.parametrize(("language", "animal", "level", "who"), trials())
def test_nothing_lives_after_a_run_of_an_embedding_program(
    grounds: Grounds, mark: str, language: str, animal: str, level: str, who: str
) -> None:
    keeper = grounds.keeper("host", language, level, who)

    receipt = keeper.run(extension="zoo", mark=mark, request={"animal": animal})

    assert zoo.living(mark) == []
    assert receipt["ok"], receipt
    assert (receipt["containment"]["survivors"], receipt["containment"]["proof"]) == (0, "no_child_left")
    assert receipt["containment"]["host_death"] == "supervised"


@pytest.mark.parametrize(("language", "animal", "level", "who"), trials())
def test_nothing_lives_after_the_command_line_was_killed(
    grounds: Grounds, mark: str, language: str, animal: str, level: str, who: str
) -> None:
    guest = grounds.guest(language, who)
    env = {"ZOO_MARK": mark, "LOOPX_CONTAINMENT": level}
    host = guest.start_run("zoo", {"animal": animal, "stay": "yes"}, env=env)
    zoo.ready(mark)

    host.kill()
    finish(host)

    assert zoo.left_after(mark) == []


@pytest.mark.parametrize(("language", "animal", "level", "who"), trials())
def test_nothing_lives_after_an_embedding_program_was_killed(
    grounds: Grounds, mark: str, language: str, animal: str, level: str, who: str
) -> None:
    env = {**grounds.env("host", language, who), "ZOO_MARK": mark}
    keeper = Keeper("host", level, grounds.person(who), env)
    keeper.order(extension="zoo", mark=mark, request={"animal": animal, "stay": "yes"})
    zoo.ready(mark)

    keeper.close()

    assert zoo.left_after(mark) == []


@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("who", zoo.people())
def test_nothing_lives_however_the_leader_ends(grounds: Grounds, mark: str, who: str, level: str, end: str) -> None:
    argv = grounds.argv(C, who)
    keeper = grounds.keeper("port", C, level, who)

    result = keeper.run(argv=argv, reads=argv, mark=mark, request={"animal": "swarm", "end": end})

    assert zoo.living(mark) == []
    expected = {"success": (0, None), "failure": (3, None), "crash": (None, "SIGKILL")}
    assert (result["exit_code"], result["signal"]) == expected[end]
    assert result["containment"]["survivors"] == 0


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("animal", ["comets", "deaf", "stopped", "vforked", "headless", "holder"])
def test_the_deadline_ends_a_leader_with_everything_it_started(
    grounds: Grounds, mark: str, animal: str, level: str
) -> None:
    """run_timeout_setsid (case 84)."""
    who = zoo.people()[0]
    argv = grounds.argv(C, who)
    keeper = grounds.keeper("port", C, level, who)
    request = {"animal": animal, "stay": "yes"}

    result = keeper.run(argv=argv, reads=argv, mark=mark, request=request, limits={"timeout_seconds": 0.2})

    assert zoo.living(mark) == []
    assert result["stopped_by"] == "timeout"
    assert result["containment"]["survivors"] == 0
    assert result["duration_ms"] < zoo.PATIENCE_SECONDS * 1000


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("who", zoo.people())
def test_a_spinning_leader_is_ended_by_the_deadline(grounds: Grounds, mark: str, who: str, level: str) -> None:
    """run_timeout (case 83)."""
    argv = grounds.argv(C, who)
    keeper = grounds.keeper("port", C, level, who)
    request = {"animal": "cpu_spinner"}

    result = keeper.run(argv=argv, reads=argv, mark=mark, request=request, limits={"timeout_seconds": 0.2})

    assert zoo.living(mark) == []
    assert (result["stopped_by"], result["exit_code"]) == ("timeout", None)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("who", zoo.people())
def test_an_animal_that_starves_its_supervisor_is_ended_by_the_deadline(
    grounds: Grounds, mark: str, who: str, level: str
) -> None:
    argv = grounds.argv(C, who)
    keeper = Keeper("port", level, grounds.person(who), grounds.env("port", C, who))
    request = {"animal": "starver", "stay": "yes"}

    result = keeper.run(argv=argv, reads=argv, mark=mark, request=request, limits={"timeout_seconds": 0.2})

    keeper.close()
    assert zoo.living(mark) == []
    assert (result["stopped_by"], result["containment"]["survivors"]) == ("timeout", 0)


@pytest.mark.parametrize("level", ["contained", "contained+no-new-session", "namespaced"])
@pytest.mark.parametrize("who", zoo.people())
def test_a_storm_of_comets_is_ended_where_one_signal_reaches_them_all(
    grounds: Grounds, mark: str, who: str, level: str
) -> None:
    argv = grounds.argv(C, who)
    keeper = grounds.keeper("port", C, level, who)
    request = {"animal": "storm", "upto": "64", "life": "15"}

    result = keeper.run(argv=argv, reads=argv, mark=mark, request=request)

    assert zoo.living(mark) == []
    assert (result["containment"]["survivors"], result["containment"]["proof"]) == (0, "no_child_left")


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("who", zoo.people())
def test_a_bomb_of_a_thousand_is_cleared_away(grounds: Grounds, mark: str, who: str, level: str) -> None:
    argv = grounds.argv(C, who)
    keeper = grounds.keeper("port", C, level, who)
    request = {"animal": "bomb", "upto": "1000"}

    result = keeper.run(argv=argv, reads=argv, mark=mark, request=request)

    assert zoo.living(mark) == []
    assert result["containment"]["survivors"] == 0


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("who", zoo.people())
def test_a_private_directory_is_removed_whatever_was_made_in_it(
    grounds: Grounds, mark: str, who: str, level: str, tmp_path: Path
) -> None:
    """Deeper than any path may be, closed to its owner, oddly named, and with a link that leads out."""
    argv = grounds.argv(C, who)
    keeper = grounds.keeper("port", C, level, who)
    place = zoo.outside(tmp_path, grounds.person(who))
    before = zoo.snapshot(place)

    result = keeper.run(argv=argv, reads=argv, mark=mark, request={"animal": "nester", "place": str(place)})

    assert zoo.said(result)["depth"] > 100
    assert result["containment"]["private_directory"] == "removed"
    assert zoo.snapshot(place) == before


@pytest.mark.parametrize(
    ("way", "level"),
    [
        *(("parent_killer", level) for level in LEVELS),
        *(("parent_stopper", level) for level in FENCED_LEVELS),
        # Where the animal can stop its supervisor, the host waits its time out: 20 seconds and more.
        *(("parent_stopper", level) for level in LEVELS if level not in FENCED_LEVELS and zoo.IS_NIGHTLY),
    ],
)
@pytest.mark.parametrize("who", zoo.people())
def test_an_animal_that_turns_on_its_supervisor_leaves_nothing(
    grounds: Grounds, mark: str, who: str, level: str, way: str
) -> None:
    argv = grounds.argv(C, who)
    root = grounds.env("port", C, who)
    keeper = Keeper("port", level, grounds.person(who), root)

    result = keeper.run(argv=argv, reads=argv, mark=mark, request={"animal": way}, limits={"timeout_seconds": 2})
    keeper.close()

    assert zoo.left_after(mark) == []
    if level in FENCED_LEVELS:
        assert zoo.said(result)["signalled_parent"] == 0
    assert result["containment"]["survivors"] == 0


@pytest.mark.parametrize("level", FENCED_LEVELS)
@pytest.mark.parametrize("who", zoo.people())
def test_an_animal_that_would_kill_host_and_supervisor_leaves_nothing(
    grounds: Grounds, mark: str, who: str, level: str
) -> None:
    argv = grounds.argv(C, who)
    keeper = Keeper("port", level, grounds.person(who), {**grounds.env("port", C, who), "ZOO_MARK": mark})
    request = {"animal": "killer", "host": str(keeper.process.pid)}

    keeper.order(argv=argv, reads=argv, mark=mark, request=request)
    said = keeper.process.stdout.readline() if keeper.process.stdout else ""
    keeper.close()

    assert zoo.left_after(mark) == []
    assert '\\"killed_parent\\": 0' in said
    assert '\\"killed_host\\": 0' in said
    assert keeper.process.returncode == -signal.SIGKILL  # of `close`: it was still there


def test_the_search_for_survivors_sees_what_it_is_for(mark: str) -> None:
    argv = ["/bin/sleep", "60"]
    pid = os.posix_spawn(argv[0], argv, {"ZOO_MARK": mark})

    found = zoo.living(mark)

    zoo.exterminate(mark)
    assert found == [pid]
    assert zoo.left_after(mark) == []
    os.waitpid(pid, 0)
