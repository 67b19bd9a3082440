"""What running a provider needs to read beyond the system itself: its interpreter, its environment, its own files.

The names are computed with the identity and remembered with it. They are what the zero-permission sandbox opens
(containment page, *What a provider can read*).
"""

from __future__ import annotations

import os

from loopx_host.adapters.packages import source_trees

TYPE_CHECKING = False
if TYPE_CHECKING:
    from loopx_host.adapters.packages.distributions import Installed

_PROGRAM_FOLDERS = ("bin", "sbin")
_SHIMS = "shims"  # where version managers (pyenv, asdf, mise) keep small programs that ask them
_OF_A_PREFIX = ("bin", "lib", "lib64", "libexec", "pyvenv.cfg")
_SYSTEM_PREFIXES = ("/", "/usr", "/usr/local")
_SINGLE_FILES = 500
_PACKAGE_FOLDERS = ("node_modules", "vendor")  # of npm and its like, of Composer


def of_programs(programs: list[str]) -> list[str]:
    """Return the launcher and interpreters, and what lies below the prefix each is installed in."""
    found: list[str] = []
    for program in programs:
        for path in (program, os.path.realpath(program)):
            found += [path, *_of_prefix(path)]
    return found


def of_distribution(owner: Installed, modules: list[str], places: list[str]) -> tuple[list[str], list[str]]:
    """Return (read, list) for an editable distribution: its sources, and the directories they are looked up in."""
    if owner.editable_source() is None:
        return [], []
    return source_trees.covered_sources(owner, modules, places), source_trees.source_roots(owner)


def of_record(owner: Installed, recorded: list[str]) -> list[str]:
    """Return the files of a distribution that lie outside its site directory (data files, mostly)."""
    paths = (os.path.normpath(os.path.join(owner.site, name)) for name in recorded)
    return [path for path in paths if not path.startswith(owner.site + os.sep)][:_SINGLE_FILES]


def of_unowned(launcher: str) -> list[str]:
    """Return the folder of a launcher that no distribution carries: what lies there is all it can bring.

    And where it lies in a folder of packages that look each other up there (`node_modules`, `vendor`), that one.
    Not where such a folder holds far more than a program (`wide_folders`).
    """
    from loopx_host.adapters.packages import wide_folders  # only what is proved anew asks

    folders = set[str]()
    for path in (launcher, os.path.realpath(launcher)):
        folders |= {os.path.dirname(path), *_package_folder(path)}
    return sorted(folder for folder in folders if not wide_folders.is_wide(folder))


def _package_folder(path: str) -> list[str]:
    """Return the outermost folder of packages that a path leads through, if it leads through one."""
    parts = path.split(os.sep)
    found = [index for index, part in enumerate(parts[:-1]) if part in _PACKAGE_FOLDERS]
    return [os.sep.join(parts[: found[0] + 1])] if found else []


def _of_prefix(program: str) -> list[str]:
    from loopx_host.adapters.packages import wide_folders

    folder = os.path.dirname(program)
    prefix = os.path.dirname(folder)
    if os.path.basename(folder) == _SHIMS:
        # All that lies above it is opened; of a user whom nobody knows, that may be a home.
        return [] if wide_folders.is_of_unknown(prefix) or wide_folders.is_wide(prefix) else [prefix]
    if os.path.basename(folder) not in _PROGRAM_FOLDERS or prefix in _SYSTEM_PREFIXES:
        return []
    return [] if wide_folders.holds_a_home(prefix) else [os.path.join(prefix, name) for name in _OF_A_PREFIX]
