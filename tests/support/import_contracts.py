"""The import contracts, judged by import-linter over a copy of the package that is changed and changed back.

One process judges all changes: a process of its own finds the copy and not the package that the tests run, and loads
the libraries once.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import tomli

from tests.support.project_files import ROOT

PACKAGE = "loopx_host"
RUN_TIME, WITH_TYPES = "pyproject.toml", "tests/architecture/type-imports.toml"
Change = tuple[str, str]  # a file of the package, which may be new, and a line added to its end
_JUDGE = """\
import json, os, shutil, sys
from click.testing import CliRunner
from importlinter.cli import lint_imports_command

def change(path, line):
    folder = os.path.dirname(path)
    new = folder if not os.path.isdir(folder) else path if not os.path.exists(path) else None
    os.makedirs(folder, exist_ok=True)
    size = 0 if new else os.path.getsize(path)
    with open(path, "a", encoding="utf-8") as opened:
        opened.write(f"\\n{line}\\n")
    return new, size

def change_back(path, new, size):
    if new is None:
        os.truncate(path, size)
    elif new == path:
        os.remove(path)
    else:
        shutil.rmtree(new)

said = []
configs, changes = json.load(sys.stdin)
for path, line in changes:
    undo = change(path, line)
    ended = CliRunner().invoke(lint_imports_command, ["--no-cache", "--no-logo", *configs])
    change_back(path, *undo)
    said.append((ended.exit_code, ended.output))
json.dump(said, sys.stdout)
"""


def contracts(config: str) -> list[dict[str, Any]]:
    """Return the contracts of one configuration file."""
    found: list[dict[str, Any]] = tomli.loads((ROOT / config).read_text("utf-8"))["tool"]["importlinter"]["contracts"]
    return found


def broken(folder: Path, changes: Mapping[str, Change]) -> dict[str, set[str]]:
    """Return the names of the contracts that each change breaks, made alone to a copy of the package in `folder`.

    Raises AssertionError when a contract was not judged.
    """
    shutil.copytree(ROOT / PACKAGE, folder / PACKAGE, ignore=shutil.ignore_patterns("__pycache__"))
    configs = [str(ROOT / config) for config in (RUN_TIME, WITH_TYPES)]
    rows = [(f"{PACKAGE}/{path}", line) for path, line in changes.values()]
    ended = subprocess.run(
        [sys.executable, "-c", _JUDGE],
        cwd=folder,
        input=json.dumps([configs, rows]),
        capture_output=True,
        text=True,
        check=False,
        env={"PYTHONPATH": str(folder), "COLUMNS": "200", "PATH": "/usr/bin:/bin"},
    )
    assert ended.returncode == 0, ended.stderr
    return dict(zip(changes, (_broken(*said) for said in json.loads(ended.stdout)), strict=True))


def _broken(status: int, output: str) -> set[str]:
    verdicts = dict(re.findall(r"^(.+?) (KEPT|BROKEN)(?: \(.*\))?$", output, re.MULTILINE))
    assert set(verdicts) == {one["name"] for config in (RUN_TIME, WITH_TYPES) for one in contracts(config)}, output
    assert (status != 0) == ("BROKEN" in verdicts.values()), output
    return {name for name, verdict in verdicts.items() if verdict == "BROKEN"}
