"""What could be imported under the names that distributions own, on each entry of a search path.

Python takes the first thing of a name that it finds: a folder with an ``__init__``, an extension module, a source,
byte code without a source, or a folder that is a namespace. Whatever could be that thing counts, and of a folder that
belongs to a distribution all that is below it.
"""

from __future__ import annotations

import os

from loopx_host.adapters.packages import distributions

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from loopx_host.adapters.packages.fingerprints import Watch

    # Top-level names, and below each the names that are owned in it; the empty name: it holds files itself.
    Names = dict[str, "Names"]

SUFFIXES = (".py", ".pyc", ".so", ".pyd")
CACHE = "__pycache__"
_INIT, _HOLDS_FILES = "__init__", ""
_TAGGED_DOTS = 2  # ``name.cpython-311.pyc``: no import statement can name it


def names_of(recorded: Iterable[str], modules: Iterable[str] = ()) -> Names:
    """Return the names that the recorded files of a distribution, and `modules` in dotted form, own."""
    names: Names = {}
    for path in recorded:
        parts = path.split("/")
        if parts[0] in ("", "..") or parts[0].endswith((*distributions.ENDINGS, ".data")):
            continue
        if len(parts) > 1:
            _into(names, parts[:-1])[_HOLDS_FILES] = {}
        elif path.endswith(SUFFIXES):
            names.setdefault(_stem(path), {})
    for module in modules:
        parts = module.split(".")
        if all(part.isidentifier() for part in parts):
            _into(names, parts)
    return names


def merged(names: Names, more: Names) -> Names:
    """Return what is owned by either."""
    both = {name: merged(names.get(name, {}), more.get(name, {})) for name in more}
    return {**names, **both}


def within(dotted: str, names: Names) -> Names | None:
    """Return what is owned below a dotted name, which may be all of it; None where nothing is."""
    first, *parts = dotted.split(".")
    if first not in names:
        return None
    names = names[first]
    for part in parts:
        if not names or _HOLDS_FILES in names:
            return {}
        if part not in names:
            return None
        names = names[part]
    return names


class Importable:
    """Looks through search-path entries, and has `watch` note every directory that decides the answer.

    `reads_caches`: the interpreter also takes byte code from the `__pycache__` beside a source, so it counts too.
    """

    def __init__(self, watch: Watch, *, reads_caches: bool = False) -> None:
        self._watch = watch
        self._reads_caches = reads_caches
        self._listed: dict[str, dict[str, list[os.DirEntry[str]]]] = {}

    def files(self, entries: list[str], names: Names) -> list[str]:
        """Return every file that could be imported, or read as data of a package, under `names`."""
        found: list[str] = []
        for entry in entries:
            found += self._in_archive(entry, names) if os.path.isfile(entry) else self._level(entry, names)
        return list(dict.fromkeys(found))

    def offers(self, entry: str, names: Names) -> list[str]:
        """Return those of `names` that could be imported from one search-path entry."""
        if os.path.isfile(entry):
            return [name for name in names if self._in_archive(entry, {name: names[name]})]
        listed = self._listing(entry)
        return [name for name in names if any(self._is_that(one, name, names) for one in listed.get(name, []))]

    def adds_to(self, place: str, names: Names) -> bool:
        """Whether a further place of a namespace could bring anything under the `names` owned in it."""
        return not names or _HOLDS_FILES in names or bool(self.offers(place, names))

    def _is_that(self, entry: os.DirEntry[str], name: str, names: Names) -> bool:
        """Whether an entry of a directory could be imported under a name, or holds what is owned in a namespace."""
        if not entry.is_dir():
            return entry.name.endswith(SUFFIXES)
        inner = names[name]
        return entry.name == name and (
            _HOLDS_FILES in inner or self._is_package(entry.path) or bool(self.offers(entry.path, inner))
        )

    def all_in(self, folder: str) -> list[str]:
        """Return every module in a folder, and all of the packages in it."""
        found: list[str] = []
        for entry in (entry for entries in self._listing(folder).values() for entry in entries):
            if not entry.is_dir():
                found += [entry.path] if entry.name.endswith(SUFFIXES) else []
            elif self._is_package(entry.path):
                found += self.below(entry.path)
        return found

    def below(self, folder: str) -> list[str]:
        """Return every file below a folder that belongs to a distribution."""
        return self._below(folder, set())

    def _level(self, folder: str, names: Names, *, is_inner: bool = False) -> list[str]:
        listed = self._listing(folder)
        found: list[str] = []
        for name in [*names, *([_INIT] if is_inner else [])]:
            for entry in listed.get(name, []):
                if not entry.is_dir():
                    found += [entry.path] if entry.name.endswith(SUFFIXES) else []
                elif entry.name == name != _INIT:
                    found += self._folder(entry.path, names[name])
        if self._reads_caches and not is_inner:
            cached = self._listing(os.path.join(folder, CACHE)) if CACHE in listed else {}
            found += [entry.path for name in names for entry in cached.get(name, [])]
        return found

    def _folder(self, path: str, names: Names) -> list[str]:
        """Return what counts of a folder: all of a package's, of a namespace what is owned in it."""
        if _HOLDS_FILES in names or self._is_package(path):
            return self.below(path)
        return self._level(path, names, is_inner=True)

    def _is_package(self, path: str) -> bool:
        return any(entry.name.endswith(SUFFIXES) for entry in self._listing(path).get(_INIT, []))

    def _listing(self, folder: str) -> dict[str, list[os.DirEntry[str]]]:
        """Return stem → entries of a directory, listed once."""
        if folder not in self._listed:
            self._watch.glance(folder)
            found: dict[str, list[os.DirEntry[str]]] = {}
            for entry in _scan(folder):
                found.setdefault(_stem(entry.name), []).append(entry)
            self._listed[folder] = found
        return self._listed[folder]

    def _below(self, folder: str, seen: set[tuple[object, ...]]) -> list[str]:
        is_cache = os.path.basename(folder) == CACHE and not self._reads_caches
        # Byte code comes to lie in there whenever somebody else imports the package; looking again leaves it out.
        row = tuple(self._watch.glance(folder, is_own=not is_cache)[:2])
        if row in seen:  # a link back into the tree
            return []
        seen.add(row)
        found: list[str] = []
        for entry in _scan(folder):
            if entry.is_dir():
                found += self._below(entry.path, seen)
            elif not (is_cache and _is_tagged(entry.name)):
                found.append(entry.path)
        return found

    def _in_archive(self, path: str, names: Names) -> list[str]:
        import zipfile

        self._watch.glance(path)
        try:
            with zipfile.ZipFile(path) as archive:
                tops = {_stem(name.split("/")[0]) for name in archive.namelist()}
        except Exception:  # noqa: BLE001 (Python reads archives that `zipfile` refuses: this one may hold any name)
            return [path]
        return [path] if tops & names.keys() else []


def _into(names: Names, parts: list[str]) -> Names:
    for part in parts:
        names = names.setdefault(part, {})
    return names


def _stem(name: str) -> str:
    return name.partition(".")[0]


def _is_tagged(name: str) -> bool:
    return name.endswith(".pyc") and name.count(".") >= _TAGGED_DOTS


def _scan(folder: str) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return sorted(entries, key=lambda entry: entry.name)
    except (OSError, ValueError):
        return []
