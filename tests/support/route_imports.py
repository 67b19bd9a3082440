"""Which modules a route of the command line imports, beyond those of a bare interpreter."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from tests.support.project_files import ROOT

# `plant` is {module: source}: what to execute in a module of the package before its own code, as if it stood there.
_PROBE = """\
import os, sys
root, plant, words = sys.argv[1], eval(sys.argv[2]), sys.argv[3:]
sys.path.insert(0, root)
bare = set(sys.modules)

class Planter:
    def find_spec(self, name, path=None, target=None):
        if name not in plant:
            return None
        finder = next(one for one in sys.meta_path if getattr(one, "__name__", "") == "PathFinder")
        spec = finder.find_spec(name, path, target)
        execute = spec.loader.exec_module
        def planted(module):
            exec(plant[name], module.__dict__)
            execute(module)
        spec.loader.exec_module = planted
        return spec

if plant:
    sys.meta_path.insert(0, Planter())
if words == ["import"]:
    import loopx_host
    status = 0
else:
    from loopx_host.entrypoint import run
    output = os.dup(1)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    status = run(words)
    os.dup2(output, 1)
names = sorted(set(sys.modules) - bare)
import json
json.dump({"status": status, "bare": sorted(bare), "modules": names}, sys.stdout)
"""

# Interpreter, flags, search path and directory as in the probe: the identity that a proof holds depends on them.
_INSTALL = """\
import sys
sys.path.insert(0, sys.argv[1])
from loopx_host.entrypoint import run
for manifest in sys.argv[3:]:
    status = run(["extension", "install", "--manifest", manifest, "--execute", "--state-file", sys.argv[2]])
    if status:
        sys.exit(status)
"""


def install(state_file: Path, manifests: list[Path]) -> None:
    """Install extensions, each with its doctor, into one state file."""
    _python(_INSTALL, str(ROOT), str(state_file), *map(str, manifests))


def imported(words: list[str]) -> set[str]:
    """Return the modules that ``loopx`` with `words` imports; ``["import"]`` is importing the package alone.

    The command has run before, so that its caches are filled; asked about again, it is not run again. Raises
    AssertionError when it fails.
    """
    return set(_imported(*words))


def imported_with(plant: Mapping[str, str], words: list[str]) -> set[str]:
    """Return what `imported` does, from one run in which source is executed first in some modules of the package."""
    return set(_probe(words, plant)["modules"])


def imported_again(plant: Mapping[str, str], words: list[str]) -> set[str]:
    """Return what `imported_with` does the second time, when the caches hold what the first run remembered."""
    imported_with(plant, words)
    return imported_with(plant, words)


@cache
def _imported(*words: str) -> frozenset[str]:
    return frozenset(imported_again({}, [*words]))


def bare() -> set[str]:
    """Return the modules of an interpreter that does nothing yet."""
    return set(_probe(["import"], {})["bare"])


def _probe(words: list[str], plant: Mapping[str, str]) -> dict[str, list[str]]:
    answer = json.loads(_python(_PROBE, str(ROOT), repr(dict(plant)), *words))
    assert answer["status"] == 0, answer
    return dict(answer)


def _python(source: str, *arguments: str) -> str:
    ended = subprocess.run(
        [sys.executable, "-I", "-c", source, *arguments],
        cwd="/",
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        env={name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"},
    )
    assert ended.returncode == 0, ended.stderr
    return ended.stdout
