"""Where the modules of a distribution lie: in its site directory, or in the source tree of an editable install.

`find_spec` would import parent packages, so paths are followed with os.path; import finders of editable installs are
read as data (`editable_forms`).
"""

from __future__ import annotations

import os

from loopx_host.adapters.files import bounded
from loopx_host.adapters.packages import distributions, editable_forms

TYPE_CHECKING = False
if TYPE_CHECKING:
    from loopx_host.adapters.packages.distributions import Installed
    from loopx_host.adapters.packages.editable_forms import Finder

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
        mapped = _mapped(parts, _mapping(distribution))
        if mapped is not None:
            return [mapped]
        roots = source_roots(distribution)
    else:
        roots = [distribution.site]
    return [os.path.join(root, *parts) for root in (*roots, *places)]


def _mapped(parts: list[str], mapping: dict[str, str]) -> str | None:
    """Return where a dotted name lies below the longest part of it that is mapped."""
    for length in range(len(parts), 0, -1):
        path = mapping.get(".".join(parts[:length]))
        if path is not None:
            return os.path.join(path, *parts[length:])
    return None


def covered_sources(distribution: Installed, modules: list[str], places: list[str]) -> list[str]:
    """Return the directories and single files behind an install without a list of its files.

    They are the top-level packages that `modules` name and, of an editable install, everything that can be
    imported from where it points to.
    """
    mapping = _mapping(distribution)
    mapped = {name.split(".")[0] for name in mapping}  # the folder of a mapped namespace would be everybody's
    tops = sorted({module.split(".")[0] for module in modules if module} - mapped)
    named = [folder_of(top, distribution, places) or _single(top, distribution, places) for top in tops]
    pointed = [source(path) for path in mapping.values()]
    found = [path for path in (*named, *pointed) if path]
    for root in source_roots(distribution) if distribution.editable_source() is not None else []:
        found += _importable(root)
    return list(dict.fromkeys(map(os.path.normpath, found)))


def owned_modules(distribution: Installed) -> list[str]:
    """Return the dotted names under which the source of an editable install is imported.

    In a folder of the search path these are its packages and modules; a folder without ``__init__`` there is as
    likely that of the tests or the pages as a namespace, and is owned where the metadata name it.
    """
    mapped = list(_mapping(distribution))
    in_roots = [path for root in source_roots(distribution) for path in _importable(root)]
    named = [path for path in in_roots if os.path.isfile(path) or os.path.isfile(os.path.join(path, "__init__.py"))]
    return [*mapped, *(os.path.basename(path).partition(".")[0] for path in named)]


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
    """Whether an editable install could point where nothing but running its code would tell."""
    if distribution.editable_source() is None:
        return False
    finders = _read_finders(distribution)
    return None in finders or not (finders or source_roots(distribution))


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
    """Return what the import finders of an editable install map: dotted name → folder or file."""
    return {name: path for finder in _read_finders(distribution) if finder for name, path in finder.mapping.items()}


def _read_finders(distribution: Installed) -> list[Finder | None]:
    """Return what each finder of a distribution maps, None for one that cannot be read."""
    return [editable_forms.read(_read(path)) for path in _finders(distribution)]


def _finders(distribution: Installed) -> list[str]:
    """Return the modules that the code lines of a distribution's own ``.pth`` files start."""
    lines = [line for path in _own_path_files(distribution) for line in _read(path).splitlines()]
    named = [module for line in lines if editable_forms.is_code(line) for module in editable_forms.imported_by(line)]
    paths = [os.path.join(distribution.site, f"{module}.py") for module in dict.fromkeys(named) if "." not in module]
    return [path for path in paths if os.path.isfile(path)]


def source(path: str) -> str | None:
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
