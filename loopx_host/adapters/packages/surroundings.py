"""What surrounds a launcher: the Pythons that execute it, where they import from, and whose byte code they take."""

from __future__ import annotations

import os

from loopx_host.adapters.packages import python_paths, shebang

TYPE_CHECKING = False
if TYPE_CHECKING:
    from loopx_host.adapters.packages.fingerprints import Watch
    from loopx_host.lifecycle.extensions.identity import Launcher


class Surroundings:
    """`sites`: the site directories there are; `beside`: those of the environment the launcher's folder belongs to.

    `entries` is the whole search path of what is executed, with the places that are not there yet; `script_folders`
    and `named` (by a variable that the manifest passes on) come before the standard library.
    """

    def __init__(self, launcher: Launcher, chain: list[str], watch: Watch) -> None:
        programs = [path for path in (launcher.path, *chain) if python_paths.is_python(path)]
        pythons = [python_paths.Python(path) for path in dict.fromkeys(programs)]
        own = python_paths.Python(launcher.path)
        self.beside = _there(own.sites(), watch)
        self.sites = _there([site for python in pythons or [own] for site in python.sites()], watch)
        is_script = launcher.module is None and any(python_paths.is_python(path) for path in chain)
        self.script_folders = python_paths.script_folders(launcher.path) if is_script else []
        self.named = _named(launcher) if pythons else []
        self.entries = [
            *self.script_folders,
            *self.named,
            *(place for python in pythons for place in python.standard_library()),
            *python_paths.with_path_lines(self.sites),
        ]
        self.reads_caches = launcher.module is None and _ignores_settings(launcher.path)


def _there(sites: list[str], watch: Watch) -> list[str]:
    for site in sites:
        watch.glance(site)
    return list(dict.fromkeys(os.path.realpath(site) for site in sites if os.path.isdir(site)))


def _named(launcher: Launcher) -> list[str]:
    text = os.environ.get("PYTHONPATH", "") if "PYTHONPATH" in launcher.variables else ""
    return [os.path.realpath(place) for place in text.split(os.pathsep) if os.path.isabs(place)]


def _ignores_settings(path: str) -> bool:
    """Whether the first lines of a script keep Python from hearing where the host wants its byte code."""
    words = [word.strip("\"'") for line in shebang.head(path) for word in line.removeprefix("#!").split()]
    options = [word[1:] for word in words if word.startswith("-") and word != "--"]
    is_env = any(os.path.basename(word) == "env" for word in words[:1])
    letters = "EIiu-" if is_env else "EI"
    return any(letter in option for option in options for letter in letters) or "PYTHON" in " ".join(words)
