"""Goal bindings as a document: one per goal and capability, kept in order, and a damaged file is never guessed at."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopx_host.documents import bindings as document
from loopx_host.documents.binding import binding as binding_of
from loopx_host.lifecycle.goals.bindings import Bindings, binding_digest
from tests.support.fakes import code_of

if TYPE_CHECKING:
    from loopx_host.documents.binding import Binding

WHERE = "/made/up/bindings.json"
NAMES = st.text("ab1", min_size=1, max_size=3)
MADE = st.builds(
    lambda goal, capability, operations, revision: binding_of(
        goal, capability, operations, extension_id="probe-me", revision=revision, profile_digest="d"
    ),
    NAMES,
    NAMES,
    st.lists(NAMES, min_size=1, max_size=3),
    NAMES,
)


def binding(goal: str = "g1", capability: str = "weather", **fields: Any) -> Binding:
    made = binding_of(
        goal, capability, ["inspect"], extension_id="probe-me", revision="0" * 16, profile_digest="sha256:1"
    )
    return {**made, **fields}  # type: ignore[typeddict-item]


def stored(*rows: object, **fields: Any) -> bytes:
    return json.dumps({"schema_version": document.ID, "bindings": list(rows), **fields}).encode()


def parse(data: bytes | None) -> Bindings:
    return Bindings.parse(data, WHERE)


def test_a_binding_has_the_v0_names_and_nesting() -> None:
    made = binding_of("g1", "weather", ["b", "a", "b"], extension_id="x", revision="r", profile_digest="d")

    assert made == {
        "schema_version": "loopx_goal_external_capability_binding_v0",
        "goal_id": "g1",
        "capability_id": "weather",
        "operations": ["a", "b"],
        "provider": {"extension_id": "x", "revision": "r", "profile_digest": "d"},
    }


def test_no_file_holds_no_binding() -> None:
    assert parse(None).find("g1", "weather") is None


@given(st.lists(MADE, max_size=6))
def test_the_last_binding_of_a_goal_and_capability_counts_and_every_other_is_kept(rows: list[Binding]) -> None:
    data: bytes | None = None
    for row in rows:
        data = parse(data).with_binding(row)

    last = {(row["goal_id"], row["capability_id"]): row for row in rows}
    assert {key: parse(data).find(*key) for key in last} == last
    assert data is None or len(json.loads(data)["bindings"]) == len(last)


@given(st.lists(MADE, unique_by=lambda row: (row["goal_id"], row["capability_id"]), max_size=5), st.randoms())
def test_the_file_does_not_depend_on_the_order_of_binding(rows: list[Binding], random: Any) -> None:
    def file(given: list[Binding]) -> bytes | None:
        data: bytes | None = None
        for row in given:
            data = parse(data).with_binding(row)
        return data

    shuffled = random.sample(rows, len(rows))

    assert file(rows) == file(shuffled)


@given(st.lists(MADE, min_size=1, max_size=5))
def test_taking_a_binding_away_leaves_every_other(rows: list[Binding]) -> None:
    data: bytes | None = None
    for row in rows:
        data = parse(data).with_binding(row)
    goal, capability = rows[0]["goal_id"], rows[0]["capability_id"]

    left = parse(parse(data).without(goal, capability))

    others = {(row["goal_id"], row["capability_id"]): row for row in rows} | {(goal, capability): None}
    assert {key: left.find(*key) for key in others} == others


@given(MADE, MADE)
def test_two_bindings_have_one_digest_only_when_they_are_the_same(first: Binding, second: Binding) -> None:
    assert (binding_digest(first) == binding_digest(second)) == (first == second)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"{",
        b"[]",
        b"{}",
        b'{"bindings": []}',
        stored(schema_version="loopx_goal_external_capability_bindings_v1"),
        stored(bindings=None),
        stored(None),
        stored({}),
        stored({**binding(), "more": 1}),
        stored(binding(schema_version="loopx_goal_external_capability_binding_v1")),
        stored(binding(goal_id=None)),
        stored(binding(capability_id=1)),
        stored(binding(operations="inspect")),
        stored(binding(operations=[1])),
        stored(binding(provider=None)),
        stored(binding(provider={"extension_id": "probe-me"})),
        stored(binding(provider={**binding()["provider"], "more": "x"})),
        stored(binding(provider={**binding()["provider"], "revision": 1})),
        stored(binding(), binding(operations=["destroy"])),
        b"\xff",
        b"[" * 5000,
    ],
    ids=range(22),
)
def test_a_damaged_file_is_refused_and_never_guessed_at(data: bytes) -> None:
    assert code_of(lambda: parse(data)) == "bindings_damaged"
