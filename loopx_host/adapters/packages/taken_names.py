"""Who holds a name here, as a module that loopx can import, as a distribution or as a command.

Metadata and folders say so; nothing is imported. Names are compared without case, which a file system may not know.
"""

from __future__ import annotations

import os
import sys

from loopx_host.adapters.packages import distributions, launchers, search_path, shebang, source_trees
from loopx_host.core.names import normalised
from loopx_host.core.text import visible

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from loopx_host.adapters.packages.distributions import Installed
    from loopx_host.authoring.package_names import PackageNames

_STANDARD = frozenset(name.casefold() for name in sys.stdlib_module_names)
_AT_START = frozenset({"sitecustomize", "usercustomize"})
_MODULES = (".py", ".pyc", ".so", ".pyd")
_NAMESPACE_LEVELS = 3
_EXTENSIONS, _SCRIPTS = "loopx.extensions", ("console_scripts", "gui_scripts")


class LocalNames:
    """The port `authoring.ports.TakenNames`, for the environment and the PATH of this process."""

    def __init__(self) -> None:
        self._read: list[Installed] | None = None

    def module(self, name: str, of: PackageNames) -> str | None:
        """Return who holds an import name (see the port)."""
        folded = name.casefold()
        if folded in _STANDARD:
            return "the standard library"
        if folded in _AT_START:
            return "Python, which imports it whenever it starts"
        own, others = self._holders(folded, of)
        if others:
            return others[0].shown
        found = (path for place in search_path.search_path() for path in _importable(place, folded))
        foreign = (path for path in found if not own and not _holds(path, of.folder))
        return next(map(visible, foreign), None)

    def distribution(self, name: str, of: PackageNames) -> str | None:
        """Return the installed distribution of a name (see the port)."""
        wanted = normalised(name)
        same = (one for one in self._installed() if normalised(one.name) == wanted and not _is_of(one, of))
        return next((one.shown for one in same), None)

    def command(self, name: str, of: PackageNames) -> str | None:
        """Return who holds a command of this environment or PATH (see the port)."""
        import sysconfig

        folded, scripts = name.casefold(), os.path.realpath(sysconfig.get_path("scripts"))
        carriers = [one for one in self._installed() if folded in _script_names(one)]
        own = any(_is_of(one, of) for one in carriers)
        for place in dict.fromkeys([scripts, *map(os.path.realpath, launchers.search_path())]):
            for entry in _names(place):
                path = os.path.join(place, entry)
                # What the environment is activated with lies among the scripts and is no program.
                is_command = os.path.isfile(path) if place == scripts else shebang.is_program(path)
                if entry.casefold() == folded and is_command and not (own and place == scripts):
                    return visible(path)
        others = (one.shown for one in carriers if not _is_of(one, of))
        return next(others, None)

    def _holders(self, folded: str, of: PackageNames) -> tuple[bool, list[Installed]]:
        """Return whether the package of the extension holds a module, and which others do."""
        holders = [one for one in self._installed() if folded in _tops(one)]
        others = [one for one in holders if not _is_of(one, of)]
        return len(others) < len(holders), others

    def _installed(self) -> list[Installed]:
        if self._read is None:
            places = search_path.directories()
            self._read = [one for place in places for one in distributions.installed(place)]
        return self._read


def _is_of(distribution: Installed, of: PackageNames) -> bool:
    """Whether a distribution is the package itself.

    It advertises the extension, carries its manifest, or was built from its project.

    A name alone says nothing; name, version and commands together do.
    """
    if any(one.group == _EXTENSIONS and one.name == of.extension_id for one in distribution.entry_points()):
        return True
    if _is_built_from(distribution, of):
        return True
    if of.folder is None:
        return False
    source = distribution.editable_source()
    if source is not None:
        return _holds(source, of.folder)
    inside = os.path.relpath(os.path.realpath(of.folder), os.path.realpath(distribution.site))
    return f"{inside}/extension.toml" in distribution.record()


def _is_built_from(distribution: Installed, of: PackageNames) -> bool:
    if of.distribution is None or of.version is None:
        return False
    names = (normalised(distribution.name), distribution.version, _script_names(distribution))
    return names == (normalised(of.distribution), of.version, {name.casefold() for name in of.commands})


def _tops(distribution: Installed) -> set[str]:
    """Return the top-level modules a distribution brings, without case."""
    listed = (distribution.text("top_level.txt") or "").split()
    recorded = [name.split("/")[0] for name in distribution.record() if not name.startswith(("..", "/"))]
    modules = [name for name in recorded if "." not in name or name.endswith(_MODULES)]
    if distribution.editable_source() is not None:
        listed += source_trees.owned_modules(distribution)
    return {name.split(".")[0].casefold() for name in (*listed, *modules)}


def _script_names(distribution: Installed) -> set[str]:
    return {one.name.casefold() for one in distribution.entry_points() if one.group in _SCRIPTS}


def _importable(place: str, folded: str) -> Iterator[str]:
    """Return what would be imported from an entry of the search path under a name."""
    if os.path.isfile(place):
        if folded in _in_archive(place):
            yield place
        return
    for entry in _names(place):
        path = os.path.join(place, entry)
        if entry.split(".")[0].casefold() == folded and (
            entry.endswith(_MODULES) or ("." not in entry and _has_modules(path, _NAMESPACE_LEVELS))
        ):
            yield path


def _in_archive(path: str) -> set[str]:
    import zipfile

    try:
        with zipfile.ZipFile(path) as archive:
            return {name.split("/")[0].split(".")[0].casefold() for name in archive.namelist()}
    except (OSError, zipfile.BadZipFile):
        return set()


def _has_modules(folder: str, levels: int) -> bool:
    """Whether a folder could be imported: as a package, or as a namespace with a module somewhere in it."""
    names = _names(folder)
    if any(name.endswith(_MODULES) for name in names):
        return True
    inner = (os.path.join(folder, name) for name in names if name.isidentifier() and name != "__pycache__")
    return levels > 0 and any(_has_modules(path, levels - 1) for path in inner)


def _holds(path: str, folder: str | None) -> bool:
    """Whether `path` is the folder of the package itself, or one that it lies in."""
    if folder is None:
        return False
    real, inner = os.path.realpath(path), os.path.realpath(folder)
    return inner == real or inner.startswith(real + os.sep)


def _names(folder: str) -> list[str]:
    try:
        return sorted(os.listdir(folder))
    except OSError:
        return []
