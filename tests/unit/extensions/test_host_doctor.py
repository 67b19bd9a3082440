"""The verb `doctor` of the host over ports in memory: one row per trouble, and when the whole is not well."""

from __future__ import annotations

from typing import Any

import pytest

from loopx_host.lifecycle.extensions.host_doctor import host_doctor
from tests.support.fakes import NOW, PLATFORM, PROGRAM, World

REACH: Any = {"default": "contained", "highest": "namespaced", "reasons": []}
ROW = {"status": "ok", "code": None, "next_command": None}


def asked(world: World, **reach: Any) -> Any:
    reached: Any = {**REACH, **reach}
    world.containment_probe.reached = reached
    return host_doctor(world)


def rows(document: Any, check: str) -> list[Any]:
    return [row for row in document["checks"] if row["check"] == check]


def test_an_environment_that_is_well_has_a_row_for_each_thing_looked_at() -> None:
    world = World().holding()

    document = asked(world)

    assert document == {
        "ok": True,
        "schema_version": "loopx_doctor_v0",
        "platform": PLATFORM,
        "state_file": world.store.location,
        "containment": REACH,
        "checks": document["checks"],
    }
    shown = [(row["check"], row["subject"]) for row in document["checks"]]
    assert shown == [
        ("activation_state", world.store.location),
        ("extension", "probe-me"),
        ("containment", "contained"),
        ("index", "/made/up/index.json"),
    ]
    assert all({**row, **ROW} == row for row in document["checks"])
    assert NOW in rows(document, "extension")[0]["summary"]
    assert "1" in rows(document, "activation_state")[0]["summary"]
    assert "fresh" in rows(document, "index")[0]["summary"]
    assert world.processes.launches == []


def test_a_damaged_state_file_is_an_error_that_leads_to_repair() -> None:
    world = World()
    world.store.data = b"{"

    document = asked(world)

    (row,) = rows(document, "activation_state")
    assert (document["ok"], row["status"], row["code"]) == (False, "error", "state_damaged")
    assert (row["subject"], row["next_command"]) == (world.store.location, ("extension", "repair", "--execute"))


def test_a_bad_entry_is_an_error_of_its_own_and_the_others_are_still_looked_at() -> None:
    document = asked(World().holding().holding("bad", enabled=1))

    bad, good = rows(document, "extension")
    assert (document["ok"], bad["status"], bad["code"]) == (False, "error", "state_entry_invalid")
    assert (good["subject"], good["status"]) == ("probe-me", "ok")


def test_a_disabled_extension_is_not_unhealthy() -> None:
    """Extension-formats, *Exit status, special cases*."""
    document = asked(World().holding(enabled=False, proof=None))

    (row,) = rows(document, "extension")
    assert (document["ok"], row["status"], row["code"]) == (True, "ok", "extension_disabled")
    assert row["next_command"] == ("extension", "enable", "probe-me", "--execute")


def test_a_stale_extension_is_an_error_that_leads_to_its_doctor() -> None:
    world = World().holding()
    world.packages.programs[PROGRAM] = "second"

    document = asked(world)

    (row,) = rows(document, "extension")
    assert (document["ok"], row["status"], row["code"]) == (False, "error", "readiness_stale")
    assert row["next_command"] == ("extension", "doctor", "probe-me", "--execute")
    assert "install_package" not in row


@pytest.mark.parametrize("owner", [{"name": "provider", "version": "1.0"}, None])
def test_a_launcher_that_is_gone_is_an_error_with_the_command_that_brings_its_package(
    owner: dict[str, str] | None,
) -> None:
    world = World().holding(pinned={"distribution": owner})
    world.packages.programs.clear()

    (row,) = rows(asked(world), "extension")

    assert (row["status"], row["code"]) == ("error", "entrypoint_missing")
    assert row.get("install_package") == ("pip install provider==1.0" if owner else None)


def test_a_prerequisite_that_lacks_is_the_row_of_its_extension() -> None:
    world = World().holding(runtime='[runtime.requires]\nnode = ">=24"\n')

    document = asked(world)

    (row,) = rows(document, "prerequisite")
    assert (document["ok"], row["status"], row["code"]) == (False, "error", "node_unavailable")
    assert (row["subject"], rows(document, "extension")) == ("probe-me", [])


def test_a_prerequisite_is_not_started_for_its_version() -> None:
    world = World().holding(runtime='[runtime.requires]\nnode = ">=24"\n')
    world.packages.prerequisites = {"node": ("/opt/node/bin/node", "22.0.0")}

    assert rows(asked(world), "prerequisite") == []


@pytest.mark.parametrize(
    ("level", "status", "code"),
    [
        ("namespaced", "ok", None),
        ("contained", "ok", None),
        ("limits", "warning", "containment_below_default"),
        ("process", "warning", "containment_below_default"),
    ],
)
def test_runs_below_the_default_of_the_platform_are_a_warning(level: str, status: str, code: str | None) -> None:
    document = asked(World(), default=level, reasons=["no landlock"])

    (row,) = rows(document, "containment")
    assert (document["ok"], row["status"], row["code"], row["subject"]) == (True, status, code, level)
    assert "no landlock" in row["summary"]


def test_an_offer_that_cannot_be_used_is_a_warning_that_leads_to_discover() -> None:
    world = World()
    world.discovery.rows = [
        world.discovery.row("sound"),
        world.discovery.row("bad", state="broken", code="id_mismatch", reason="another id"),
        world.discovery.row(None, state="broken", code="metadata", reason="no text", location="/made/up/odd"),
    ]

    document = asked(world)

    assert document["ok"] is True
    assert rows(document, "offer") == [
        {
            "check": "offer",
            "status": "warning",
            "code": "id_mismatch",
            "subject": "bad",
            "summary": "another id",
            "next_command": ("extension", "discover"),
        },
        {
            "check": "offer",
            "status": "warning",
            "code": "metadata",
            "subject": "/made/up/odd",
            "summary": "no text",
            "next_command": ("extension", "discover"),
        },
    ]
    assert "3 extensions" in rows(document, "index")[0]["summary"]


def test_what_else_is_odd_about_the_environment_is_a_warning() -> None:
    world = World()
    finding: Any = {"check": "startup", "code": "pth_executes", "subject": "/site/a.pth", "summary": "it runs code"}
    world.discovery.found = [finding]

    document = asked(world)

    assert document["ok"] is True
    assert rows(document, "startup") == [{**finding, "status": "warning", "next_command": None}]
