"""`capability list` and `capability show`: who declares what, and how far each is from being usable.

Contract section 7; cases 107 to 110.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.lifecycle import words
from tests.support.packages import MARKING, Vane, manifest, write

EXIT_REFUSED = 2
CAPABILITY = """
[[provides]]
id = "{id}"
kind = "report"
title = "A report"
status = "available"
user_value = "shows something"
next_real_step = "use it"
visibility = "{visibility}"
real_world_anchor = "a place"
entry_command = "loopx capability show {id}"
"""
FACTS = ("declared", "installed", "enabled", "ready")


@pytest.fixture
def vane(tmp_path: Path) -> Vane:
    """An environment with a package that declares a public and an internal capability; nothing is installed."""
    made = Vane(tmp_path)
    top = CAPABILITY.format(id="weather", visibility="public") + CAPABILITY.format(
        id="pressure", visibility="internal"
    )
    write(made.manifest, manifest("vane", top=top, entrypoint=str(made.launcher)))
    return made


def listed(vane: Vane, *flags: str) -> list[dict[str, Any]]:
    answer = vane("capability", "list", *flags)
    assert answer.status == 0, answer
    return of_vane(answer.document["capabilities"])


def of_vane(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the rows of this package: the release train has rows of its own, there or not."""
    return [row for row in rows if row["provider_id"] == "vane"]


def facts(row: dict[str, Any]) -> str:
    """Return the four facts as letters: declared, installed, enabled, ready."""
    return "/".join("T" if row["provider_state"][fact] else "F" for fact in FACTS)


def stand(vane: Vane, state: str) -> None:
    """Bring the provider into a state."""
    if state == "declared":
        return
    vane.proved()
    if state == "disabled":
        vane("extension", "disable", "vane", "--execute")
    if state == "stale":
        write(vane.packages / "vane/cli.py", "# changed\n")
    if state == "gone":
        vane.launcher.unlink()


@pytest.mark.req("M077")
@pytest.mark.parametrize(
    ("state", "expected", "reason"),
    [
        ("declared", "T/F/F/F", "extension_not_installed"),
        ("disabled", "T/T/F/F", "extension_disabled"),
        ("stale", "T/T/T/F", "readiness_stale"),
        ("gone", "T/T/T/F", "entrypoint_missing"),
        ("ready", "T/T/T/T", None),
    ],
)
def test_a_capability_says_how_far_it_is_from_being_usable(
    vane: Vane, state: str, expected: str, reason: str | None
) -> None:
    """catalog_declared_only, catalog_disabled / catalog_stale (cases 107, 108)"""
    stand(vane, state)
    flags = ("--extension-manifest", str(vane.manifest))

    (row,) = listed(vane, *flags)
    shown = vane("capability", "show", "weather", *flags).document["capability"]

    assert (row["id"], facts(row), row["reason"]) == ("weather", expected, reason)
    assert (facts(shown), shown["reason"]) == (expected, reason)
    assert (row["next_command"] is None) is (reason is None)


@pytest.mark.req("M077")
@pytest.mark.parametrize("state", ["declared", "disabled", "stale"])
def test_the_command_of_a_capability_leads_on(vane: Vane, state: str) -> None:
    stand(vane, state)
    (row,) = listed(vane, "--extension-manifest", str(vane.manifest))

    answer = vane(*words(row["next_command"]), options=False)

    assert answer.status == 0, answer


@pytest.mark.req("M077")
def test_installed_but_not_ready_is_not_the_same_as_not_installed(vane: Vane) -> None:
    flags = ("--extension-manifest", str(vane.manifest))
    (absent,) = listed(vane, *flags)
    stand(vane, "stale")

    (stale,) = listed(vane, *flags)

    assert (absent["reason"], stale["reason"]) == ("extension_not_installed", "readiness_stale")
    assert absent["next_command"] != stale["next_command"]


def test_without_naming_its_manifest_a_package_that_is_not_installed_declares_nothing(vane: Vane) -> None:
    assert listed(vane) == []


def test_declaring_reads_the_manifest_and_runs_nothing(vane: Vane) -> None:
    """catalog_declared_only (case 107); discovery_imports_nothing (case 72)"""
    mark = vane.root / "mark"
    write(vane.packages / "vane/__init__.py", MARKING.format(mark=str(mark)))
    write(vane.launcher, f"#!/bin/sh\n: > {mark}\n")

    listed(vane, "--extension-manifest", str(vane.manifest))

    assert not mark.exists()
    assert not vane.state_file.exists()


def test_an_internal_capability_is_neither_listed_nor_shown(vane: Vane) -> None:
    """catalog_internal_hidden (case 109)"""
    stand(vane, "ready")

    rows, shown = listed(vane), vane("capability", "show", "pressure")

    assert [row["id"] for row in rows] == ["weather"]
    assert (shown.status, shown.code) == (EXIT_REFUSED, "capability_not_found")


@pytest.mark.parametrize("name", ["unheard-of", "../weather", "Weather", "\udcff"], ids=ascii)
def test_an_unknown_capability_is_refused(vane: Vane, name: str) -> None:
    """catalog_unknown_show (case 110)"""
    answer = vane("capability", "show", name)

    assert answer.status == EXIT_REFUSED
    assert b"Traceback" not in answer.stderr
    assert answer.code == "capability_not_found"


def test_a_bad_entry_is_named_and_hides_no_capability(vane: Vane) -> None:
    stand(vane, "ready")
    state = json.loads(vane.state_file.read_bytes())
    state["extensions"]["broken"] = {"id": "broken"}
    vane.state_file.write_bytes(json.dumps(state).encode())

    document = vane("capability", "list").document

    assert [row["id"] for row in of_vane(document["capabilities"])] == ["weather"]
    assert [row["id"] for row in document["invalid"]] == ["broken"]
