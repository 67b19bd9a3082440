"""Where the Python behind a program looks for modules: worked out from files, the interpreter is not started.

Python's own order: the folder of the script, ``PYTHONPATH``, the standard library, then the site directories (of the
virtual environment, of the user, of the base), each followed by the path lines of its ``.pth`` files.
"""

from __future__ import annotations

import os
import sys

from loopx_host.adapters.files import bounded

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    Glance = Callable[[str], object]

_SETTINGS_BYTES = 64 * 1024
_PATH_FILE_BYTES = 1024 * 1024
_BINARY_BYTES = 64 * 1024 * 1024
_PYTHONS = ("python", "pypy")
_LIBRARIES = ("lib", "lib64")
_LETTERS = "pyhton"  # of both names
_SITES = ("site-packages", "dist-packages")


class Python:
    """One interpreter, by the path it is started as: its version, its environment, its directories."""

    def __init__(self, program: str) -> None:
        self.program = program
        self.prefix = os.path.dirname(os.path.dirname(program))
        self.settings = venv_settings(program)
        home = (self.settings or {}).get("home", "")
        base = home if os.path.isabs(home) else os.path.dirname(os.path.realpath(program))
        self.base_prefix = os.path.dirname(os.path.realpath(base))
        self.folders = _folders(program, self.settings, [self.prefix, self.base_prefix])

    @property
    def sees_the_base(self) -> bool:
        """Whether the site directories of the base and of the user are on its path."""
        return (self.settings or {"include-system-site-packages": "true"}).get(
            "include-system-site-packages", ""
        ).lower() == "true"

    def standard_library(self) -> list[str]:
        """Return the places of the standard library, an archive first."""
        found: list[str] = []
        for folder in self.folders:
            digits = "".join(character for character in folder if character.isdigit())
            found += [os.path.join(self.base_prefix, name, f"python{digits}.zip") for name in _LIBRARIES]
        inner = [os.path.join(self.base_prefix, name, folder) for folder in self.folders for name in _LIBRARIES]
        return [*found, *inner, *(os.path.join(place, "lib-dynload") for place in inner)]

    def sites(self) -> list[str]:
        """Return the site directories in Python's order, those that are not there among them."""
        found = _sites_below(self.prefix, self.folders)
        if self.sees_the_base:
            user = os.path.expanduser("~/.local")
            found += [os.path.join(user, "lib", folder, "site-packages") for folder in self.folders]
            found += _sites_below(self.base_prefix, self.folders)
        return list(dict.fromkeys(found))


def is_python(program: str) -> bool:
    """Whether a program is called as Python interpreters are."""
    return os.path.basename(program).startswith(_PYTHONS)


def venv_settings(program: str) -> dict[str, str] | None:
    """Return the `pyvenv.cfg` that makes `program` a virtual environment's, keys in lower case, or None."""
    for path in settings_files(program):
        try:
            text = bounded.read_regular(path, _SETTINGS_BYTES).decode("utf-8", "replace")
        except OSError:
            continue
        pairs = (line.partition("=") for line in text.splitlines())
        return {key.strip().lower(): value.strip() for key, separator, value in pairs if separator}
    return None


def base_of(program: str) -> str | None:
    """Return the interpreter that a virtual environment's was made from, with which the standard library lies."""
    home = (venv_settings(program) or {}).get("home", "")
    return os.path.join(home, os.path.basename(program)) if os.path.isabs(home) else None


def settings_files(program: str) -> list[str]:
    """Return where Python looks for the `pyvenv.cfg` of a program."""
    directory = os.path.dirname(program)
    return [os.path.join(place, "pyvenv.cfg") for place in (directory, os.path.dirname(directory))]


