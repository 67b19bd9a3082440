"""tomli and importlib-metadata are used for real: their namesakes in the standard library stay out."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[2] / "loopx_host"
NAMESAKES = ("tomllib", "importlib.metadata")


def namesakes(source: str) -> list[str]:
    """Return the namesakes that a Python source imports, function bodies and dynamic imports included."""
    names = [name for node in ast.walk(ast.parse(source)) for name in _imported(node)]
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
    assert namesakes(path.read_text("utf-8")) == []


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
    assert namesakes(source) != []


@pytest.mark.parametrize("source", ["import tomli", "import importlib_metadata", "import importlib.util"])
def test_the_chosen_libraries_are_no_namesakes(source: str) -> None:
    assert namesakes(source) == []
