"""Each import of core by a first-party package under plugins/ is pinned, function bodies included."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.project_files import ROOT, syntax

FIXTURE: dict[str, Any] = json.loads(Path(__file__).with_name("package_kernel_import_pins.json").read_text("utf-8"))

KERNEL = "loopx_host"
SCHEMA = "loopx_package_kernel_import_pins_v0"
LOADERS = ("import_module", "__import__", "load_module", "resolve_name")


def kernel_edges(packages: Path) -> list[str]:
    """Return every edge below `packages` as ``path -> name imported``, sorted, each once."""
    if not packages.is_dir():
        return []
    sources = sorted(packages.rglob("*.py"))
    edges = {
        f"{source.relative_to(packages).as_posix()} -> {name}" for source in sources for name in _kernel_names(source)
    }
    return sorted(edges)


def pin_problems(packages: Path, fixture: dict[str, Any]) -> list[str]:
    """Return edges without a pin, pins without an edge, and what is wrong with the fixture itself."""
    if fixture.get("schema") != SCHEMA or set(fixture) != {"schema", "edges"}:
        return ["fixture: not the keys or the schema of import pins"]
    edges, pins = set(kernel_edges(packages)), fixture["edges"]
    problems = [] if pins == sorted(set(pins)) else ["fixture: the edges are not sorted, each once"]
    problems += [f"not pinned: {edge}" for edge in sorted(edges - set(pins))]
    return problems + [f"gone, remove its pin: {edge}" for edge in sorted(set(pins) - edges)]


def _kernel_names(source: Path) -> Iterator[str]:
    for node in ast.walk(syntax(source)):
        for name in _imported(node):
            if name == KERNEL or name.startswith(f"{KERNEL}."):
                yield name


def _imported(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom):
        return [f"{node.module}.{alias.name}" for alias in node.names if node.level == 0]
    if isinstance(node, ast.Call) and ast.unparse(node.func).rpartition(".")[2] in LOADERS:
        values = [argument.value for argument in node.args if isinstance(argument, ast.Constant)]
        return [value.replace(":", ".") for value in values if isinstance(value, str)]
    return []


@pytest.fixture
def packages(tmp_path: Path) -> Path:
    source = tmp_path / "loopx-sample" / "src" / "loopx_sample" / "provider.py"
    source.parent.mkdir(parents=True)
    source.write_text('"""A package that imports no core."""\n\nimport json\n', encoding="utf-8")
    return tmp_path


def write(packages: Path, text: str) -> None:
    (packages / "loopx-sample" / "src" / "loopx_sample" / "provider.py").write_text(text, encoding="utf-8")


def pinned(*names: str) -> dict[str, Any]:
    return {
        "schema": SCHEMA,
        "edges": sorted(f"loopx-sample/src/loopx_sample/provider.py -> {name}" for name in names),
    }


@pytest.mark.req("M031")
@pytest.mark.req("M046")
def test_the_edges_of_all_packages_are_the_pinned_ones() -> None:
    assert pin_problems(ROOT / "plugins", FIXTURE) == []


def test_a_package_without_core_needs_no_pin(packages: Path) -> None:
    assert pin_problems(packages, pinned()) == []


@pytest.mark.req("M031")
@pytest.mark.req("M046")
@pytest.mark.parametrize(
    ("source", "edge"),
    [
        ("import loopx_host.core.text\n", "loopx_host.core.text"),
        ("from loopx_host.core.errors import refusal\n", "loopx_host.core.errors.refusal"),
        ("from loopx_host import Host\n", "loopx_host.Host"),
        ("def work():\n    import loopx_host.core.text\n", "loopx_host.core.text"),
        ("class A:\n    def work(self):\n        from loopx_host.core import text\n", "loopx_host.core.text"),
        ("try:\n    import loopx_host\nexcept ImportError:\n    pass\n", "loopx_host"),
        ("import importlib\nimportlib.import_module('loopx_host.core')\n", "loopx_host.core"),
        ("__import__('loopx_host.core')\n", "loopx_host.core"),
        ("import pkgutil\npkgutil.resolve_name('loopx_host:Host')\n", "loopx_host.Host"),
    ],
)
def test_a_new_edge_needs_a_pin(packages: Path, source: str, edge: str) -> None:
    write(packages, source)

    assert pin_problems(packages, pinned()) == [f"not pinned: loopx-sample/src/loopx_sample/provider.py -> {edge}"]
    assert pin_problems(packages, pinned(edge)) == []


@pytest.mark.req("M031")
@pytest.mark.req("M046")
def test_an_edge_that_is_gone_must_lower_the_pin(packages: Path) -> None:
    left_over = pinned("loopx_host.Host")

    problems = pin_problems(packages, left_over)

    assert problems == ["gone, remove its pin: loopx-sample/src/loopx_sample/provider.py -> loopx_host.Host"]


def test_a_name_that_only_begins_like_the_core_is_no_edge(packages: Path) -> None:
    write(packages, "import loopx_host_tools\nfrom . import loopx_host\n")

    assert kernel_edges(packages) == []


def test_a_pin_list_out_of_order_is_a_problem(packages: Path) -> None:
    write(packages, "from loopx_host import Host, Refused\n")
    fixture = pinned("loopx_host.Host", "loopx_host.Refused")

    assert len(pin_problems(packages, {**fixture, "edges": fixture["edges"][::-1]})) == 1
    assert len(pin_problems(packages, {**fixture, "schema": "v9"})) == 1


def test_the_example_extension_does_not_import_the_host() -> None:
    assert kernel_edges(ROOT / "examples") == []
