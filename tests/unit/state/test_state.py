"""The activation state as a value: parsed without trust, changed one entry at a time, written in one form."""

from __future__ import annotations

import json
from typing import Any

import hypothesis.strategies as st
import pytest
from hypothesis import given

from loopx_host.lifecycle.extensions.preconditions import refuse_capability_clash
from loopx_host.lifecycle.extensions.readiness import readiness, why_not_ready
from loopx_host.lifecycle.extensions.state import BadEntry, Entry, State
from loopx_host.lifecycle.goals.export import export
from tests.support.fakes import World, code_of
from tests.support.manifests import load_document, minimal, revision_of

ID = "probe-me"
# What makes a manifest hold rows of every kind.
ROWS = """
[[provides]]
id = "finding-notes"
kind = "notes"
title = "Notes"
status = "active"
user_value = "Find notes."
next_real_step = "Look."
visibility = "internal"
[[implements]]
capability_id = "finding-notes"
protocol = "test_v0"
"""


def document(**entry: object) -> dict[str, Any]:
    return World().holding(ID, **entry).store.document  # type: ignore[arg-type]


def parsed(value: object) -> State:
    return State.parse(json.dumps(value).encode(), "/made/up/state.json")


def test_no_file_is_the_empty_state() -> None:
    assert State.parse(None, "x").entries() == []


def test_the_empty_file_is_damage() -> None:
    assert code_of(lambda: State.parse(b"", "x")) == "state_damaged"


def test_a_whole_state_survives_being_read_and_written() -> None:
    value = document(x_unknown={"kept": [1, 2.5, None, "ü"]})

    assert json.loads(parsed(value).to_bytes()) == value


def test_the_written_form_is_sorted_and_ends_with_one_line_feed() -> None:
    data = parsed(document()).to_bytes()

    assert data == json.dumps(json.loads(data), indent=2, sort_keys=True, ensure_ascii=False).encode() + b"\n"


def test_another_entry_is_not_touched_by_a_change() -> None:
    value = document()
    value["extensions"]["bad"] = ["kept as it is", 1e300, {}]

    state = parsed(value).with_entry({"id": "third"}).without_entry(ID)  # type: ignore[typeddict-item]

    assert state.document["extensions"] == {"bad": ["kept as it is", 1e300, {}], "third": {"id": "third"}}


@pytest.mark.parametrize("manifest", ["text", [], None, 7])
def test_a_manifest_that_is_no_object_is_a_bad_entry_and_no_crash(manifest: object) -> None:
    value = document()
    value["extensions"][ID]["revisions"][0]["manifest"] = manifest

    (entry,) = parsed(value).entries()

    assert isinstance(entry, BadEntry)
    assert entry.code == "state_entry_invalid"


def test_a_state_is_never_changed_in_place() -> None:
    state = parsed(document())
    before = state.to_bytes()

    state.with_entry({"id": "other"})  # type: ignore[typeddict-item]
    state.without_entry(ID)

    assert state.to_bytes() == before


def test_any_change_of_an_entry_changes_its_token() -> None:
    tokens = {parsed(document(**fields)).token(ID) for fields in ({}, {"enabled": False}, {"x": 1}, {"history": [1]})}

    assert len(tokens) == 4
    assert parsed(document()).token("nobody") is None


def test_the_order_of_keys_is_no_change() -> None:
    value = document()
    turned = {**value, "extensions": {ID: dict(reversed(value["extensions"][ID].items()))}}

    assert parsed(turned).token(ID) == parsed(value).token(ID)


def test_schemas_are_dropped_only_when_every_entry_can_be_read() -> None:
    value = document()
    whole = parsed(value).replacement().referred
    value["extensions"]["bad"] = None

    assert (whole, parsed(value).replacement().referred) == (frozenset(), None)


@pytest.mark.parametrize("path", ["relative/extension.toml", "", 7, None, ["/x"]])
def test_a_folder_is_known_only_from_an_absolute_path(path: object) -> None:
    value = document()
    value["extensions"][ID]["revisions"][0]["manifest_path"] = path

    assert parsed(value).entry(ID).active.folder is None


@pytest.mark.parametrize("proof", [None, [], "x", {}, {"groups": []}, {"groups": {}}])
def test_a_proof_of_another_shape_proves_nothing(proof: object) -> None:
    assert parsed(document(proof=proof)).entry(ID).proof is None


ANOTHER = load_document(minimal())
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 10**6) | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=4,
)


def places(value: object, path: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    """Return the path of every value inside `value`."""
    found = [path] if path else []
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in pairs:
        found += places(item, (*path, key))
    return found


@given(data=st.data(), replacement=JSON, drop=st.booleans())
def test_whatever_one_value_is_replaced_by_the_entry_is_whole_or_bad_and_never_a_crash(
    data: st.DataObject, replacement: object, *, drop: bool
) -> None:
    entry = World().holding(ID, top=ROWS, runtime='env = ["TOKEN"]').store.document["extensions"][ID]
    entry["revisions"][0]["distribution"] = {"name": "provider", "version": "1.0"}
    *way, last = data.draw(st.sampled_from(places(entry)))
    inside: Any = entry
    for key in way:
        inside = inside[key]
    if drop and isinstance(inside, dict):
        del inside[last]
    else:
        inside[last] = replacement
    # The edit may be a careful one that gives the manifest its right revision.
    revisions = entry.get("revisions")
    for revision in revisions if isinstance(revisions, list) else []:
        if isinstance(revision, dict) and "manifest" in revision:
            right = revision_of(revision["manifest"])
            if entry.get("active_revision") == revision.get("revision"):
                entry["active_revision"] = right
            revision["revision"] = right
    world = World()
    world.store.data = json.dumps({"schema_version": "loopx_extension_state_v0", "extensions": {ID: entry}}).encode()

    state = State.parse(world.store.read(), "x")
    (found,) = state.entries()

    export(world)
    refuse_capability_clash(ANOTHER, state, frozenset())
    state.replacement()
    if isinstance(found, BadEntry):
        assert found.code in {"state_entry_invalid", "state_integrity"}
    else:
        assert isinstance(found, Entry)
        verdict = readiness(found, World().packages)
        assert verdict.is_ready or why_not_ready(verdict).code == verdict.verdict
        owner = found.active.raw.get("distribution")
        assert owner is None or World().packages.pip_command(owner)


@pytest.mark.parametrize("field", ["active_revision", "rollback_revision"])
@pytest.mark.parametrize("number", ["f" * 16, 7, [], True])
def test_an_entry_that_names_a_revision_it_does_not_hold_is_bad(field: str, number: object) -> None:
    (entry,) = parsed(document(**{field: number})).entries()

    assert isinstance(entry, BadEntry)
    assert entry.code == "state_entry_invalid"
