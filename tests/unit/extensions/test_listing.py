"""The verbs `list` and `show` over ports in memory: the state with its readiness now, and the way on from there."""

from __future__ import annotations

from typing import Any

import pytest

from loopx_host.lifecycle.extensions.listing import list_extensions, show
from loopx_host.lifecycle.extensions.readiness import readiness, why_not_ready
from tests.support.fakes import NOW, PROGRAM, World, code_of

DOCTOR = ("extension", "doctor", "probe-me", "--execute")


def row_of(world: World) -> Any:
    (row,) = list_extensions(world)["extensions"]
    return row


def test_no_state_is_an_empty_list() -> None:
    assert list_extensions(World()) == {
        "ok": True,
        "schema_version": "loopx_extension_state_v0",
        "extensions": [],
    }


def test_a_ready_extension_is_one_row() -> None:
    world = World().holding(runtime='env = ["TOKEN"]')

    assert row_of(world) == {
        "id": "probe-me",
        "enabled": True,
        "active_revision": world.raw()["active_revision"],
        "rollback_available": False,
        "doctor_verified": True,
        "revision_count": 1,
        "version": "1.0",
        "ready": True,
        "reason": None,
        "changed": [],
        "changed_details": [],
        "last_failure": None,
        "env": ["TOKEN"],
        "next_command": None,
    }
    assert world.processes.launches == []


def test_a_revision_to_return_to_is_shown() -> None:
    world = World().holding()
    revision = world.raw()["active_revision"]

    assert row_of(World().holding(rollback_revision=revision))["rollback_available"] is True


def test_a_bad_entry_is_a_row_that_leads_to_repair_and_spoils_no_other() -> None:
    world = World().holding().holding("bad", enabled=1)

    bad, good = list_extensions(world)["extensions"]

    assert good["ready"] is True
    assert bad == {
        "id": "bad",
        "enabled": False,
        "active_revision": None,
        "rollback_available": False,
        "doctor_verified": False,
        "revision_count": 0,
        "version": None,
        "ready": False,
        "reason": "state_entry_invalid",
        "changed": [],
        "changed_details": [],
        "last_failure": None,
        "env": [],
        "next_command": ("extension", "repair", "--execute"),
    }


def replaced(world: World) -> None:
    world.packages.programs[PROGRAM] = "second"


def gone(world: World) -> None:
    world.packages.programs.clear()


@pytest.mark.parametrize(
    ("reason", "entry", "change", "command"),
    [
        ("extension_disabled", {"enabled": False}, None, ("extension", "enable", "probe-me", "--execute")),
        ("doctor_required", {"proof": None}, None, DOCTOR),
        ("entrypoint_missing", {}, gone, DOCTOR),
        ("readiness_stale", {}, replaced, DOCTOR),
    ],
)
def test_what_is_not_ready_says_why_and_which_command_helps(
    reason: str, entry: dict[str, Any], change: Any, command: tuple[str, ...]
) -> None:
    """Contract section 5, *Readiness*: `list` says what changed and which command repairs it."""
    world = World().holding(**entry)
    if change is not None:
        change(world)

    row = row_of(world)

    assert (row["ready"], row["doctor_verified"], row["reason"]) == (False, False, reason)
    assert row["next_command"] == command
    assert row["changed"] == (["launcher"] if reason == "readiness_stale" else [])


@pytest.mark.parametrize(
    ("pinned", "command"),
    [
        ({"source": "manifest"}, ("extension", "upgrade", "--manifest", "/made/up/extension.toml", "--execute")),
        ({"source": "discovered"}, ("extension", "upgrade", "probe-me", "--execute")),
        ({"manifest_path": None}, ("extension", "upgrade", "probe-me", "--execute")),
    ],
)
def test_a_manifest_that_changed_leads_to_an_upgrade_the_way_it_was_found(
    pinned: dict[str, Any], command: tuple[str, ...]
) -> None:
    """A doctor would prove the old manifest once more."""
    world = World().holding(pinned=pinned)
    replaced(world)
    world.packages.explained = ["site/extension.toml (changed)", "site/code.py (changed)"]

    row = row_of(world)

    assert row["changed_details"] == world.packages.explained
    assert row["next_command"] == command


def test_a_file_that_only_ends_like_a_manifest_s_folder_leads_to_the_doctor() -> None:
    world = World().holding()
    replaced(world)
    world.packages.explained = ["site/code.py (was extension.toml)"]

    assert row_of(world)["next_command"] == DOCTOR


def test_show_is_the_row_with_everything_the_state_knows() -> None:
    world = World().holding(top='permissions = ["net.connect"]', history=[{"at": NOW}])
    raw = world.raw()
    (revision,) = raw["revisions"]

    document = show("probe-me", world)

    assert document == {
        "ok": True,
        "schema_version": "loopx_extension_detail_v0",
        **row_of(world),
        "permissions": ["net.connect"],
        "launcher": {"kind": "entrypoint", "path": PROGRAM},
        "proof": raw["proof"],
        "manifest": revision["manifest"],
        "revisions": [
            {key: revision[key] for key in ("revision", "version", "digest", "installed_at", "manifest_path")}
        ],
        "history": [{"at": NOW}],
    }


def test_show_of_an_entry_of_a_v0_tool_shows_what_is_there() -> None:
    raw = World().holding().raw()
    revisions = [{key: raw["revisions"][0][key] for key in ("revision", "version", "manifest")}]

    document = show("probe-me", World().holding(revisions=revisions, proof=None))

    assert (document["launcher"], document["proof"], document["history"]) == (None, None, [])
    assert document["revisions"][0]["digest"] is None


@pytest.mark.parametrize(
    ("code", "world"),
    [("extension_not_installed", World()), ("state_entry_invalid", World().holding(enabled=1))],
)
def test_show_of_what_cannot_be_read_is_refused(code: str, world: World) -> None:
    assert code_of(lambda: show("probe-me", world)) == code


def test_a_ready_extension_is_not_explained() -> None:
    """To explain is to read what is remembered; the hot path does not."""
    world = World().holding()
    world.packages.explained = ["never asked for"]

    assert row_of(world)["changed_details"] == []


@pytest.mark.parametrize(("owner", "named"), [({"name": "p", "version": "2"}, "p 2"), (None, "the program")])
def test_a_launcher_that_is_gone_is_told_with_what_to_put_back(owner: dict[str, str] | None, named: str) -> None:
    world = World().holding(pinned={"distribution": owner})
    gone(world)

    refused = why_not_ready(readiness(world.entry(), world.packages))

    assert PROGRAM in refused.diagnostic.summary
    assert named in str(refused.diagnostic.hint)
    assert "changed" not in refused.blocks


def test_a_stale_extension_carries_what_changed_as_evidence() -> None:
    world = World().holding()
    replaced(world)
    world.packages.explained = ["code.py"]

    refused = why_not_ready(readiness(world.entry(), world.packages))

    assert refused.blocks == {"changed": ["launcher"], "changed_details": ["code.py"]}
    assert "launcher (code.py)" in refused.diagnostic.summary
