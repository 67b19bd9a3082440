"""The files directly in loopx_host are three, its folders a closed list, and nothing hides from the count."""

from __future__ import annotations

import ast
import json
import os
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.project_files import ROOT, syntax

FIXTURE: dict[str, Any] = json.loads(Path(__file__).with_name("top_level_module_budget.json").read_text("utf-8"))

PACKAGE = "loopx_host"
SCHEMA = "loopx_top_level_module_budget_v0"
KEYS = {"schema", "baseline_commit", "max_top_level_modules", "allowlist", "folders"}
CEILING = 3  # docs/explanation/architecture.md, Ratchets; the fixture may only go below it
DATA_FILES = {"py.typed"}
IGNORED = {"__pycache__"}

Fixture = dict[str, Any]


def budget_problems(root: Path, fixture: Fixture) -> list[str]:
    """Return what is wrong with the fixture, and where the package below `root` goes beyond it."""
    return [*_fixture_problems(fixture), *_package_problems(root / PACKAGE, fixture)]


def _fixture_problems(fixture: Fixture) -> Iterator[str]:
    if set(fixture) != KEYS or fixture.get("schema") != SCHEMA:
        yield "fixture: not the keys or the schema of a budget"
        return
    if not re.fullmatch(r"[0-9a-f]{40}", fixture["baseline_commit"]):
        yield "fixture: baseline_commit is not a commit"
    if fixture["max_top_level_modules"] > CEILING:
        yield f"fixture: max_top_level_modules may only fall, and {CEILING} was the most"
    if len(fixture["allowlist"]) > fixture["max_top_level_modules"]:
        yield "fixture: the allow-list is longer than the maximum"


def _package_problems(package: Path, fixture: Fixture) -> Iterator[str]:
    entries = sorted(entry for entry in package.iterdir() if entry.name not in IGNORED and not _is_cache(entry))
    modules = [entry.name for entry in entries if entry.suffix == ".py"]
    if len(modules) > fixture["max_top_level_modules"]:
        yield f"{len(modules)} modules, of which {fixture['max_top_level_modules']} are allowed"
    for entry in entries:
        if entry.is_symlink():
            yield f"{entry.name}: a link"
        elif entry.is_dir():
            yield from _folder_problems(entry, fixture)
        elif entry.name not in {*fixture["allowlist"], *DATA_FILES}:
            yield f"{entry.name}: not on the allow-list"
    for source in sorted(package.rglob("*.py")):
        if _extends_the_package(source):
            yield f"{source.relative_to(package)}: makes a module appear elsewhere than where its file is"


def _is_cache(entry: Path) -> bool:
    """Whether a tool left a folder there that no import statement can name."""
    return entry.is_dir() and entry.name.startswith(".")


def _folder_problems(folder: Path, fixture: Fixture) -> Iterator[str]:
    if folder.name not in fixture["folders"]:
        yield f"{folder.name}: not one of the folders of the architecture page"
        return
    if [entry.name for entry in folder.iterdir() if entry.suffix or entry.is_dir()] == ["__init__.py"]:
        yield f"{folder.name}: a single module with the name of a folder"
    for node in _statements(folder / "__init__.py"):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            yield f"{folder.name}/__init__.py: defines {node.name}; a folder's own file only names what is in it"


def _statements(source: Path) -> list[ast.stmt]:
    return syntax(source).body if source.is_file() else []


def _extends_the_package(source: Path) -> bool:
    """Whether the file writes `__path__` or `sys.modules`, by which a nested file becomes a top-level module."""
    text = source.read_text("utf-8")
    if "__path__" not in text and "modules" not in text:
        return False
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Name) and node.id == "__path__":
            return True
        if isinstance(node, ast.Attribute) and (node.attr == "__path__" or ast.unparse(node) == "sys.modules"):
            return True
        if isinstance(node, ast.ImportFrom) and node.module == "sys" and any(a.name == "modules" for a in node.names):
            return True
    return False


def _with(folder: str, name: str, text: str = '"""A module."""\n') -> Callable[[Path], None]:
    def plant(package: Path) -> None:
        (package / folder).mkdir(exist_ok=True, parents=True)
        (package / folder / name).write_text(text, encoding="utf-8")

    return plant


