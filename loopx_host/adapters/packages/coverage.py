"""The files behind the names that distributions own: what is there, and what could take its place."""

from __future__ import annotations

import os

from loopx_host.adapters.packages.importable import Importable, merged, names_of
from loopx_host.core.text import visible

TYPE_CHECKING = False
if TYPE_CHECKING:
    from loopx_host.adapters.packages.distributions import Installed
    from loopx_host.adapters.packages.fingerprints import Watch
    from loopx_host.adapters.packages.importable import Names

    Digests = dict[str, str | None]


class Coverage:
    """One search path, looked through for the names of several distributions.

    `reads_caches`: its interpreter takes byte code from the trees of packages (see `importable`).
    """

    def __init__(self, watch: Watch, entries: list[str], *, reads_caches: bool = False) -> None:
        self._watch = watch
        self._entries = entries
        self._importable = Importable(watch, reads_caches=reads_caches)
        self.names: Names = {}  # all that were asked for
        self._covered: set[str] = set()

    def files(self, distribution: Installed, modules: list[str], sources: list[str]) -> Digests:
        """Return name → digest of the files of a distribution, and of what could be imported under its names.

        `modules` are names beyond those of the recorded files; to `sources`, outside of the search path, something of
        the distribution points.
        """
        recorded, site = distribution.record(), distribution.site
        paths = {name: os.path.normpath(os.path.join(site, name)) for name in recorded}
        return self._digests(paths, sources, names_of(recorded, modules), site)

    def modules(self, modules: list[str], sources: list[str]) -> Digests:
        """Return the same of modules that no distribution carries."""
        return self._digests({}, sources, names_of([], modules), "")

    def _digests(self, paths: dict[str, str], sources: list[str], names: Names, site: str) -> Digests:
        for source in sources:
            paths.update(self._source(source))
        self.names = merged(self.names, names)
        known = set(paths.values())
        importable = self._importable.files(self._entries, names)
        paths.update({_shown(path, site): path for path in importable if path not in known})
        self._covered |= set(paths.values())
        return {name: self._watch.digest(path) for name, path in paths.items()}

    def all_in(self, folder: str) -> Digests:
        """Return name → digest of whatever could be imported from a folder, by any name."""
        paths = self._importable.all_in(folder)
        return {visible(os.path.relpath(path, folder)): self._watch.digest(path) for path in paths}

    def offers(self, entry: str, names: Names) -> list[str]:
        """Return those of `names` that could be imported from one search-path entry."""
        return self._importable.offers(entry, names)

    def adds_to(self, place: str, names: Names) -> bool:
        """Whether a further place of a namespace could bring anything under the `names` owned in it."""
        return self._importable.adds_to(place, names)

    def at(self, place: str) -> Digests:
        """Return path → digest of what could be imported from a place under any name asked for."""
        return {visible(path): self._watch.digest(path) for path in self._importable.files([place], self.names)}

    def elsewhere(self, path: str) -> Digests:
        """Return name → digest of a package or module somewhere else, without what was covered before."""
        paths = {name: one for name, one in self._source(path).items() if one not in self._covered}
        return {name: self._watch.digest(one) for name, one in paths.items()}

    def _source(self, path: str) -> dict[str, str]:
        base = os.path.dirname(path)
        paths = [path] if os.path.isfile(path) else self._importable.below(path)
        return {visible(os.path.relpath(one, base)): one for one in paths}


def _shown(path: str, site: str) -> str:
    return visible(os.path.relpath(path, site) if site and path.startswith(site + os.sep) else path)
