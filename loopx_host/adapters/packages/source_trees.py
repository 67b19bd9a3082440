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
_MODULES = (".py", ".so")
_PREFIXES = ("", "-", "--editable--.")  # how build backends call them, underscores read as hyphens


def folder_of(package: str, distribution: Installed, places: list[str]) -> str | None:
    """Return the directory of a dotted `package`, or None; the source of an editable install wins."""
    return next((found for found in candidates(package, distribution, places) if os.path.isdir(found)), None)


def candidates(package: str, distribution: Installed, places: list[str]) -> list[str]:
    """Return the directories in which a dotted `package` may lie, in the order in which they count."""
    parts = package.split(".")
    if not all(part.isidentifier() for part in parts):
        return []
    if distribution.editable_source() is not None:
        mapping = _mapping(distribution)
        if parts[0] in mapping:
            return [os.path.join(mapping[parts[0]], *parts[1:])]
        roots = source_roots(distribution)
    else:
        roots = [distribution.site]
    return [os.path.join(root, *parts) for root in (*roots, *places)]


def covered_sources(distribution: Installed, modules: list[str], places: list[str]) -> list[str]:
    """Return the directories and single files behind an install without a list of its files.

    They are the top-level packages that `modules` name and, of an editable install, everything that can be
    imported from where it points to.
    """
    tops = sorted({module.split(".")[0] for module in modules if module})
    named = [folder_of(top, distribution, places) or _single(top, distribution, places) for top in tops]
    pointed = [_source(path) for path in _mapping(distribution).values()]
    found = [path for path in (*named, *pointed) if path]
    for root in source_roots(distribution) if distribution.editable_source() is not None else []:
        found += _importable(root)
    return list(dict.fromkeys(map(os.path.normpath, found)))


def source_roots(distribution: Installed) -> list[str]:
    """Return the directories that the ``.pth`` files of a distribution add to the search path."""
    found: list[str] = []
    for path in _own_path_files(distribution):
        for line in _read(path).splitlines():
            entry = line.strip()
            if entry and not entry.startswith(("#", "import ", "import\t")):
                found.append(os.path.join(distribution.site, entry))
    return [place for place in found if os.path.isdir(place)]


def pointers(distribution: Installed) -> list[str]:
    """Return the files by which an editable install says where its source is."""
    if distribution.editable_source() is None:
        return []
    return [*_own_path_files(distribution), *_finders(distribution)]


def is_editable_unresolved(distribution: Installed) -> bool:
    """Whether an editable install points nowhere that can be read without running code."""
    return (
        distribution.editable_source() is not None and not _mapping(distribution) and not source_roots(distribution)
    )


def _names(folder: str) -> list[str]:
    try:
        return sorted(os.listdir(folder))
    except OSError:
        return []


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
    """Return the recorded ``.pth`` files, or where no record names any, those called after the distribution."""
    names = {os.path.basename(name) for name in distribution.record() if name.endswith(".pth")}
    if not names:
        stem = distributions.normalised(distribution.name)
        names = {f"{prefix}{stem}{suffix}.pth" for prefix in _PREFIXES for suffix in ("", f"-{distribution.version}")}
    return [path for path in path_files(distribution.site) if _spelled(path) in set(map(_spelled, names))]


def _spelled(path: str) -> str:
    return os.path.basename(path).replace("_", "-").lower()


def _mapping(distribution: Installed) -> dict[str, str]:
    """Return the literal MAPPING of a setuptools editable finder, package → directory."""
    for path in _finders(distribution):
        return _literal_mapping(_read(path))
    return {}


def _finders(distribution: Installed) -> list[str]:
    recorded = ((name, os.path.basename(name)) for name in distribution.record())
    return [
        os.path.join(distribution.site, name)
        for name, base in recorded
        if base.startswith("__editable__") and base.endswith("_finder.py")
    ]


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
            pairs = mapping.items() if isinstance(mapping, dict) else ()
            return {key: path for key, path in pairs if isinstance(key, str) and isinstance(path, str)}
    return {}


def _source(path: str) -> str | None:
    """Return the package or the module that a finder's path means; a module's goes without its suffix."""
    return next((one for one in (path, f"{path}.py") if os.path.exists(one)), None)


def _importable(root: str) -> list[str]:
    """Return the packages and modules that lie in a directory of the search path."""
    try:
        names = sorted(os.listdir(root))
    except OSError:
        return []
    paths = [os.path.join(root, name) for name in names if not name.startswith(".")]
    return [path for path in paths if (path.endswith(_MODULES) and os.path.isfile(path)) or _is_package(path)]


def _is_package(path: str) -> bool:
    """Whether a folder could be imported, as a package or as a namespace with modules in it."""
    is_named = os.path.basename(path).isidentifier()
    return is_named and any(name == "__init__.py" or name.endswith(_MODULES) for name in _names(path))


def _single(module: str, distribution: Installed, places: list[str]) -> str | None:
    roots = (distribution.site, *source_roots(distribution), *places)
    paths = (os.path.join(root, f"{module}.py") for root in roots)
    return next((path for path in paths if os.path.isfile(path)), None)


def _read(path: str) -> str:
    try:
        return bounded.read_regular(path, _FINDER_BYTES).decode("utf-8")
    except (OSError, UnicodeDecodeError):
        return ""
