"""Which installed distribution carries a launcher: read from its metadata, one distribution at a time.

A distribution that cannot be read owns nothing and spoils nothing.
"""

from __future__ import annotations

import glob
import os
import shlex
import sys

from loopx_host.adapters.files import bounded
from loopx_host.lifecycle.identity import MODULE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from importlib_metadata import Distribution

    from loopx_host.lifecycle.identity import Target

_SCRIPT_GROUPS = ("console_scripts", "gui_scripts")
_LAUNCHER_BYTES = 64 * 1024
_TRAIN = "loopx"  # our own distributions are installed from files, never by name from a registry


def owner(target: Target) -> dict[str, str] | None:
    """Return ``{name, version}`` of the distribution that carries `target`, or None: unowned."""
    carries = _carries_module if target.kind == MODULE else _carries_script
    for distribution in _distributions(target.path):
        try:
            name, version = distribution.metadata["Name"], distribution.version
            if name and version and carries(distribution, target):
                return {"name": str(name), "version": str(version)}
        except Exception:  # noqa: BLE001, S112 (any damage in foreign metadata means: this one does not own it)
            continue
    return None


def pip_command(distribution: dict[str, str]) -> str:
    """Return the command that puts `distribution` back into the environment loopx runs in."""
    from_files = ["--no-index", "--find-links", "dist"] if distribution["name"].startswith(_TRAIN) else []
    pinned = f"{distribution['name']}=={distribution['version']}"
    return shlex.join([sys.executable, "-m", "pip", "install", *from_files, pinned])


def _distributions(launcher: str) -> Iterator[Distribution]:
    from importlib_metadata import distributions

    prefix = os.path.dirname(os.path.dirname(launcher))
    beside = glob.glob(os.path.join(glob.escape(prefix), "lib", "python3*", "*-packages"))
    own = [place for place in sys.path if place and os.path.isdir(place)]
    for place in dict.fromkeys([*own, *sorted(beside)]):
        found: Iterator[Any] = iter(distributions(path=[place]))
        yield from found


def _carries_script(distribution: Distribution, target: Target) -> bool:
    name = os.path.basename(target.path)
    if _records(distribution, f"bin/{name},", target.path):
        return True
    modules = [
        entry.value.partition(":")[0].strip()
        for entry in distribution.entry_points
        if entry.group in _SCRIPT_GROUPS and entry.name == name
    ]
    # Not every installer records its launchers; one that imports the module the entry point names is its own.
    return any(module.encode() in _launcher_text(target.path) for module in modules)


def _carries_module(distribution: Distribution, target: Target) -> bool:
    stem = str(target.module).replace(".", "/")
    record = distribution.read_text("RECORD") or ""
    return any(f"\n{stem}{ending}," in f"\n{record}" for ending in (".py", "/__main__.py"))


def _records(distribution: Distribution, ending: str, path: str) -> bool:
    """Whether the RECORD lists the very file `path`; parsed only when a line could be it."""
    record = distribution.read_text("RECORD") or ""
    if ending not in record:
        return False
    real = os.path.realpath(path)
    listed = (line.rpartition(",")[0].rpartition(",")[0] for line in record.split("\n") if ending in line)
    return any(os.path.realpath(str(distribution.locate_file(one))) == real for one in listed)


def _launcher_text(path: str) -> bytes:
    try:
        return bounded.read_regular(path, _LAUNCHER_BYTES)
    except OSError:
        return b""
