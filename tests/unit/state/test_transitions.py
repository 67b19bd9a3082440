"""Which verb is possible in which state: the whole table, row by row (contract section 5)."""

from __future__ import annotations

import pytest

from loopx_host.lifecycle.extensions.state import State
from loopx_host.lifecycle.extensions.transitions import (
    ABSENT,
    DISABLED,
    ENABLED,
    enabled_after,
    installed_entry,
    starting_entry,
    state_of,
)
from tests.support.fakes import World, code_of, refusal_of

STATES = (ABSENT, ENABLED, DISABLED)
VERBS = ("install", "doctor", "enable", "disable", "upgrade", "rollback", "uninstall")
NEXT = {
    (ABSENT, "install"): ENABLED,
    (ENABLED, "doctor"): ENABLED,
    (ENABLED, "enable"): ENABLED,
    (DISABLED, "enable"): ENABLED,
    (ENABLED, "disable"): DISABLED,
    (DISABLED, "disable"): DISABLED,
    (ENABLED, "upgrade"): ENABLED,
    (DISABLED, "upgrade"): DISABLED,
    (ENABLED, "rollback"): ENABLED,
    (DISABLED, "rollback"): DISABLED,
    (ENABLED, "uninstall"): ABSENT,
    (DISABLED, "uninstall"): ABSENT,
}
REFUSED = {
    (ENABLED, "install"): "already_installed",
    (DISABLED, "install"): "already_installed",
    (DISABLED, "doctor"): "extension_disabled",
    **{(ABSENT, verb): "extension_not_installed" for verb in VERBS if verb != "install"},
}


def in_state(name: str) -> State:
    world = World()
    if name != ABSENT:
        world.holding(enabled=name == ENABLED)
    return State.parse(world.store.read(), world.store.location)


def test_every_verb_has_an_answer_in_every_state() -> None:
    assert NEXT.keys() | REFUSED.keys() == {(state, verb) for state in STATES for verb in VERBS}


@pytest.mark.parametrize(("state", "verb"), NEXT)
def test_a_verb_that_is_possible_starts_from_the_entry(state: str, verb: str) -> None:
    entry = starting_entry(in_state(state), "probe-me", verb)

    assert state_of(entry) == state
    assert enabled_after(entry, verb) == (NEXT[state, verb] == ENABLED)


@pytest.mark.parametrize(("state", "verb"), REFUSED)
def test_a_verb_that_is_not_possible_is_refused(state: str, verb: str) -> None:
    assert code_of(lambda: starting_entry(in_state(state), "probe-me", verb)) == REFUSED[state, verb]


@pytest.mark.parametrize("verb", [verb for verb in VERBS if verb != "install"])
def test_a_verb_about_an_entry_needs_one(verb: str) -> None:
    said = refusal_of(lambda: installed_entry(in_state(ABSENT), "probe-me", verb))

    assert (said.code, said.diagnostic.next_command) == ("extension_not_installed", ("extension", "list"))


@pytest.mark.parametrize("verb", VERBS)
def test_a_bad_entry_refuses_every_verb_with_its_own_code(verb: str) -> None:
    world = World().holding(revisions=[])

    state = State.parse(world.store.read(), world.store.location)

    assert code_of(lambda: starting_entry(state, "probe-me", verb)) == "state_entry_invalid"


def test_what_is_installed_already_leads_to_where_it_is_shown() -> None:
    said = refusal_of(lambda: starting_entry(in_state(ENABLED), "probe-me", "install"))

    assert said.diagnostic.next_command == ("extension", "show", "probe-me")
