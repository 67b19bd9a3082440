"""Each library is used for real, and in its place: no namesake, no second way to the same end (ADR 0002)."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.project_files import ROOT, syntax

PACKAGE = ROOT / "loopx_host"
NAMESAKES = ("tomllib", "importlib.metadata", "pkg_resources")
HOMES = {
    "pluggy": {"hookspecs/manager.py", "hookspecs/markers.py"},
    "stevedore": {"adapters/packages/plugin_loading.py"},
}
LOADERS = ("import_module", "run_module", "run_path", "spec_from_file_location", "exec_module")


def namesakes(source: ast.AST) -> list[str]:
    """Return the namesakes that a Python source imports, function bodies and dynamic imports included."""
    names = [name for node in ast.walk(source) for name in _imported(node)]
    return [name for name in names if any(name == one or name.startswith(f"{one}.") for one in NAMESAKES)]


def _imported(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        yield from (f"{node.module}.{alias.name}" for alias in node.names if node.level == 0)
    elif isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value in NAMESAKES:
        yield node.value


@pytest.mark.parametrize("path", sorted(PACKAGE.rglob("*.py")), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_a_module_imports_no_namesake(path: Path) -> None:
    assert namesakes(syntax(path)) == []


@pytest.mark.parametrize(
    "source",
    [
        "import tomllib",
        "from tomllib import loads",
        "import importlib.metadata",
        "from importlib import metadata",
        "from importlib.metadata import entry_points",
        "def f():\n    import tomllib",
        "__import__('importlib.metadata')",
    ],
)
def test_a_namesake_is_seen_however_it_is_imported(source: str) -> None:
    assert namesakes(ast.parse(source)) != []


@pytest.mark.parametrize("source", ["import tomli", "import importlib_metadata", "import importlib.util"])
def test_the_chosen_libraries_are_no_namesakes(source: str) -> None:
    assert namesakes(ast.parse(source)) == []


def importers(library: str) -> set[str]:
    """Return the modules of the package that import a library at run time."""
    return {
        str(path.relative_to(PACKAGE))
        for path in PACKAGE.rglob("*.py")
        if any(name.split(".")[0] == library for name in run_time_imports(syntax(path)))
    }


def run_time_imports(node: ast.AST) -> Iterator[str]:
    """Return the names imported below a node, what only a type checker reads left out."""
    if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
        return
    yield from _imported(node)
    for child in ast.iter_child_nodes(node):
        yield from run_time_imports(child)


@pytest.mark.req("B16")
@pytest.mark.parametrize("library", HOMES)
def test_hooks_and_loading_have_one_home_each(library: str) -> None:
    assert importers(library) == HOMES[library]


@pytest.mark.req("B16")
def test_nothing_else_loads_modules_by_name() -> None:
    found = {
        f"{path.relative_to(PACKAGE)}: {name}"
        for path in PACKAGE.rglob("*.py")
        for node in ast.walk(syntax(path))
        for name in (getattr(node, "attr", None), getattr(node, "id", None), getattr(node, "name", None))
        if name in LOADERS
    }

    assert found == set()
