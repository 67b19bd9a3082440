"""What of a package may run inside the host, as its entry pinned it, and the list of commands that help shows."""

from __future__ import annotations

from typing import Any

import pytest

from loopx_host.lifecycle.extensions.activation import Activation, active_commands, refresh_command_list
from loopx_host.lifecycle.extensions.state import State
from tests.support.fakes import World

OWNER = {"name": "provider", "version": "1.0"}
HOOKS = [{"name": "probe-me", "value": "made_up.hooks"}]
COMMANDS = [{"name": "roar", "value": "made_up:roar"}]


def activation(**pinned: Any) -> Activation:
    return Activation.of(World().holding(pinned=pinned).entry())


def test_an_activation_is_what_the_active_revision_pinned() -> None:
    made = activation(distribution=OWNER, plugins=HOOKS, commands=COMMANDS)

    assert (made.extension_id, made.distribution) == ("probe-me", OWNER)
    assert (made.plugins, made.commands, made.is_empty) == (HOOKS, COMMANDS, False)


@pytest.mark.parametrize(
    ("pinned", "is_empty"),
    [
        ({}, True),
        ({"plugins": HOOKS}, False),
        ({"commands": COMMANDS}, False),
        ({"plugins": [], "commands": []}, True),
    ],
)
def test_what_pinned_nothing_brings_nothing(pinned: dict[str, Any], is_empty: bool) -> None:
    assert activation(**pinned).is_empty is is_empty


@pytest.mark.parametrize(
    "row",
    ["roar", None, [], {"name": "roar"}, {"value": "x"}, {"name": 1, "value": "x"}, {"name": "roar", "value": 1}],
)
def test_a_row_of_another_shape_is_left_out(row: object) -> None:
    assert activation(commands=[row, {**COMMANDS[0], "more": 1}]).commands == COMMANDS


@pytest.mark.parametrize("rows", ["roar", None, {"name": "roar", "value": "x"}])
def test_rows_that_are_no_list_are_none(rows: object) -> None:
    assert activation(commands=rows).commands == []


def with_commands() -> World:
    world = World().holding("on", pinned={"commands": COMMANDS})
    world.holding("off", enabled=False, pinned={"commands": [{"name": "whistle", "value": "x"}]})
    return world.holding("bad", enabled=1)


def test_the_commands_that_are_on_are_those_of_enabled_extensions() -> None:
    world = with_commands()

    assert active_commands(State.parse(world.store.data, "/made/up")) == {"roar"}


class MemoryCommandList:
    """Notes what is marked as on."""

    def __init__(self) -> None:
        self.marked: list[set[str]] = []

    def read(self) -> list[list[str]] | None:
        return None

    def mark(self, active: set[str]) -> None:
        self.marked.append(active)


class Ports:
    """A store, and the list of commands beside it."""

    def __init__(self, world: World) -> None:
        self.store = world.store
        self.command_list = MemoryCommandList()


def test_the_list_of_commands_is_brought_in_line_with_what_is_on() -> None:
    ports = Ports(with_commands())

    refresh_command_list(ports)

    assert ports.command_list.marked == [{"roar"}]


def test_a_damaged_state_leaves_the_list_as_it_is() -> None:
    world = World()
    world.store.data = b"{"
    ports = Ports(world)

    refresh_command_list(ports)

    assert ports.command_list.marked == []
