"""What the kernel imports of capabilities, in core or in packages, is on a list that only shrinks.

A capability that stays in core is there for a kernel that calls it; one that nobody in the kernel calls belongs in a
package.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.project_files import ROOT, syntax

CORE, PLUGINS = ROOT / "loopx_host", ROOT / "plugins"
FIXTURE: dict[str, Any] = json.loads(Path(__file__).with_name("kernel_capability_imports.json").read_text("utf-8"))
SCHEMA = "loopx_kernel_capability_imports_v0"
CAPABILITIES = "loopx_host.capabilities"
CEILING = 0  # how long the list was when it began; it may be lowered and never raised
LOADERS = ("import_module", "__import__", "load_module", "resolve_name", "find_spec", "run_module")


def packaged(plugins: Path) -> set[str]:
    """Return the import packages that the distributions under plugins/ bring."""
    return {path.parent.name for path in plugins.glob("*/src/*/__init__.py")}


def inventory(core: Path, packages: set[str]) -> list[str]:
    """Return every import of a capability by the kernel, function bodies included, as ``path -> name``."""
    edges: set[str] = set()
    for source in sorted(core.rglob("*.py")):
        inside = source.relative_to(core.parent)
        if inside.parts[1] == "capabilities":
            continue
        package = list(inside.with_suffix("").parts[:-1])
        names = _imported(syntax(source), package)
        edges |= {f"{inside.as_posix()} -> {name}" for name in names if _is_capability(name, packages)}
    return sorted(edges)


def problems(core: Path, packages: set[str], fixture: dict[str, Any]) -> list[str]:
    """Return imports that are not on the list, rows of it without an import, and growth of the list."""
    if fixture.get("schema") != SCHEMA or set(fixture) != {"schema", "edges"}:
        return ["fixture: not the keys or the schema of the inventory"]
    found, listed = inventory(core, packages), fixture["edges"]
    said = [] if listed == sorted(set(listed)) else ["fixture: the edges are not sorted, each once"]
    said += ["fixture: longer than it was"] if len(listed) > CEILING else []
    said += [f"not listed: {edge}" for edge in found if edge not in listed]
    return said + [f"gone, remove it: {edge}" for edge in listed if edge not in found]


def uncalled(core: Path) -> list[str]:
    """Return the capabilities in core that nothing in the kernel imports."""
    folder = core / "capabilities"
    names = {path.stem for path in folder.glob("*.py")} | {path.parent.name for path in folder.glob("*/__init__.py")}
    called = [edge.partition(" -> ")[2] for edge in inventory(core, set())]
    prefixes = {name: f"{CAPABILITIES}.{name}" for name in sorted(names - {"__init__"})}
    return [
        name
        for name, prefix in prefixes.items()
        if not any(edge == prefix or edge.startswith(f"{prefix}.") for edge in called)
    ]


def _is_capability(name: str, packages: set[str]) -> bool:
    return name == CAPABILITIES or name.startswith(f"{CAPABILITIES}.") or name.split(".", maxsplit=1)[0] in packages


def _imported(tree: ast.AST, package: list[str]) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (one.name for one in node.names)
        elif isinstance(node, ast.ImportFrom):
            parts = package[: len(package) - node.level + 1] if node.level else []
            base = ".".join([*parts, *([node.module] if node.module else [])])
            yield from (f"{base}.{one.name}" for one in node.names)
        elif isinstance(node, ast.Call) and ast.unparse(node.func).rpartition(".")[2] in LOADERS:
            texts = (one.value for one in ast.walk(node) if isinstance(one, ast.Constant))
            yield from (text.replace(":", ".") for text in texts if isinstance(text, str))


@pytest.mark.req("M130", "S6")
def test_every_import_of_a_capability_by_the_kernel_is_listed() -> None:
    assert problems(CORE, packaged(PLUGINS), FIXTURE) == []


@pytest.mark.req("M047")
def test_every_capability_in_core_has_a_caller_in_the_kernel() -> None:
    assert uncalled(CORE) == []


def test_there_are_packages_to_look_for() -> None:
    assert {"loopx_repo_health", "loopx_pytest"} <= packaged(PLUGINS)


@pytest.fixture
def core(tmp_path: Path) -> Path:
    """A kernel with a capability in it that nobody imports yet."""
    made = tmp_path / "loopx_host"
    for folder in ("lifecycle", "capabilities"):
        (made / folder).mkdir(parents=True)
        (made / folder / "__init__.py").write_text("", "utf-8")
    (made / "capabilities/recall.py").write_text("from loopx_host.capabilities import other\n", "utf-8")
    return made


def listing(*edges: str) -> dict[str, Any]:
    return {"schema": SCHEMA, "edges": list(edges)}


@pytest.mark.req("M130")
@pytest.mark.parametrize(
    ("source", "name"),
    [
        ("import loopx_host.capabilities\n", "loopx_host.capabilities"),
        ("from loopx_host import capabilities\n", "loopx_host.capabilities"),
        ("from loopx_host.capabilities import recall\n", "loopx_host.capabilities.recall"),
        (
            "def f():\n    from loopx_host.capabilities.recall import search\n",
            "loopx_host.capabilities.recall.search",
        ),
        ("from ..capabilities import recall\n", "loopx_host.capabilities.recall"),
        ("from .. import capabilities\n", "loopx_host.capabilities"),
        ("import importlib\nimportlib.import_module('loopx_host.capabilities.recall')\n", f"{CAPABILITIES}.recall"),
        ("import some_package.index\n", "some_package.index"),
        ("from some_package import index\n", "some_package.index"),
        ("__import__('some_package')\n", "some_package"),
    ],
)
def test_an_import_that_is_not_listed_is_seen(core: Path, source: str, name: str) -> None:
    (core / "lifecycle/caller.py").write_text(source, "utf-8")

    assert f"not listed: loopx_host/lifecycle/caller.py -> {name}" in problems(core, {"some_package"}, listing())


@pytest.mark.req("M130")
def test_a_listed_import_that_is_gone_must_leave_the_list(core: Path) -> None:
    edge = "loopx_host/lifecycle/caller.py -> loopx_host.capabilities.recall"

    assert f"gone, remove it: {edge}" in problems(core, set(), listing(edge))


@pytest.mark.req("M130")
def test_the_list_may_not_grow(core: Path) -> None:
    (core / "lifecycle/caller.py").write_text("from loopx_host.capabilities import recall\n", "utf-8")
    edge = "loopx_host/lifecycle/caller.py -> loopx_host.capabilities.recall"

    assert problems(core, set(), listing(edge)) == ["fixture: longer than it was"]


@pytest.mark.parametrize("source", ["import json\n", "from loopx_host.core import text\n", "import some_package_x\n"])
def test_any_other_import_is_free(core: Path, source: str) -> None:
    (core / "lifecycle/caller.py").write_text(source, "utf-8")

    assert problems(core, {"some_package"}, listing()) == []


@pytest.mark.req("M047")
def test_a_capability_in_core_that_nobody_calls_is_seen(core: Path) -> None:
    (core / "capabilities/engine").mkdir()
    (core / "capabilities/engine/__init__.py").write_text("", "utf-8")
    (core / "lifecycle/caller.py").write_text("from loopx_host.capabilities import engine\n", "utf-8")

    assert uncalled(core) == ["recall"]