def path_lines(site: str) -> list[str]:
    """Return the places that the ``.pth`` files of a site directory add to the search path, in order."""
    try:
        names = sorted(name for name in os.listdir(site) if name.endswith(".pth"))
    except OSError:
        return []
    found: list[str] = []
    for name in names:
        try:
            text = bounded.read_regular(os.path.join(site, name), _PATH_FILE_BYTES).decode("utf-8", "replace")
        except OSError:
            continue
        # Pythons disagree on rare separators: what either takes for a line is a place that could be added.
        lines = (line.rstrip() for line in dict.fromkeys([*text.splitlines(), *text.split("\n")]))
        entries = (line for line in lines if line.strip() and not line.startswith(("#", "import ", "import\t")))
        found += [os.path.normpath(os.path.join(site, entry)) for entry in entries if "\0" not in entry]
    return found


def with_path_lines(sites: list[str]) -> list[str]:
    """Return each site directory followed by what its ``.pth`` files add."""
    found = [place for site in sites for place in (site, *path_lines(site))]
    return list(dict.fromkeys(found))


def script_folders(launcher: str) -> list[str]:
    """Return the folder that stands first on the path of a script: of the file itself, links followed."""
    return list(dict.fromkeys([os.path.dirname(launcher), os.path.dirname(os.path.realpath(launcher))]))


def _sites_below(prefix: str, folders: list[str]) -> list[str]:
    """Return where an installation below `prefix` keeps packages: as CPython has it, and as Debian does."""
    local = [os.path.join(prefix, "local")]
    if prefix == "/usr":
        local.append("/usr/local")  # distributions look there first, whatever their prefix is
    found: list[str] = []
    for folder in folders:
        found += [os.path.join(top, "lib", folder, name) for top in local for name in reversed(_SITES)]
        found += [os.path.join(prefix, library, folder, name) for library in _LIBRARIES for name in _SITES]
    return [*found, os.path.join(prefix, "lib", "python3", "dist-packages")]


def _folders(program: str, settings: dict[str, str] | None, prefixes: list[str]) -> list[str]:
    """Return the names of the library folders of an interpreter: one where its version is known."""
    version = _version(program, settings)
    names = {name for prefix in prefixes for library in _LIBRARIES for name in _library_folders(prefix, library)}
    if version is None:
        return sorted(names, key=_numbers, reverse=True)
    same = {name for name in names if name.lstrip(_LETTERS) == version or name.lstrip(_LETTERS) == f"{version}t"}
    return sorted(same) or [f"python{version}"]


def _library_folders(prefix: str, library: str) -> list[str]:
    try:
        names = os.listdir(os.path.join(prefix, library))
    except OSError:
        return []
    return [name for name in names if name.startswith(("python3.", "pypy3."))]


def _version(program: str, settings: dict[str, str] | None) -> str | None:
    """Return the ``X.Y`` of an interpreter from the surest sign of it, or None.

    A `pyvenv.cfg` comes last: it says with which version the environment was made.
    """
    real = os.path.realpath(program)
    if real == os.path.realpath(sys.executable or "/"):
        return f"{sys.version_info[0]}.{sys.version_info[1]}"
    name = os.path.basename(real)
    named = _two_numbers(name.lstrip(_LETTERS))
    if named is not None and is_python(name):
        return named
    settings = settings or {}
    return _in_binary(real) or _two_numbers(settings.get("version_info", settings.get("version", "")))


def _two_numbers(text: str) -> str | None:
    major, dot, rest = text.partition(".")
    minor = rest.partition(".")[0].rstrip("t")
    return f"{major}.{minor}" if dot and major.isdecimal() and minor.isdecimal() else None


def _in_binary(path: str) -> str | None:
    """Return the version that a renamed or copied interpreter has in its own bytes, if it is one only."""
    import re

    try:
        data = bounded.read_regular(path, _BINARY_BYTES)
    except OSError:
        return None
    if not data.startswith(b"\x7fELF"):
        return None
    found = set(re.findall(rb"(?:lib|/)python(3\.[0-9]{1,3})", data))
    return found.pop().decode("ascii") if len(found) == 1 else None


def _numbers(name: str) -> list[int]:
    return [int(part) for part in name.lstrip(_LETTERS).rstrip("t").split(".") if part.isdecimal()]
