"""Modes, owners and times at `contained`: a provider changes those of what it may write, and of nothing else."""

from __future__ import annotations

import ctypes
import errno
import json
import os
import platform
import struct
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from loopx_host.adapters.process import attribute_broker, landlock
from loopx_host.adapters.process.attribute_broker import AttributeBroker
from loopx_host.adapters.process.confinement import Level
from loopx_host.adapters.process.interrupts import Interrupts
from loopx_host.adapters.process.runner import ProcessRunner
from loopx_host.adapters.process.system_calls import NUMBERS
from loopx_host.lifecycle.extensions.process import Ended, Grants, Launch, Limits
from tests.support import zoo
from tests.support.zoo import SOURCES, C, Grounds

pytestmark = [
    pytest.mark.req("B6"),
    pytest.mark.skipif(
        sys.platform != "linux" or platform.machine() != "x86_64", reason="the animal calls by the numbers of x86_64"
    ),
]
BRUSH = SOURCES / "brush.py"
DONE = 0
REFUSED = {"EPERM", "EXDEV", "EACCES", "ENOTSUP", "EOPNOTSUPP"}


@pytest.fixture(scope="module")
def grounds() -> Iterator[Grounds]:
    with zoo.grounds() as made:
        yield made


@pytest.fixture
def mark() -> Iterator[str]:
    made = zoo.new_mark()
    yield made
    zoo.exterminate(made)


class Brushed:
    """What the animal said, what a receipt says, and whether anything outside was touched."""

    def __init__(self, grounds: Grounds, mark: str, who: str, *, grant: bool = False) -> None:
        owner = grounds.person(who)
        with zoo.ground(owner) as outside:
            folders = {"outside": "granted-and-more", "readable": "readable", "granted": "granted"}
            files = {name: outside / folder / "file" for name, folder in folders.items()}
            for path in files.values():
                path.parent.mkdir()
                path.write_text("text", "ascii")
                path.chmod(0o600)
            owner.own(outside)
            before = zoo.snapshot(outside)
            result = grounds.keeper("port", C, "contained", who).run(
                argv=[owner.python, "-IS", "-c", BRUSH.read_text("utf-8")],
                reads=[owner.python, sys.base_prefix, sys.prefix, str(files["readable"].parent)],
                permissions=["fs.write:it"] if grant else [],
                references={"it": str(files["granted"].parent)} if grant else {},
                request={name: str(path) for name, path in files.items() if name != "granted" or grant},
                mark=mark,
            )
            after = zoo.snapshot(outside)
        assert result["exit_code"] == 0, result
        self.said: dict[str, Any] = json.loads(result["said"])
        self.rows = zoo.rows(result["containment"])
        self.touched = {
            os.path.relpath(path, outside)
            for path in before.keys() | after.keys()
            if before.get(path) != after.get(path)
        }

    def errors(self, of: str) -> dict[str, str]:
        """Return the errors of one kind of attempts, by the attempt; `done` for those that succeeded."""
        names = self.said["names"]
        return {attempt: names.get(str(number), "done") for attempt, number in self.said[of].items()}


@pytest.fixture(scope="module", params=zoo.people())
def brushed(grounds: Grounds, request: pytest.FixtureRequest) -> Brushed:
    return Brushed(grounds, zoo.new_mark(), request.param)


def test_a_provider_changes_modes_and_times_of_its_own_by_every_call(brushed: Brushed) -> None:
    own = brushed.said["own"]

    assert own.pop("is_now") is True
    seen = {name: value for name, value in own.items() if name.startswith(("mode", "times"))}
    assert {name for name, value in own.items() if name not in seen and value != DONE} == set()
    assert seen == {
        "mode": 0o640,
        "mode_through_link": 0o444,
        "mode_of_what_is_gone": 0o400,
        "mode_of_directory": 0o711,
        "mode_by_own_number": 0o750,
        "mode_by_a_child": 0o640,
        "times": [11_000_000_022, 33_000_000_044],
        "times_of_link": [6, 33_000_000_044],
        "times_of_open_file": [1, 2],
        "times_by_utime": [7_000_000_000, 8_000_000_000],
        "times_by_utimes": [1_000_002_000, 3_000_004_000],
        "times_by_futimesat": [5_000_006_000, 7_000_008_000],
    }


def test_nothing_elsewhere_changes_whatever_way_it_is_named(brushed: Brushed) -> None:
    swapped = brushed.said["elsewhere"].pop("while_it_is_swapped")

    assert {name for name, error in brushed.errors("elsewhere").items() if error not in REFUSED} == set()
    assert set(swapped) <= {DONE, 1}
    assert brushed.touched == set()


def test_a_call_that_means_nothing_has_the_error_that_the_kernel_gives(brushed: Brushed) -> None:
    assert brushed.errors("wrong") == {
        "no_address": "EFAULT",
        "no_end": "ENAMETOOLONG",
        "too_long": "ENAMETOOLONG",
        "nothing_there": "ENOENT",
        "empty": "ENOENT",
        "through_a_file": "ENOTDIR",
        "loop": "ELOOP",
        "no_descriptor": "EBADF",
        "negative_descriptor": "EBADF",
        "no_directory": "EBADF",
        "mode_of_a_link": "ENOTSUP",
        "no_times": "EFAULT",
        "too_many_nanoseconds": "EINVAL",
        "too_many_microseconds": "EINVAL",
    }


def test_the_receipt_says_of_what_attributes_may_change(brushed: Brushed) -> None:
    row = brushed.rows["file_attributes"]

    assert (row["value"], row["enforced"], row["by"]) == ("private directory", True, "seccomp")


