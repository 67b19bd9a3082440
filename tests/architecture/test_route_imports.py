"""What each route may import: a list of dear modules it never does, and pinned counts that may only fall.

`route_imports.json` holds the pins. `own` is the number of modules of loopx itself, the same on every Python;
`all` counts the standard library too, on the Pythons it was counted on. Lowering one belongs in the change that
earned it.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.route_imports import bare, imported, install

FIXTURE: dict[str, Any] = json.loads(Path(__file__).with_name("route_imports.json").read_text("utf-8"))
ROUTES = tuple(FIXTURE["routes"])

PYTHON = f"{sys.version_info[0]}.{sys.version_info[1]}"
PACKAGE = "loopx_host"
INSTALLED = 10
MANIFEST = """\
schema_version = "loopx_extension_manifest_v0"
id = "sample-{number}"
version = "0.1.0"
requires_loopx_api = ">=1,<2"

[runtime]
protocol = "sample_v0"
entrypoint = "./provider"
doctor_args = ["--doctor"]
"""


def route_problems(route: str, modules: set[str], fixture: dict[str, Any]) -> list[str]:
    """Return the denied modules of a route and the pins its counts do not keep."""
    row = fixture["routes"][route]
    denied = [*fixture["denied"], *row["denied"]]
    problems = [f"{route} imports {name}" for name in sorted(modules) if any(_is_part(name, one) for one in denied)]
    ours = own(modules)
    if ours > row["own"]:
        problems.append(f"{route} imports {ours} modules of loopx, {ours - row['own']} more than it may")
    if ours < row["own"]:
        problems.append(f"{route} imports {ours} modules of loopx now: lower its pin")
    if PYTHON in fixture["counted_on"] and len(modules) > row["all"]:
        problems.append(f"{route} imports {len(modules)} modules, {len(modules) - row['all']} more than it may")
    return problems


def own(modules: set[str]) -> int:
    """Return how many of the modules are loopx itself."""
    return sum(_is_part(name, PACKAGE) for name in modules)


def _is_part(name: str, package: str) -> bool:
    return name == package or name.startswith(f"{package}.")


@pytest.fixture(scope="module")
def words(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, list[str]]]:
    """Return the command line of every route, over a state with ten installed extensions."""
    place = tmp_path_factory.mktemp("routes")
    provider = place / "provider"
    provider.write_text("#!/bin/sh\necho '{}'\n", encoding="utf-8")
    provider.chmod(0o755)
    request = place / "request.json"
    request.write_text("{}", encoding="utf-8")
    state = place / "state.json"
    manifests = [place / f"extension-{number}.toml" for number in range(INSTALLED)]
    for number, manifest in enumerate(manifests):
        manifest.write_text(MANIFEST.format(number=number), encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(place / "cache"))
        install(state, manifests)
        fill = {"STATE": str(state), "REQUEST": str(request)}
        yield {route: [fill.get(word, word) for word in row["words"]] for route, row in FIXTURE["routes"].items()}


@pytest.mark.parametrize("route", ROUTES)
def test_a_route_imports_what_it_may_and_no_more(route: str, words: dict[str, list[str]]) -> None:
    assert route_problems(route, imported(words[route]), FIXTURE) == []


def test_a_bare_interpreter_hides_no_dear_module() -> None:
    assert [name for name in bare() if any(_is_part(name, one) for one in FIXTURE["denied"])] == []


@pytest.mark.parametrize("route", ROUTES)
def test_a_dear_import_in_the_package_is_seen_on_every_route(route: str, words: dict[str, list[str]]) -> None:
    modules = imported(words[route], plant={PACKAGE: "import typing, pathlib"})

    assert {f"{route} imports typing", f"{route} imports pathlib"} <= set(route_problems(route, modules, FIXTURE))


@pytest.mark.parametrize(
    ("route", "module", "dear"),
    [
        ("--version", "entrypoint", "argparse"),
        ("--help", "cli.top_help", "json"),
        ("leaf --help", "cli.leaf", "subprocess"),
        ("extension list", "lifecycle.verbs.listing", "argparse"),
        ("extension show", "lifecycle.verbs.listing", "subprocess"),
        ("extension run", "lifecycle.verbs.run", "hashlib"),
    ],
)
def test_a_dear_import_on_its_way_is_seen(route: str, module: str, dear: str, words: dict[str, list[str]]) -> None:
    modules = imported(words[route], plant={f"{PACKAGE}.{module}": f"import {dear}"})

    assert f"{route} imports {dear}" in route_problems(route, modules, FIXTURE)


@pytest.mark.parametrize("route", ROUTES)
def test_a_module_more_breaks_both_counts(route: str, words: dict[str, list[str]]) -> None:
    modules = imported(words[route])
    row = FIXTURE["routes"][route]
    exact = {**FIXTURE, "routes": {route: {**row, "own": own(modules), "all": len(modules)}}, "counted_on": [PYTHON]}

    problems = route_problems(route, {*modules, f"{PACKAGE}.core.extra"}, exact)

    assert route_problems(route, modules, exact) == []
    assert [problem.rpartition(", ")[2] for problem in problems] == ["1 more than it may"] * 2


def test_a_module_less_must_lower_the_pin() -> None:
    pinned = FIXTURE["routes"]["--version"]["own"]
    fewer = {f"{PACKAGE}.m{number}" for number in range(pinned - 1)}

    problems = route_problems("--version", fewer, FIXTURE)

    assert problems == [f"--version imports {pinned - 1} modules of loopx now: lower its pin"]
