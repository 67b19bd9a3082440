"""The `changes` block of a switch: version, permissions, and the runtime fields that differ."""

from __future__ import annotations

from loopx_host.lifecycle.extensions.differences import added_permissions, differences
from tests.support.manifests import load_document, minimal

OLD = load_document({**minimal(args=["a"], timeout_seconds=5), "permissions": ["a.one", "a.two"]})
NEW = load_document({**minimal(args=["b"], env=["TOKEN"]), "version": "2.0", "permissions": ["a.two", "b", "a.zero"]})


def test_nothing_differs_from_itself() -> None:
    assert differences(OLD, OLD) == {
        "version": {"from": "1.0", "to": "1.0"},
        "permissions": {"added": [], "removed": []},
        "runtime": {},
    }


def test_added_permissions_stand_in_the_order_of_the_new_manifest() -> None:
    assert added_permissions(OLD, NEW) == ["b", "a.zero"]


def test_what_differs_is_shown_from_and_to() -> None:
    assert differences(OLD, NEW) == {
        "version": {"from": "1.0", "to": "2.0"},
        "permissions": {"added": ["b", "a.zero"], "removed": ["a.one"]},
        "runtime": {
            "args": {"from": ["a"], "to": ["b"]},
            "env": {"from": None, "to": ["TOKEN"]},
            "timeout_seconds": {"from": 5, "to": 30},
        },
    }


def test_the_way_back_is_the_way_there_turned_round() -> None:
    there, back = differences(OLD, NEW), differences(NEW, OLD)

    assert back["permissions"] == {"added": ["a.one"], "removed": ["b", "a.zero"]}
    assert back["runtime"] == {
        field: {"from": one["to"], "to": one["from"]} for field, one in there["runtime"].items()
    }


def test_a_manifest_without_a_runtime_differs_in_every_field() -> None:
    surface = {
        "id": "notes", "kind": "k", "title": "Notes", "status": "active", "user_value": "Find.",
        "next_real_step": "Go.", "visibility": "internal",
    }  # fmt: skip
    document = {key: value for key, value in minimal().items() if key != "runtime"} | {"provides": [surface]}

    changed = differences(load_document(document), load_document(minimal()))["runtime"]

    assert changed["protocol"] == {"from": None, "to": "sample_v0"}