@pytest.mark.parametrize("who", zoo.people())
def test_what_was_granted_for_writing_may_change_too(grounds: Grounds, mark: str, who: str) -> None:
    brushed = Brushed(grounds, mark, who, grant=True)

    assert brushed.said["granted"] == DONE
    assert DONE not in brushed.said["elsewhere"].values()
    assert brushed.rows["file_attributes"]["value"] == "private directory, it"
    assert brushed.touched == {"granted/file"}


@pytest.mark.skipif(os.geteuid() != 0, reason="it takes root to give a file away")
def test_a_file_that_belongs_to_another_is_left_alone_though_root_runs(grounds: Grounds, mark: str) -> None:
    with zoo.ground(grounds.person("root")) as folder:
        given = folder / "given"
        given.write_text("text", "ascii")
        os.chown(given, zoo.NOBODY, zoo.NOBODY)
        before = zoo.snapshot(folder)
        program = f"import os; os.chmod({str(given)!r}, 0o777)"
        result = grounds.keeper("port", C, "contained", "root").run(
            argv=[sys.executable, "-IS", "-c", program],
            reads=[sys.executable, sys.base_prefix, sys.prefix],
            permissions=["fs.write:it"],
            references={"it": str(folder)},
            request={},
            mark=mark,
        )

        assert (result["exit_code"], "PermissionError" in result["stderr"]) == (1, True)
        assert zoo.snapshot(folder) == before


@pytest.mark.parametrize("who", zoo.people())
def test_one_that_asks_for_ever_is_ended_with_all_it_left(grounds: Grounds, mark: str, who: str) -> None:
    result = grounds.keeper("port", C, "contained", who).run(
        argv=[grounds.person(who).python, "-IS", "-c", BRUSH.read_text("utf-8")],
        reads=[grounds.person(who).python, sys.base_prefix, sys.prefix],
        request={"for_ever": True},
        limits={"timeout_seconds": 1},
        mark=mark,
    )

    assert result["stopped_by"] == "timeout"
    assert (result["containment"]["survivors"], zoo.living(mark)) == (0, [])


# --- one answer ----------------------------------------------------------------------------------------------


def notice(path: Path, mode: int) -> bytearray:
    """Return a struct seccomp_notif: this very thread sets a mode; what it points to is the second of these."""
    named = ctypes.create_string_buffer(os.fsencode(path))
    words = [CHMOD, ctypes.addressof(named), mode]
    kept.append(named)
    return bytearray(struct.pack("=QIIiIQ6Q", 7, os.getpid(), 0, words[0], 0, 0, words[1], words[2], 0, 0, 0, 0))


kept: list[object] = []  # what a notice points to
CHMOD = NUMBERS["chmod"][0]


@pytest.mark.parametrize(
    ("alive", "mode", "error", "after"),
    [(True, 0o640, 0, 0o640), (False, 0o640, errno.EPERM, 0o600), (True, 0o4640, errno.EPERM, 0o600)],
    ids=["it waits", "its number may be another's by now", "a mode that the filter should have refused"],
)
def test_an_answer_is_for_whoever_still_waits_and_makes_nobody_somebody_else(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, *, alive: bool, mode: int, error: int, after: int
) -> None:
    file = tmp_path / "file"
    file.touch(0o600)
    if alive:  # else the kernel is asked, about a descriptor by which nobody waits
        monkeypatch.setattr(AttributeBroker, "_is_alive", lambda *_: True)
    broker = AttributeBroker(os.open(os.devnull, os.O_RDONLY), [str(tmp_path)])

    outcome = broker._outcome(notice(file, mode))

    broker.close()
    assert (outcome, file.stat().st_mode & 0o7777) == (error, after)


def test_when_nobody_is_left_to_ask_there_is_nothing_to_wait_for() -> None:
    reading, writing = os.pipe()
    os.close(writing)
    broker = AttributeBroker(reading, [])

    broker.answer()

    assert broker.listener == -1


# --- where nobody can be asked ------------------------------------------------------------------------------


def attempted_at(level: Level | None) -> Ended:
    """Run a provider that sets a mode of its own, and fails with the error."""
    program = "import os; open('mine', 'w').close(); os.chmod('mine', 0o600)"
    reads = Grants([sys.executable, sys.base_prefix, sys.prefix])
    launch = Launch([sys.executable, "-IS", "-c", program], Limits(30), grants=reads)
    return ProcessRunner(Interrupts(), level=level).run(launch)


def cannot_look(process: int, number: int) -> int:  # noqa: ARG001 (as `taken` has them)
    raise PermissionError(1, "not permitted")


@pytest.mark.parametrize("lacks", ["a look into the provider", "a kernel that asks", "a poll", "landlock"])
def test_without_somebody_to_ask_no_attribute_changes_and_the_receipt_says_so(
    monkeypatch: pytest.MonkeyPatch, lacks: str
) -> None:
    def too_old(code: bytes) -> int:  # noqa: ARG001 (as it has)
        raise OSError(22, "invalid")

    if lacks == "a look into the provider":
        monkeypatch.setattr(attribute_broker, "taken", cannot_look)
    elif lacks == "a kernel that asks":
        monkeypatch.setattr("loopx_host.adapters.process.seccomp.install_asking", too_old)
    elif lacks == "a poll":
        monkeypatch.setattr(attribute_broker, "is_there", lambda: False)
    else:
        monkeypatch.setattr(landlock, "TRUNCATE_SINCE", 99)

    ended = attempted_at(None if lacks == "landlock" else Level("contained", is_demanded=True))

    row = zoo.rows(ended.containment)["file_attributes"]
    assert (row["value"], row["enforced"]) == ("none", True)
    assert ended.exit_code == 1
    assert b"OSError" in ended.stderr or b"PermissionError" in ended.stderr
