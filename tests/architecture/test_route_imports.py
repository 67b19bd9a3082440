"""What each route may import: a list of dear modules it never does, and pinned counts that may only fall.

`route_imports.json` holds the pins. `own` is the number of modules of loopx itself, the same on every Python;
`all` counts the standard library too, on the Pythons it was counted on, and is null where a library of somebody
else's decides it. `allowed` names what a route that serves authors may import of the deny-list. Lowering a pin
belongs in the change that earned it.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.route_imports import bare, imported, imported_again, imported_with, install

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
    allowed = row.get("allowed", ())
    denied = [name for name in (*fixture["denied"], *row["denied"]) if name not in allowed]
    problems = [f"{route} imports {name}" for name in sorted(modules) if any(_is_part(name, one) for one in denied)]
    ours = own(modules)
    if ours > row["own"]:
        problems.append(f"{route} imports {ours} modules of loopx, {ours - row['own']} more than it may")
    if ours < row["own"]:
        problems.append(f"{route} imports {ours} modules of loopx now: lower its pin")
    if row["all"] is not None and PYTHON in fixture["counted_on"] and len(modules) > row["all"]:
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
        fill = {
            "STATE": str(state),
            "REQUEST": str(request),
            "MANIFEST": str(manifests[0]),
            "NEW": str(place / "new"),
        }
        yield {route: [fill.get(word, word) for word in row["words"]] for route, row in FIXTURE["routes"].items()}


@pytest.mark.parametrize("route", ROUTES)
def test_a_route_imports_what_it_may_and_no_more(route: str, words: dict[str, list[str]]) -> None:
    assert route_problems(route, imported(words[route]), FIXTURE) == []


def test_a_bare_interpreter_hides_no_dear_module() -> None:
    assert [name for name in bare() if any(_is_part(name, one) for one in FIXTURE["denied"])] == []


@pytest.mark.parametrize("route", ROUTES)
def test_a_dear_import_in_the_package_is_seen_on_every_route(route: str, words: dict[str, list[str]]) -> None:
    modules = imported_with({PACKAGE: "import typing, pathlib, asyncio"}, words[route])

    allowed = FIXTURE["routes"][route].get("allowed", ())
    dear = {f"{route} imports {name}" for name in ("typing", "pathlib", "asyncio") if name not in allowed}
    assert f"{route} imports asyncio" in dear
    assert dear <= set(route_problems(route, modules, FIXTURE))


@pytest.mark.parametrize(
    ("route", "module", "dear"),
    [
        ("--version", "entrypoint", "argparse"),
        ("--help", "cli.help", "json"),
        ("leaf --help", "cli.leaf", "subprocess"),
        ("extension list", "lifecycle.extensions.listing", "argparse"),
        ("extension show", "lifecycle.extensions.listing", "subprocess"),
        ("extension run", "lifecycle.dispatch.run", "hashlib"),
    ],
)
def test_a_dear_import_on_its_way_is_seen(route: str, module: str, dear: str, words: dict[str, list[str]]) -> None:
    modules = imported_with({f"{PACKAGE}.{module}": f"import {dear}"}, words[route])

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


COUNTS = (0, 20, 1000)
# In every route of the contract that a plugin could slow down.
WATCHED = ("--version", "--help", "extension list")


@pytest.fixture(scope="module")
def crowds(tmp_path_factory: pytest.TempPathFactory) -> dict[int, Path]:
    """Return folders with many distributions, each of which advertises an extension, a plugin and a command."""
    made: dict[int, Path] = {}
    for count in COUNTS:
        site = made[count] = tmp_path_factory.mktemp(f"crowd-{count}")
        for number in range(count):
            info = site / f"crowd_{number}-1.0.dist-info"
            info.mkdir()
            (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: crowd-{number}\nVersion: 1.0\n", "utf-8")
            groups = ("loopx.extensions", "loopx.plugins", "loopx.commands", "console_scripts")
            lines = [f"[{group}]\ncrowd-{number} = crowd_{number}" for group in groups]
            (info / "entry_points.txt").write_text("\n".join(lines), "utf-8")
            (info / "RECORD").write_text("", "utf-8")
    return made


@pytest.mark.req("B8")
@pytest.mark.parametrize("route", WATCHED)
def test_what_is_installed_beside_it_changes_no_import(
    route: str, words: dict[str, list[str]], crowds: dict[int, Path]
) -> None:
    paths = {count: f"import sys; sys.path.append({str(crowd)!r})" for count, crowd in crowds.items()}

    modules = {count: imported_again({PACKAGE: path}, words[route]) for count, path in paths.items()}

    assert [count for count in COUNTS if modules[count] != modules[0]] == []
    assert modules[0] == imported(words[route])


@pytest.mark.req("B8")
def test_the_crowd_is_really_there(words: dict[str, list[str]], crowds: dict[int, Path]) -> None:
    read = f"import sys, importlib.metadata; sys.path.append({str(crowds[20])!r})"
    found = f"{read}; assert sum(d.name.startswith('crowd-') for d in importlib.metadata.distributions()) == 20"

    modules = imported_with({PACKAGE: found}, words["--version"])

    assert "--version imports importlib.metadata" in route_problems("--version", modules, FIXTURE)
