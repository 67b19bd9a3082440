"""A package under plugins/ imports the public surface only: `loopx_host` itself, never a module inside it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import loopx_host
from tests.support.project_files import ROOT, syntax

PLUGINS = ROOT / "plugins"
KERNEL = "loopx_host"
SEAMS = {"loopx_host.assembly.presentation"}  # the public seams: re-exports only (architecture page)
LOADERS = ("import_module", "__import__", "load_module", "resolve_name", "find_spec", "exec", "eval")


def private_imports(packages: Path, public: set[str]) -> list[str]:
    """Return every import below `packages` that reaches behind the public surface, as ``path:line name``."""
    found: list[str] = []
    for source in sorted(packages.rglob("*.py")):
        tree = syntax(source)
        found += [f"{source.relative_to(packages).as_posix()}:{line} {name}" for line, name in _reached(tree, public)]
    return found


def _reached(tree: ast.AST, public: set[str]) -> Iterator[tuple[int, str]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names = (one.name for one in node.names if one.name not in SEAMS)
            yield from ((node.lineno, name) for name in names if name.startswith(f"{KERNEL}."))
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            if node.module in SEAMS:
                continue
            if node.module.startswith(f"{KERNEL}."):
                yield node.lineno, node.module
            elif node.module == KERNEL:
                names = (one.name for one in node.names)
                yield from ((node.lineno, f"{KERNEL}.{name}") for name in names if name not in public)
        elif isinstance(node, ast.Call) and ast.unparse(node.func).rpartition(".")[2] in LOADERS:
            texts = (one.value for one in ast.walk(node) if isinstance(one, ast.Constant))
            yield from ((node.lineno, text) for text in texts if isinstance(text, str) and f"{KERNEL}." in text)
        elif isinstance(node, ast.Attribute) and ast.unparse(node).startswith(f"{KERNEL}."):
            name = ast.unparse(node).split(".")[1]
            if name not in public:
                yield node.lineno, f"{KERNEL}.{name}"


PUBLIC = set(loopx_host.__all__)


@pytest.mark.req("M030", "S6")
def test_no_package_reaches_behind_the_public_surface() -> None:
    assert private_imports(PLUGINS, PUBLIC) == []


def test_there_are_packages_to_look_at() -> None:
    assert {path.parent.name for path in PLUGINS.glob("*/pyproject.toml")} >= {"loopx-pytest"}


@pytest.mark.req("M030", "S6")
@pytest.mark.parametrize(
    ("source", "name"),
    [
        ("import loopx_host.core.errors\n", "loopx_host.core.errors"),
        ("from loopx_host.core.errors import refusal\n", "loopx_host.core.errors"),
        ("from loopx_host import assembly\n", "loopx_host.assembly"),
        ("def f():\n    from loopx_host.core import text\n", "loopx_host.core"),
        ("import importlib\nimportlib.import_module('loopx_host.core')\n", "loopx_host.core"),
        ("import loopx_host\nloopx_host.assembly.container\n", "loopx_host.assembly"),
        ("from loopx_host import *\n", "loopx_host.*"),
    ],
)
def test_a_private_import_is_seen(source: str, name: str, tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(source, "utf-8")

    assert name in {row.partition(" ")[2] for row in private_imports(tmp_path, PUBLIC)}


@pytest.mark.parametrize(
    "source",
    ["from loopx_host import Host, conformance\n", "import loopx_host\nloopx_host.Host\n", "import loopx_pytest\n"],
)
def test_the_public_surface_is_free(source: str, tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(source, "utf-8")

    assert private_imports(tmp_path, PUBLIC) == []