def _append(name: str, text: str) -> Callable[[Path], None]:
    def plant(package: Path) -> None:
        with (package / name).open("a", encoding="utf-8") as opened:
            opened.write(text)

    return plant


def _link(package: Path) -> None:
    os.symlink("core", package / "hosts")


HIDING_PLACES = {
    "a module": _with(".", "extra.py"),
    "a package folder": _with("extra", "__init__.py"),
    "a folder without __init__": _with("extra", "module.py"),
    "a single module with the name of a folder": _with("hosts", "__init__.py"),
    "code in the file of a folder": _append("core/__init__.py", "\ndef work() -> None: ...\n"),
    "an extension module": _with(".", "extra.cpython-311-x86_64-linux-gnu.so"),
    "a plain shared object": _with(".", "extra.so"),
    "a stub": _with(".", "extra.pyi"),
    "byte code": _with(".", "extra.pyc"),
    "an archive": _with(".", "extra.zip"),
    "a nested package of the same name": _with(PACKAGE, "extra.py"),
    "a nested shim in sys.modules": _with(
        "core", "shim.py", "import sys\n\nsys.modules['loopx_host.extra'] = sys.modules[__name__]\n"
    ),
    "a nested shim in imported modules": _with("core", "shim.py", "from sys import modules\n"),
    "a longer search path": _append("__init__.py", "\n__path__.append(__path__[0] + '/core')\n"),
    "a longer search path from below": _with(
        "core", "shim.py", "import loopx_host\n\nloopx_host.__path__ += ['x']\n"
    ),
    "a link to a folder": _link,
}


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    shutil.copytree(ROOT / PACKAGE, tmp_path / PACKAGE, ignore=shutil.ignore_patterns(*IGNORED, ".*"))
    return tmp_path


@pytest.mark.req("M004", "M046", "M095", "S1")
def test_the_package_is_within_its_budget() -> None:
    assert budget_problems(ROOT, FIXTURE) == []


@pytest.mark.req("M004", "M046", "S1")
@pytest.mark.parametrize("hidden", HIDING_PLACES)
def test_a_module_more_breaks_the_budget_wherever_it_hides(copy: Path, hidden: str) -> None:
    HIDING_PLACES[hidden](copy / PACKAGE)

    assert len(budget_problems(copy, FIXTURE)) >= 1


@pytest.mark.req("M004", "M046")
def test_the_maximum_may_not_rise_even_together_with_the_allow_list(copy: Path) -> None:
    (copy / PACKAGE / "extra.py").touch()
    raised = {**FIXTURE, "max_top_level_modules": 4, "allowlist": [*FIXTURE["allowlist"], "extra.py"]}

    assert budget_problems(copy, raised) == ["fixture: max_top_level_modules may only fall, and 3 was the most"]


def test_the_maximum_may_fall(copy: Path) -> None:
    (copy / PACKAGE / "__main__.py").unlink()
    lowered = {**FIXTURE, "max_top_level_modules": 2, "allowlist": ["__init__.py", "entrypoint.py"]}

    assert budget_problems(copy, lowered) == []


@pytest.mark.req("M004")
def test_the_folders_are_those_of_the_architecture_page() -> None:
    page = (ROOT / "docs" / "explanation" / "architecture.md").read_text("utf-8")
    house = page.partition("```text\n")[2].partition("```")[0].partition("\nplugins/")[0]

    folders = re.findall(r"^[├└]── ([a-z_]+)/", house, re.MULTILINE)

    assert sorted(folders) == FIXTURE["folders"]


@pytest.mark.req("M046")
@pytest.mark.parametrize(
    "changed",
    [
        {"schema": "loopx_top_level_module_budget_v1"},
        {"baseline_commit": "main"},
        {"allowlist": ["__init__.py", "__main__.py", "entrypoint.py", "extra.py"]},
        {"more": 1},
    ],
)
def test_a_fixture_out_of_shape_is_a_problem(changed: Fixture) -> None:
    assert len(budget_problems(ROOT, {**FIXTURE, **changed})) == 1
