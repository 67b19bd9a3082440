"""What is installed in one environment, made again in another: real wheels, other paths (row B12)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.lifecycle import ROOT, build_wheel
from tests.support.train_hosts import Host

pytestmark = pytest.mark.timeout(300)

DECLARES, IMPLEMENTS, BOUND = (
    "loopx-capability-periodic-report",
    "loopx-sink-directory",
    "loopx-capability-repo-health",
)
BIND = ("capability", "bind", "repo-health", "--goal-id", "g1", "--operation", "inspect", "--execute")


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    out = tmp_path_factory.mktemp("wheels")
    sources = {"core": ROOT, **{name: ROOT / "plugins" / name for name in (DECLARES, IMPLEMENTS, BOUND)}}
    return {name: build_wheel(source, out) for name, source in sources.items()}


@pytest.fixture(scope="module")
def here(wheels: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Host:
    """An environment in which everything is installed, trusted and bound, one of it disabled."""
    host = Host(tmp_path_factory.mktemp("here"), list(wheels.values()))
    for name in (DECLARES, IMPLEMENTS, BOUND):
        assert host("extension", "install", name, "--execute").status == 0
    assert host(*BIND).status == 0
    assert host("extension", "disable", IMPLEMENTS, "--execute").status == 0
    return host


@pytest.fixture(scope="module")
def export(here: Host) -> bytes:
    """The export of it, in an order in which nothing could be installed one after the other."""
    document = here("extension", "export").document
    document["extensions"].sort(key=lambda row: row["id"] != IMPLEMENTS)
    return json.dumps(document).encode()


def fixed(host: Host) -> list[Any]:
    """Return what makes two sets of extensions and bindings the same."""
    document = host("extension", "export").document
    rows = [
        {key: row[key] for key in ("id", "revision", "digest", "enabled", "distribution")}
        for row in document["extensions"]
    ]
    return [rows, document["bindings"]]


def by_id(document: dict[str, Any]) -> dict[str, Any]:
    return {row["id"]: row for row in document["extensions"]}


@pytest.mark.req("B12", "B5")
def test_the_same_set_is_made_in_an_environment_at_another_path(
    here: Host, export: bytes, wheels: dict[str, Path], tmp_path: Path
) -> None:
    there = Host(tmp_path / "another/place", list(wheels.values()))

    preview = there("extension", "restore", "-", stdin=export)
    plan = preview.document["plan"]
    answer = there("extension", "restore", "-", "--execute", "--plan", plan, stdin=export)

    assert {row["status"] for row in preview.document["extensions"]} == {"would_install"}
    assert [row["status"] for row in preview.document["bindings"]] == ["would_bind"]
    assert (answer.status, answer.document["complete"], answer.document["plan"]) == (0, True, plan), answer
    order = [row["id"] for row in answer.document["extensions"]]
    assert order.index(DECLARES) < order.index(IMPLEMENTS)
    assert fixed(there) == fixed(here)


@pytest.mark.req("B12")
def test_what_is_missing_is_named_exactly_and_the_rest_is_restored_when_it_is_there(
    export: bytes, wheels: dict[str, Path], tmp_path: Path
) -> None:
    there = Host(tmp_path / "there", [wheels["core"], wheels[BOUND]])

    answer = there("extension", "restore", "-", "--execute", stdin=export)

    rows = by_id(answer.document)
    assert (answer.status, answer.document["ok"], answer.document["complete"]) == (1, False, False)
    assert rows[BOUND]["status"] == "installed"
    assert [row["status"] for row in answer.document["bindings"]] == ["bound"]
    for name in (DECLARES, IMPLEMENTS):
        owner = rows[name]["distribution"]
        assert (rows[name]["status"], rows[name]["code"]) == ("refused", "package_not_installed")
        assert (owner["name"], rows[name]["found"]) == (name, None)
        assert rows[name]["install_package"].endswith(f"{name}=={owner['version']}")
    assert [row["id"] for row in there.rows()] == [BOUND]
