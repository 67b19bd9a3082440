"""A goal is bound once, for its owner alone, by the plan of its preview, and unbound without the package."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.capabilities import (
    Station,
)
from tests.support.cli import Answer
from tests.support.lifecycle import tree, words

EXIT_FAILED, EXIT_REFUSED = 1, 2


@pytest.fixture
def station(tmp_path: Path) -> Station:
    """An environment with one installed extension that serves the capability `weather`; no goal is bound."""
    return Station(tmp_path).served()


def refused(answer: Answer, code: str) -> dict[str, Any]:
    assert (answer.status, answer.code) == (EXIT_REFUSED, code), answer
    return answer.document


def bindings(station: Station) -> bytes | None:
    found = [path for path in station.root.rglob("bindings.json") if path.is_file()]
    return found[0].read_bytes() if found else None


def follow(station: Station, document: dict[str, Any]) -> Answer:
    """Run the command that a refusal suggests."""
    suggested = [word for word in words(document["next_command"]) if word not in ("--format", "json")]
    cut = suggested.index("--state-file")
    return station(*suggested[:cut], *suggested[cut + 2 :])


def test_a_preview_of_a_binding_leaves_every_file_as_it_was(station: Station) -> None:
    """bind_preview_execute_repeat (case 112)"""
    station.bind()
    before = tree(station.root, without=("home/cache",))

    answer = station.bind()

    assert (answer.document["status"], answer.document["written"]) == ("ready", False)
    assert tree(station.root, without=("home/cache",)) == before
    assert bindings(station) is None


def test_a_binding_is_written_once_and_a_repeat_leaves_it_untouched(station: Station) -> None:
    """bind_preview_execute_repeat (case 112)"""
    first = station.bind("--execute").document
    before = bindings(station)

    again = station.bind("--execute").document

    assert (first["status"], again["status"], again["changed"]) == ("written", "no_change", False)
    assert bindings(station) == before
    assert json.loads(before or b"")["bindings"] == [first["binding"]]


def test_the_binding_is_kept_for_its_owner_alone(station: Station) -> None:
    command = ("capability", "bind", "weather", "--goal-id", "g1", "--operation", "inspect", "--execute")
    assert station(*command, umask=0).status == 0

    (path,) = [one for one in station.root.rglob("bindings.json") if one.is_file()]
    assert (path.stat().st_mode & 0o777, path.parent.stat().st_mode & 0o777) == (0o600, 0o700)


def test_a_plan_binds_the_execution_to_its_preview(station: Station) -> None:
    plan = station.bind().document["plan"]

    other = station.bind("--execute", "--plan", "sha256:" + "0" * 64)
    done = station.bind("--execute", "--plan", plan)

    refused(other, "plan_changed")
    assert done.document["status"] == "written"


def test_the_command_a_preview_suggests_writes_the_binding(station: Station) -> None:
    preview = station.bind().document

    done = follow(station, preview)

    assert done.document["status"] == "written"


def test_unbinding_takes_it_away_and_needs_no_package(station: Station) -> None:
    station.bound()
    for path in station.site.iterdir():
        path.rename(station.root / path.name)

    preview = station("capability", "unbind", "weather", "--goal-id", "g1")
    done = station("capability", "unbind", "weather", "--goal-id", "g1", "--execute")
    again = station("capability", "unbind", "weather", "--goal-id", "g1", "--execute")

    assert (preview.document["status"], done.document["status"]) == ("ready", "removed")
    refused(again, "binding_missing")
