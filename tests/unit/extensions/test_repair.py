"""The verb `repair` over a store in memory: what is damaged is moved out of the way and kept."""

from __future__ import annotations

from typing import Any

import pytest

from loopx_host.core.errors import Refused, refusal
from loopx_host.lifecycle.extensions.repair import RepairRequest, repair
from tests.support.fakes import NOW, World, code_of, refusal_of

COMMAND = ("extension", "repair", "--execute")


def mended(world: World, **settings: Any) -> Any:
    return repair(RepairRequest(**{"execute": True, **settings}), world)


def with_bad_entry() -> World:
    """Return a world with a whole entry and one that cannot be used."""
    return World().holding().holding("bad", enabled=1)


def test_a_bad_entry_is_taken_out_after_a_copy_was_kept() -> None:
    world = with_bad_entry()
    before, whole = world.store.data, world.raw()

    receipt = mended(world)

    assert receipt.pop("plan").startswith("sha256:")
    assert receipt == {
        "ok": True,
        "schema_version": "loopx_extension_repair_v0",
        "operation": "repair",
        "dry_run": False,
        "changed": True,
        "would_change": True,
        "state_file": world.store.location,
        "damaged": [
            {
                "id": "bad",
                "code": "state_entry_invalid",
                "reason": "does not carry its own id and an enabled bit",
            }
        ],
        "kept_as": f"{world.store.location}.damaged-{next(iter(world.store.kept_aside))}",
        "next_command": None,
        "at": NOW,
    }
    assert list(world.store.kept_aside.values()) == [before]
    assert world.store.document["extensions"] == {"probe-me": whole}


def test_the_schemas_of_what_is_taken_out_stay() -> None:
    world = with_bad_entry()
    world.store.schemas = {"0" * 64: b"{}"}

    mended(world)

    assert world.store.schemas == {"0" * 64: b"{}"}


def test_a_preview_of_repairing_says_what_is_damaged_and_changes_nothing() -> None:
    world = with_bad_entry()
    before = world.store.data

    preview = mended(world, execute=False)

    assert (preview["dry_run"], preview["changed"], preview["would_change"]) == (True, False, True)
    assert [row["id"] for row in preview["damaged"]] == ["bad"]
    assert (preview["kept_as"], preview["next_command"]) == (None, COMMAND)
    assert (world.store.data, world.store.kept_aside) == (before, {})
    assert mended(world, plan=preview["plan"])["changed"] is True


@pytest.mark.parametrize("execute", [True, False])
def test_where_all_is_whole_nothing_is_done(execute: bool) -> None:
    world = World().holding()
    before = world.store.data

    receipt = mended(world, execute=execute)

    assert (receipt["changed"], receipt["would_change"], receipt["damaged"]) == (False, False, [])
    assert (receipt["kept_as"], receipt["next_command"]) == (None, None)
    assert (world.store.data, world.store.kept_aside) == (before, {})


def test_a_file_that_is_no_state_is_moved_aside_as_a_whole() -> None:
    world = World()
    world.store.data = b"{"

    receipt = mended(world)

    (row,) = receipt["damaged"]
    assert (row["id"], row["code"]) == (None, "state_damaged")
    assert world.store.location in row["reason"]
    assert (receipt["changed"], receipt["would_change"], receipt["dry_run"]) == (True, True, False)
    assert receipt["kept_as"] == f"{world.store.location}.damaged-00000000"
    assert (receipt["at"], receipt["next_command"]) == (NOW, None)
    assert world.store.kept_aside == {"00000000": b"{"}
    assert world.store.read() is None


def test_a_preview_leaves_a_file_that_is_no_state_where_it_is() -> None:
    world = World()
    world.store.data = b"{"

    preview = mended(world, execute=False)

    assert (preview["changed"], preview["kept_as"], preview["next_command"]) == (False, None, COMMAND)
    assert (world.store.data, world.store.kept_aside) == (b"{", {})


def test_a_file_that_was_mended_meanwhile_stays() -> None:
    """It is asked again under the lock."""
    world, whole = World(), World().holding().store.data
    reads = iter([b"{", whole])
    world.store.data = b"{"
    world.store.read = lambda: next(reads, whole)  # type: ignore[method-assign]

    receipt = mended(world)

    assert (receipt["changed"], receipt["kept_as"]) == (False, None)


def test_entries_that_were_mended_meanwhile_stay() -> None:
    world = with_bad_entry()
    world.store.meanwhile = lambda: world.holding("bad")

    receipt = mended(world)

    assert receipt["kept_as"] is None
    assert world.raw("bad")["enabled"] is True


def unsafe() -> Refused:
    return refusal("state_unsafe", "/made/up/state.json", "it is no file", hint="move it")


def test_what_is_no_damage_is_refused_as_it_is() -> None:
    world = World()

    def read() -> bytes:
        raise unsafe()

    world.store.read = read  # type: ignore[method-assign]

    assert code_of(lambda: mended(world)) == "state_unsafe"


def test_another_plan_is_refused_with_the_present_one_and_its_preview() -> None:
    world = with_bad_entry()
    before = world.store.data
    plan = mended(world, execute=False)["plan"]

    refusal = refusal_of(lambda: mended(world, plan="sha256:0"))

    assert (refusal.code, refusal.blocks["plan"]) == ("plan_changed", plan)
    assert refusal.diagnostic.next_command == ("extension", "repair")
    assert world.store.data == before


def test_the_plan_of_a_repair_is_what_it_takes_out() -> None:
    world = with_bad_entry()
    plan = mended(world, execute=False)["plan"]
    world.holding("worse", enabled=1)

    assert mended(world, execute=False)["plan"] != plan
