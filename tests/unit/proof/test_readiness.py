"""One verdict per entry (contract section 5, *Readiness*)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from loopx_host.lifecycle.extensions.readiness import readiness
from tests.support.fakes import PROGRAM, World


def verdict(world: World) -> tuple[str, list[str]]:
    found = readiness(world.entry(), world.packages)
    return found.verdict, found.changed


def test_an_enabled_extension_that_is_as_it_was_proved_is_ready() -> None:
    world = World().holding()

    found = readiness(world.entry(), world.packages)

    assert (found.verdict, found.is_ready, found.changed) == ("ready", True, [])


def change_program(world: World) -> None:
    world.packages.programs[PROGRAM] = "second"


def change_interpreter(world: World) -> None:
    world.packages.interpreter = "another"


def change_platform(world: World) -> None:
    world.packages.machine = "another-machine"


@pytest.mark.parametrize(
    ("change", "named"),
    [(change_program, "launcher"), (change_interpreter, "interpreter"), (change_platform, "platform")],
)
def test_a_change_since_the_proof_is_stale_and_named(change: Callable[[World], None], named: str) -> None:
    world = World().holding()

    change(world)

    assert verdict(world) == ("readiness_stale", [named])


def test_a_proof_for_another_host_api_is_stale() -> None:
    world = World().holding()
    proof = {**world.raw()["proof"], "host_api": 2}

    assert verdict(World().holding(proof=proof)) == ("readiness_stale", ["host_api"])


def test_a_program_changed_back_is_ready_again() -> None:
    world = World().holding()
    change_program(world)
    world.packages.programs[PROGRAM] = "first"

    assert verdict(world) == ("ready", [])


def test_a_program_that_is_gone_is_a_missing_entrypoint() -> None:
    world = World().holding()
    del world.packages.programs[PROGRAM]

    assert verdict(world)[0] == "entrypoint_missing"


def test_a_disabled_extension_is_disabled_whatever_its_proof_says() -> None:
    assert verdict(World().holding(enabled=False))[0] == "extension_disabled"


@pytest.mark.parametrize(
    "fields",
    [
        {"proof": None},
        {"proof": "yes"},
        {"doctor_verified_revision": None},
        {"doctor_verified_revision": "0123456789abcdef"},
        {"doctor_verified_entrypoint_identity": None},
        {"doctor_verified_entrypoint_identity": "0" * 64},
    ],
    ids=repr,
)
def test_a_proof_that_is_absent_or_disagrees_with_the_v0_fields_needs_a_doctor(fields: dict[str, Any]) -> None:
    """A v0 tool may have written the two fields since (extension-formats, *State additions*)."""
    assert verdict(World().holding(**fields))[0] == "doctor_required"


def test_a_proof_of_another_revision_needs_a_doctor() -> None:
    proof = {**World().holding().raw()["proof"], "revision": "0123456789abcdef"}

    world = World().holding(proof=proof, doctor_verified_revision="0123456789abcdef")

    assert verdict(world)[0] == "doctor_required"


def test_an_entry_without_a_pinned_launcher_needs_a_doctor() -> None:
    """An entry of a v0 tool has none."""
    raw = World().holding().raw()
    revisions = [{key: value for key, value in raw["revisions"][0].items() if key != "launcher"}]

    assert verdict(World().holding(revisions=revisions))[0] == "doctor_required"


@pytest.mark.parametrize(
    "groups", [{}, {"launcher": "first"}, {"launcher": "first", "interpreter": "python", "x": "y"}]
)
def test_a_proof_whose_groups_are_not_those_of_now_is_stale(groups: dict[str, str]) -> None:
    proof = {**World().holding().raw()["proof"], "groups": groups}

    assert verdict(World().holding(proof=proof))[0] == "readiness_stale"


def test_an_identity_digest_that_its_groups_do_not_give_is_stale() -> None:
    proof = {**World().holding().raw()["proof"], "identity": "f" * 64}

    world = World().holding(proof=proof, doctor_verified_entrypoint_identity="f" * 64)

    assert verdict(world)[0] == "readiness_stale"
