"""Where the modules of a distribution lie: in its site directory, or in the source tree of an editable install.

`find_spec` would import parent packages, so paths are followed with os.path; a setuptools finder's MAPPING is
read as a literal and never executed.
"""

from __future__ import annotations

import ast
import os

from loopx_host.adapters.files import bounded
from loopx_host.adapters.packages import distributions

TYPE_CHECKING = False
if TYPE_CHECKING:
    from loopx_host.adapters.packages.distributions import Installed

_FINDER_BYTES = 1024 * 1024


def folder_of(package: str, distribution: Installed, places: list[str]) -> str | None:
    """Return the directory of a dotted `package`, or None; the source of an editable install wins."""
    parts = package.split(".")
    if not all(part.isidentifier() for part in parts):
        return None
    if distribution.editable_source() is not None:
        mapping = _mapping(distribution)
        if parts[0] in mapping:
            return _existing(os.path.join(mapping[parts[0]], *parts[1:]))
        roots = _path_lines(distribution)
    else:
        roots = [distribution.site]
    candidates = [os.path.join(root, *parts) for root in (*roots, *places)]
    return next((found for found in map(_existing, candidates) if found), None)


def top_level_folders(distribution: Installed, modules: list[str], places: list[str]) -> list[str]:
    """Return the directories (or single files) of the top-level packages that `modules` name."""
    tops = sorted({module.split(".")[0] for module in modules if module})
    found = (folder_of(top, distribution, places) or _single(top, distribution, places) for top in tops)
    return [path for path in found if path]


def is_editable_unresolved(distribution: Installed) -> bool:
    """Whether an editable install points nowhere that can be read without running code."""
    return distribution.editable_source() is not None and not _mapping(distribution) and not _path_lines(distribution)


def files_below(folder: str) -> tuple[list[str], list[str]]:
    """Return (files, directories) of a source tree, without byte code and hidden folders."""
    if os.path.isfile(folder):
        return [folder], []
    files: list[str] = []
    directories: list[str] = []
    for directory, names, entries in os.walk(folder):
        names[:] = sorted(name for name in names if name != "__pycache__" and not name.startswith("."))
        directories.append(directory)
        files += [os.path.join(directory, name) for name in sorted(entries) if not name.endswith((".pyc", ".pyo"))]
    return files, directories


def path_files(site: str) -> list[str]:
    """Return the ``.pth`` files of a site directory, sorted."""
    try:
        return sorted(os.path.join(site, name) for name in os.listdir(site) if name.endswith(".pth"))
    except OSError:
        return []


def code_lines(path: str) -> list[int]:
    """Return the numbers of the lines of a ``.pth`` file that Python executes at every start."""
    lines = _read(path).splitlines()
    return [number for number, line in enumerate(lines, start=1) if line.startswith(("import ", "import\t"))]


def _own_path_files(distribution: Installed) -> list[str]:
    recorded = {os.path.basename(name) for name in distribution.record() if name.endswith(".pth")}
    stem = distributions.normalised(distribution.name).replace("-", "_")
    return [
        path
        for path in path_files(distribution.site)
        if os.path.basename(path) in recorded or stem in os.path.basename(path).replace("-", "_").lower()
    ]


def _path_lines(distribution: Installed) -> list[str]:
    found: list[str] = []
    for path in _own_path_files(distribution):
        for line in _read(path).splitlines():
            entry = line.strip()
            if entry and not entry.startswith(("#", "import ", "import\t")):
                found.append(os.path.join(distribution.site, entry))
    return [place for place in found if os.path.isdir(place)]


def _mapping(distribution: Installed) -> dict[str, str]:
    """Return the literal MAPPING of a setuptools editable finder, package → directory."""
    for name in distribution.record():
        base = os.path.basename(name)
        if base.startswith("__editable__") and base.endswith("_finder.py"):
            return _literal_mapping(_read(os.path.join(distribution.site, name)))
    return {}


def _literal_mapping(source: str) -> dict[str, str]:
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return {}
    for node in tree.body:
        targets = [node.target] if isinstance(node, ast.AnnAssign) else getattr(node, "targets", [])
        value = getattr(node, "value", None)
        if any(isinstance(target, ast.Name) and target.id == "MAPPING" for target in targets) and value is not None:
            try:
                mapping = ast.literal_eval(value)
            except (ValueError, TypeError, RecursionError, MemoryError):
                return {}
            return {key: path for key, path in mapping.items() if isinstance(key, str) and isinstance(path, str)}
    return {}


def _existing(folder: str) -> str | None:
    return folder if os.path.isdir(folder) else None


def _single(module: str, distribution: Installed, places: list[str]) -> str | None:
    roots = (distribution.site, *_path_lines(distribution), *places)
    candidates = (os.path.join(root, f"{module}.py") for root in roots)
    return next((path for path in candidates if os.path.isfile(path)), None)


def _read(path: str) -> str:
    try:
        return bounded.read_regular(path, _FINDER_BYTES).decode("utf-8")
    except (OSError, UnicodeDecodeError):
        return ""
