"""Which installed distribution carries a launcher: read from metadata, one distribution at a time."""

from __future__ import annotations

import os
import shlex

from loopx_host.adapters import interpreter
from loopx_host.adapters.files import bounded
from loopx_host.adapters.packages import distributions, shebang, source_trees
from loopx_host.core.names import is_pinned
from loopx_host.lifecycle.extensions.identity import MODULE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from loopx_host.adapters.packages.distributions import Installed
    from loopx_host.documents.parts import Distribution
    from loopx_host.lifecycle.extensions.identity import Launcher

_SCRIPT_GROUPS = ("console_scripts", "gui_scripts")
_LAUNCHER_BYTES = 64 * 1024
_TRAIN = "loopx"  # our own distributions are installed from files, never by name from a registry


def find_owner(launcher: Launcher, places: list[str]) -> Installed | None:
    """Return the distribution in `places` that carries `launcher`, or None: unowned."""
    carries = _carries_module if launcher.kind == MODULE else _carries_script
    for place in places:
        for one in distributions.installed_mentioning(place, _mentions(launcher)):
            if one.label and carries(one, launcher, places):
                return one
    return None


def pip_command(distribution: Distribution, launcher: str | None = None) -> str | None:
    """Return the command that puts `distribution` back into the environment of `launcher`, or of loopx itself.

    None where its name or version is none that an index could know.
    """
    if not is_pinned(distribution["name"], distribution["version"]):
        return None
    from_files = ["--no-index", "--find-links", "dist"] if distribution["name"].startswith(_TRAIN) else []
    pinned = f"{distribution['name']}=={distribution['version']}"
    return shlex.join([_interpreter_beside(launcher), "-m", "pip", "install", *from_files, pinned])


def _interpreter_beside(launcher: str | None) -> str:
    beside = os.path.join(os.path.dirname(launcher), "python3") if launcher else ""
    return beside if beside and shebang.is_program(beside) else interpreter.likeliest() or "python3"


def _mentions(launcher: Launcher) -> tuple[bytes, ...]:
    """Return bytes of which one stands in the metadata of whatever carries `launcher`.

    Those of an editable install need not name its modules anywhere.
    """
    if launcher.kind == MODULE:
        return (str(launcher.module).split(".")[0].encode(), b'"editable"')
    return (os.fsencode(os.path.basename(launcher.path)),)


def _carries_script(distribution: Installed, launcher: Launcher, _places: list[str]) -> bool:
    name = os.path.basename(launcher.path)
    real = os.path.realpath(launcher.path)
    listed = [entry for entry in distribution.record() if os.path.basename(entry) == name]
    if any(os.path.realpath(os.path.join(distribution.site, entry)) == real for entry in listed):
        return True
    modules = [
        entry.value.partition(":")[0].strip()
        for entry in distribution.entry_points()
        if entry.group in _SCRIPT_GROUPS and entry.name == name
    ]
    # Not every installer records its launchers; one that imports the module the entry point names is its own.
    return any(module.encode() in _launcher_text(launcher.path) for module in modules)


def _carries_module(distribution: Installed, launcher: Launcher, places: list[str]) -> bool:
    stem = str(launcher.module).replace(".", "/")
    if {f"{stem}.py", f"{stem}/__main__.py"} & set(distribution.record()):
        return True
    if distribution.editable_source() is None:
        return False
    package, _, last = str(launcher.module).rpartition(".")
    folder = source_trees.folder_of(package or last, distribution, [])
    names = ("__main__.py",) if not package else (f"{last}.py", f"{last}/__main__.py")
    if folder is not None and any(os.path.isfile(os.path.join(folder, name)) for name in names):
        return bool(places)
    roots = source_trees.source_roots(distribution) if not package else []
    return any(os.path.isfile(os.path.join(root, f"{last}.py")) for root in roots)


def _launcher_text(path: str) -> bytes:
    try:
        return bounded.read_regular(path, _LAUNCHER_BYTES)
    except OSError:
        return b""
