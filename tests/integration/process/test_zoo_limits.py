"""A row of the containment that says `enforced` holds, and one that does not say so does not (B4)."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from loopx_host.adapters.process import memory_group
from tests.support import refuse_syscalls, zoo
from tests.support.zoo import C, Grounds, Guest, Keeper

pytestmark = [
    pytest.mark.req("B4"),
    pytest.mark.skipif(sys.platform != "linux", reason="these limits are Linux'"),
]
LIMITED = ("limits", *zoo.FENCED)
BOUNDS = ("timeout_seconds", "stdout_bytes", "stderr_bytes")
ROWS = {
    *BOUNDS,
    *("core_file_bytes", "open_files", "cpu_seconds", "file_size_mb", "processes"),
    *("network", "file_writes", "file_attributes", "file_reads", "signals", "tracing", "new_privileges"),
}
MECHANISMS = tuple(refuse_syscalls.REFUSALS)
needs_filter = pytest.mark.skipif(not refuse_syscalls.is_supported(), reason="the call numbers are not known")


@pytest.fixture(scope="module")
def grounds() -> Iterator[Grounds]:
    with zoo.grounds() as made:
        yield made


@pytest.fixture
def mark() -> Iterator[str]:
    made = zoo.new_mark()
    yield made
    zoo.exterminate(made)


class Hogs:
    """Runs one animal at one level as one person, with given limits."""

    def __init__(self, grounds: Grounds, mark: str, level: str, who: str) -> None:
        self._argv = grounds.argv(C, who)
        self._keeper = grounds.keeper("port", C, level, who)
        self._mark = mark
        self.is_root = grounds.person(who).is_root

    def result(self, animal: str, upto: int, **limits: Any) -> dict[str, Any]:
        request = {"animal": animal, "upto": str(upto)}
        return self._keeper.run(argv=self._argv, reads=self._argv, mark=self._mark, request=request, limits=limits)

    def run(self, animal: str, upto: int = 0, **limits: Any) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
        result = self.result(animal, upto, **limits)
        return zoo.said(result), zoo.rows(result["containment"])


@pytest.fixture
def hogs(grounds: Grounds, mark: str, request: pytest.FixtureRequest) -> Hogs:
    level, who = request.param
    return Hogs(grounds, mark, level, who)


def at(*levels: str) -> pytest.MarkDecorator:
    made = [(level, who) for level in levels for who in zoo.people()]
    return pytest.mark.parametrize("hogs", made, indirect=True, ids=[f"{level}-{who}" for level, who in made])


@at(*zoo.RUNGS)
@pytest.mark.parametrize(
    ("animal", "row", "limit", "bound", "upto"),
    [
        ("memory_hog", "memory_mb", "memory_mb", 64, 200),
        ("fd_hog", "open_files", "open_files", 32, 200),
        ("disk_hog", "file_size_mb", "file_size_mb", 1, 8),
    ],
)
def test_a_hog_is_stopped_exactly_where_its_row_says_so(
    hogs: Hogs, animal: str, row: str, limit: str, bound: int, upto: int
) -> None:
    answer, table = hogs.run(animal, upto, **{limit: bound})

    assert table[row]["value"] == bound
    assert (answer["taken"] <= bound) is table[row]["enforced"]
    assert answer["taken"] > 0


@at(*LIMITED)
def test_every_resource_row_is_enforced_from_the_limits_rung_on(hogs: Hogs) -> None:
    _, table = hogs.run("limits", memory_mb=128)

    resources = ("core_file_bytes", "open_files", "memory_mb", "cpu_seconds", "file_size_mb")
    assert {name: table[name]["enforced"] for name in resources} == dict.fromkeys(resources, True)
    assert {name for name in resources if table[name]["by"] != "rlimit"} <= {"memory_mb"}
    assert table["memory_mb"]["by"] in ("rlimit", "cgroup")


@at(*LIMITED)
@pytest.mark.parametrize("reserves", [False, True])
@pytest.mark.parametrize(("animal", "kind"), [("shared_hog", "shared"), ("memfd_hog", "memfd")])
def test_memory_that_no_process_maps_for_itself_is_counted_or_said_not_to_be(
    hogs: Hogs, animal: str, kind: str, reserves: bool
) -> None:
    result = hogs.result(animal, 300, memory_mb=64, reserves_memory=reserves)

    row = zoo.rows(result["containment"])["memory_mb"]
    # Where a group ends what holds too much, it may be the provider.
    is_bounded = result["signal"] == "SIGKILL" or zoo.said(result)["taken"] <= 64
    assert is_bounded is (kind not in row.get("not_counted", []))
    assert (row["enforced"], row["value"]) == (True, 64)
    assert row["by"] == "rlimit" or "not_counted" not in row


@at(*LIMITED)
def test_a_group_for_memory_is_gone_after_the_run(hogs: Hogs) -> None:
    hogs.run("limits", memory_mb=64)

    assert memory_groups() == []


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can surely make a group")
@pytest.mark.skipif(not any(os.access(place, os.W_OK) for place, _ in memory_group.parents()), reason="no group here")
@pytest.mark.parametrize("level", LIMITED)
def test_root_bounds_the_memory_of_the_whole_run(grounds: Grounds, mark: str, level: str) -> None:
    answer, table = Hogs(grounds, mark, level, "root").run("shared_hog", 300, memory_mb=64)

    assert (table["memory_mb"]["enforced"], table["memory_mb"]["by"]) == (True, "cgroup")
    assert 0 < answer["taken"] <= 64


def memory_groups() -> list[str]:
    """Return the groups of runs that are there and have no process in them."""
    return [
        path.name
        for parent, _ in memory_group.parents()
        for path in Path(parent).glob("loopx-*")
        if not (path / "cgroup.procs").read_text(encoding="ascii").split()
    ]


@at(*LIMITED)
def test_the_limits_of_the_provider_are_those_of_the_rows(hogs: Hogs) -> None:
    answer, table = hogs.run("limits", open_files=77, file_size_mb=3)

    for name, row, unit in (
        ("core", "core_file_bytes", 1),
        ("nofile", "open_files", 1),
        ("cpu", "cpu_seconds", 1),
        ("fsize", "file_size_mb", 1 << 20),
    ):
        assert answer[name] == answer[f"{name}_hard"] == table[row]["value"] * unit, row


@at(*LIMITED)
def test_a_crash_leaves_no_core_file(hogs: Hogs) -> None:
    answer, _ = hogs.run("core_dumper")

    assert (answer["aborted"], answer["dumped"]) == (1, 0)


@at(*zoo.FENCED)
def test_no_provider_raises_its_limits_again(hogs: Hogs) -> None:
    answer, _ = hogs.run("limit_raiser")

    assert (answer["raised"], answer["raised_core"]) == (0, 0)


@at(*LIMITED)
def test_processes_are_bounded_where_the_row_says_so_and_nowhere_else(hogs: Hogs) -> None:
    bound = hogs.run("limits")[1]["processes"]["value"]

    answer, table = hogs.run("process_hog", bound + 100)

    assert table["processes"]["enforced"] is not hogs.is_root
    assert (answer["taken"] <= table["processes"]["value"]) is table["processes"]["enforced"]


@at(*zoo.RUNGS)
def test_every_level_has_the_same_rows(hogs: Hogs) -> None:
    _, table = hogs.run("limits")

    assert set(table) == ROWS
    assert [row for row in table.values() if (row["by"] == "nothing") is row["enforced"]] == []


@at(*zoo.RUNGS)
def test_the_supervisor_holds_deadline_and_output_at_every_level(hogs: Hogs) -> None:
    """B4: they are bounds of a run like any other, whoever runs it."""
    _, table = hogs.run("limits", timeout_seconds=9)

    assert [table[name]["value"] for name in BOUNDS] == [9, 1_000_000, 1_000_000]
    assert {(table[name]["enforced"], table[name]["by"]) for name in BOUNDS} == {(True, "supervisor")}


@at("contained+no-new-session")
def test_the_option_adds_its_row(hogs: Hogs) -> None:
    _, table = hogs.run("limits")

    assert table["sessions"]["enforced"] is True


class Poorer:
    """The command line of a person on a kernel that lacks something, with a provider that writes if it is started."""

    def __init__(self, grounds: Grounds, mark: str, folder: Path, who: str, *mechanisms: str) -> None:
        owner = grounds.person(who)
        self.mark = mark
        self.place = zoo.outside(folder, owner)
        self.through = refuse_syscalls.without(owner.python, *mechanisms)
        home = folder / "home-of-guest"
        home.mkdir()
        self.guest = Guest(owner.own(home), owner)
        self.guest.house(grounds.animals(C, who))
        self.guest.through = self.through

    def run(self, level: str = "", animal: str = "plain_writer") -> Any:
        env = {"ZOO_MARK": self.mark, **({"LOOPX_CONTAINMENT": level} if level else {})}
        return self.guest.run("zoo", {"animal": animal, "place": str(self.place)}, env=env)


@pytest.fixture
def poorer(grounds: Grounds, mark: str, request: pytest.FixtureRequest) -> Iterator[Poorer]:
    who, *mechanisms = request.param
    with zoo.ground(grounds.person(who)) as folder:
        yield Poorer(grounds, mark, folder, who, *mechanisms)


def lacking(*cases: tuple[str, ...], names: str = "poorer") -> pytest.MarkDecorator:
    made = [(who, *mechanisms) for mechanisms in cases for who in zoo.people()]
    return pytest.mark.parametrize(names, made, indirect=True, ids=["-".join(one) for one in made])


@needs_filter
@lacking(("landlock",), ("seccomp",), ("landlock", "seccomp", "user_namespaces"))
def test_a_default_run_without_a_mechanism_succeeds_and_says_so(
    poorer: Poorer, request: pytest.FixtureRequest
) -> None:
    lacks = request.node.callspec.params["poorer"][1:]

    answer = poorer.run(animal="limits")

    containment = answer.document["containment"]
    table = zoo.rows(containment)
    held_by = {
        "landlock": ("file_writes", "file_reads", "signals"),
        "seccomp": ("network", "file_attributes"),
        "user_namespaces": (),
    }
    lost = {row for mechanism in lacks for row in held_by[mechanism]}
    assert answer.status == 0
    assert containment["rung"] == "limits"
    assert {name for name in lost if table[name]["enforced"] or table[name]["by"] != "nothing"} == set()
    assert table["new_privileges"]["enforced"] is True
    assert (containment["survivors"], containment["proof"]) == (0, "no_child_left")


@needs_filter
@lacking(("user_namespaces",))
def test_a_default_run_without_user_namespaces_is_contained(poorer: Poorer) -> None:
    answer = poorer.run(animal="limits")

    assert (answer.status, answer.document["containment"]["rung"]) == (0, "contained")


@needs_filter
@lacking(("landlock",), ("seccomp",))
def test_what_is_not_enforced_is_really_not_enforced(poorer: Poorer, request: pytest.FixtureRequest) -> None:
    """The animal that the missing mechanism would have kept in gets out."""
    missing = request.node.callspec.params["poorer"][1]

    answer = poorer.run(animal="plain_writer" if missing == "landlock" else "caller")

    escaped = zoo.managed(answer.document["provider_result"])
    assert ("create" if missing == "landlock" else "netlink") in escaped


@needs_filter
@pytest.mark.parametrize("level", ["contained", "namespaced", "contained+no-new-session"])
@lacking(("landlock",), ("seccomp",), ("landlock", "seccomp", "user_namespaces"))
def test_a_demanded_level_that_cannot_be_had_is_refused_before_the_provider_starts(
    poorer: Poorer, level: str
) -> None:
    before = zoo.snapshot(poorer.place)

    answer = poorer.run(level)

    assert (answer.status, answer.code) == (2, "containment_unavailable")
    assert zoo.snapshot(poorer.place) == before
    assert zoo.living(poorer.mark) == []


@needs_filter
@lacking(("user_namespaces",))
def test_namespaces_that_cannot_be_had_are_refused_before_the_provider_starts(poorer: Poorer) -> None:
    answer = poorer.run("namespaced", animal="limits")

    assert (answer.status, answer.code) == (2, "containment_unavailable")
    assert zoo.living(poorer.mark) == []


@needs_filter
@pytest.mark.parametrize("level", ["process", "limits"])
@lacking(("landlock", "seccomp", "user_namespaces"))
def test_a_level_that_needs_nothing_special_can_be_demanded_anywhere(poorer: Poorer, level: str) -> None:
    answer = poorer.run(level)

    assert (answer.status, answer.document["containment"]["rung"]) == (0, level)


@needs_filter
@lacking(("landlock",), ("seccomp",))
def test_an_embedding_program_is_refused_a_level_that_cannot_be_had(poorer: Poorer) -> None:
    guest = poorer.guest
    before = zoo.snapshot(poorer.place)
    env = {**guest.env, "ZOO_STATE": str(guest.state_file)}
    keeper = Keeper("host", "contained", guest.owner, env, through=poorer.through)
    request = {"animal": "plain_writer", "place": str(poorer.place)}

    answer = keeper.run(extension="zoo", mark=poorer.mark, request=request)

    keeper.close()
    assert answer["refused"]["code"] == "containment_unavailable"
    assert zoo.snapshot(poorer.place) == before


@pytest.mark.parametrize("who", zoo.people())
def test_the_bounds_of_a_manifest_hold_on_the_command_line(grounds: Grounds, mark: str, who: str) -> None:
    owner = grounds.person(who)
    with zoo.ground(owner) as folder:
        guest = Guest(folder, owner)
        guest.house(grounds.animals(C, who), memory_limit_mb=64, open_files_limit=40)

        memory = guest.run("zoo", {"animal": "memory_hog", "upto": "200"}, env={"ZOO_MARK": mark})
        files = guest.run("zoo", {"animal": "fd_hog", "upto": "200"}, env={"ZOO_MARK": mark})

    for answer, name, bound in ((memory, "memory_mb", 64), (files, "open_files", 40)):
        row = zoo.rows(answer.document["containment"])[name]
        assert (row["value"], row["enforced"]) == (bound, True)
        assert row["by"] in (("rlimit", "cgroup") if name == "memory_mb" else ("rlimit",))
        assert answer.document["provider_result"]["taken"] <= bound


@pytest.mark.skipif(os.geteuid() != 0, reason="only root is excepted from the bound on processes")
def test_the_bound_on_processes_says_that_it_does_not_hold_for_root(grounds: Grounds, mark: str) -> None:
    answer = grounds.guest(C, "root").run("zoo", {"animal": "limits"}, env={"ZOO_MARK": mark})

    row = zoo.rows(answer.document["containment"])["processes"]
    assert (row["enforced"], row["by"]) == (False, "nothing")
