"""Each import contract of pyproject.toml breaks when its rule is broken, seen on a copy of the package."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import tomli

ROOT = Path(__file__).parents[2]
PACKAGE = "loopx_host"
LINT = Path(sys.executable).with_name("lint-imports")
CONTRACTS = [
    contract["name"]
    for contract in tomli.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]["contracts"]
]

LAYERS = "A request travels downward once"
CYCLES = "No cycles, at any depth"
WITHIN_LIFECYCLE = "A goal's call is dispatched to an extension, never the other way"
ROOT_OF_ADAPTERS = "Only the composition root constructs adapters"
PACKAGE_ROOT = "Nothing inside imports the package root"
PURE = "Pure layers touch neither files, processes, sockets nor clocks"
ONE_LIBRARY = "Libraries doing the same job twice stay out"

# (file of the copy, line added to it, contract that has to break)
VIOLATIONS = {
    "core imports lifecycle": ("core/text.py", "import loopx_host.lifecycle.extensions.state", LAYERS),
    "registry imports cli": ("registry/api.py", "import loopx_host.cli.common", LAYERS),
    "lifecycle imports adapters": ("lifecycle/run.py", "import loopx_host.adapters.clock", LAYERS),
    "adapters import assembly": ("adapters/clock.py", "import loopx_host.assembly.host", LAYERS),
    "a function body imports upward": ("core/text.py", "def up(): import loopx_host.registry.api", LAYERS),
    "a new top-level folder": ("services/__init__.py", '"""A folder nobody decided on."""', LAYERS),
    "a new top-level module": ("services.py", '"""A module nobody decided on."""', LAYERS),
    "two folders import each other": (
        "adapters/files/paths.py",
        "import loopx_host.adapters.packages.launchers",
        CYCLES,
    ),
    "an extension imports dispatch": (
        "lifecycle/extensions/state.py",
        "import loopx_host.lifecycle.dispatch.run",
        WITHIN_LIFECYCLE,
    ),
    "a new folder in lifecycle": ("lifecycle/extra/__init__.py", '"""Undecided."""', WITHIN_LIFECYCLE),
    "cli imports adapters": ("cli/commands.py", "import loopx_host.adapters.files.paths", ROOT_OF_ADAPTERS),
    "the root imports adapters": ("__main__.py", "import loopx_host.adapters.clock", ROOT_OF_ADAPTERS),
    "lifecycle imports the package root": ("lifecycle/run.py", "from loopx_host import __version__", PACKAGE_ROOT),
    "cli imports the package root": ("cli/main.py", "import loopx_host", PACKAGE_ROOT),
    "lifecycle imports os": ("lifecycle/run.py", "import os", PURE),
    "core imports time": ("core/text.py", "import time", PURE),
    "registry imports pathlib": ("registry/load.py", "from pathlib import Path", PURE),
    "registry imports subprocess": ("registry/load.py", "import subprocess", PURE),
    "lifecycle imports socket": ("lifecycle/run.py", "import socket", PURE),
    "adapters import tomllib": ("adapters/clock.py", "import tomllib", ONE_LIBRARY),
    "adapters import filelock": ("adapters/files/lock.py", "import filelock", ONE_LIBRARY),
    "cli imports click": ("cli/main.py", "import click", ONE_LIBRARY),
}


def broken(copy: Path) -> list[str]:
    """Return the names of the contracts that the package below `copy` breaks."""
    ended = subprocess.run(
        [str(LINT), "--no-cache", "--no-logo", "--config", "pyproject.toml"],
        cwd=copy,
        capture_output=True,
        text=True,
        check=False,
        env={"PYTHONPATH": str(copy), "COLUMNS": "200", "PATH": "/usr/bin:/bin"},
    )
    found = dict(re.findall(r"^(.+?) (KEPT|BROKEN)$", ended.stdout, re.MULTILINE))
    assert sorted(found) == sorted(CONTRACTS), ended.stdout + ended.stderr
    assert (ended.returncode != 0) == ("BROKEN" in found.values())
    return [name for name in CONTRACTS if found[name] == "BROKEN"]


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    shutil.copytree(ROOT / PACKAGE, tmp_path / PACKAGE, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    return tmp_path


def test_the_package_keeps_every_contract(copy: Path) -> None:
    assert broken(copy) == []


@pytest.mark.parametrize("violation", VIOLATIONS)
def test_a_violation_breaks_its_contract(copy: Path, violation: str) -> None:
    name, line, contract = VIOLATIONS[violation]
    path = copy / PACKAGE / name
    path.parent.mkdir(exist_ok=True)
    with path.open("a", encoding="utf-8") as opened:
        opened.write(f"\n{line}\n")

    assert contract in broken(copy)


def test_every_contract_has_a_violation() -> None:
    assert {contract for _, _, contract in VIOLATIONS.values()} == set(CONTRACTS)
