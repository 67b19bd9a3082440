"""What runs or is added when a Python starts, as far as it can change what a provider imports.

A path line of a ``.pth`` file counts by the names it offers, a line that only starts a generated import finder by
what that finder maps; any other line of code counts whole, with the module it imports.
"""

from __future__ import annotations

import os
import sys

from loopx_host.adapters.files import bounded
from loopx_host.adapters.packages import editable_forms, source_trees
from loopx_host.adapters.packages.importable import SUFFIXES, within
from loopx_host.core.canonical import canonical_digest
from loopx_host.core.text import visible

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from loopx_host.adapters.packages.coverage import Coverage
    from loopx_host.adapters.packages.editable_forms import Finder
    from loopx_host.adapters.packages.fingerprints import Watch

CUSTOMIZE = ("sitecustomize", "usercustomize")  # imported at every start, by whoever comes first on the path
_FILE_BYTES = 1024 * 1024


def rows(sites: list[str], coverage: Coverage, watch: Watch) -> list[list[str]]:
    """Return (what counts, the same as a sentence) of each line that counts, in the order Python reads them.

    The first does not change when a line moves within its file; the second names the line.
    """
    customized = coverage.modules(list(CUSTOMIZE), [])
    found = [[f"{name} {digest}", f"{name} runs at every start of Python"] for name, digest in customized.items()]
    for site in sites:
        for path in source_trees.path_files(site):
            digest = watch.digest(path)
            if digest is not None:
                found += _of_file(path, digest, _Lines(site, path, coverage, watch))
    return found


def _of_file(path: str, digest: str, lines: _Lines) -> Iterator[list[str]]:
    text = _text(path)
    if not text and os.path.getsize(path):
        yield [f"{lines.shown}: {digest}", f"{lines.shown} is larger than anything that is looked through"]
        return
    if editable_forms.is_ambiguous(text):
        what, says = lines.whole(text)
        yield [f"{lines.shown}: {what}", f"{lines.shown} has lines that Pythons read differently, and {says}"]
        return
    for number, line in enumerate(text.splitlines(), start=1):
        entry = line.rstrip()
        if not entry.strip() or entry.startswith("#") or "\0" in entry:
            continue
        for what, says in lines.code(entry) if editable_forms.is_code(entry) else lines.place(entry):
            yield [f"{lines.shown}: {what}", f"{lines.shown} line {number} {says}"]


class _Lines:
    """The lines of one ``.pth`` file, judged by what is owned."""

    def __init__(self, site: str, path: str, coverage: Coverage, watch: Watch) -> None:
        self.shown = visible(os.path.basename(path))
        self._site = site
        self._coverage = coverage
        self._watch = watch

    def place(self, entry: str) -> Iterator[tuple[str, str]]:
        """Yield what a path line adds, if it offers a name that is owned."""
        place = os.path.normpath(os.path.join(self._site, entry))
        self._watch.glance(place)
        names = self._coverage.offers(place, self._coverage.names)
        if names:
            shown = visible(place)
            offered = ", ".join(f"`{visible(name)}`" for name in sorted(names))
            yield f"path {shown}", f"puts {shown} on the search path, which offers {offered}"

    def code(self, line: str) -> Iterator[tuple[str, str]]:
        """Yield what a finder maps to names that are owned, or the line and the modules it imports as they are."""
        module = editable_forms.only_finder(line)
        finder = self._generated(module) if module else None
        if finder is None:
            yield self.whole(line)
            return
        for name, place in self._mapped(finder):
            shown = visible(place)
            source = canonical_digest(self._coverage.elsewhere(place))
            yield f"finder {visible(name)} {shown} {source}", f"lets `{visible(name)}` be imported from {shown}"

    def _generated(self, module: str) -> Finder | None:
        """Return the finder behind a module, if nothing else could be imported under its name."""
        path = os.path.join(self._site, f"{module}.py")
        if list(self._coverage.modules([module], [])) != [visible(path)]:
            return None
        finder = editable_forms.generated(_text(path))
        if finder is None or not finder.is_of_editables:
            return finder
        library = self._coverage.modules([editable_forms.EDITABLES], [])
        code = {str(digest) for name, digest in library.items() if name.endswith(SUFFIXES)}
        return finder if editable_forms.is_known_library(code) else None

    def _mapped(self, finder: Finder) -> Iterator[tuple[str, str]]:
        """Yield (dotted name, place) of what a finder maps to a name that is owned."""
        owned = self._coverage.names
        for name, path in finder.mapping.items():
            if within(name, owned) is not None:
                yield name, source_trees.source(path) or path
        for name, places in finder.namespaces.items():
            inner = within(name, owned)
            if inner is not None:
                yield from ((name, place) for place in places if self._coverage.adds_to(place, inner))

    def whole(self, line: str) -> tuple[str, str]:
        """Return code as it is, with what it imports, and what that imports in turn, wherever on the path it lies.

        A place that it names may be one that it adds to the path: what is owned and could come from there counts.
        """
        covered: dict[str, str | None] = {}
        waiting, seen = editable_forms.imported_by(line), set(sys.stdlib_module_names)
        covered.update(self._at_places_in(line))
        while waiting:
            name = waiting.pop()
            if name not in seen:
                seen.add(name)
                found = self._coverage.modules([name], [])
                covered.update(found)
                for path in (path for path in found if path.endswith(".py")):
                    code = _text(path)
                    waiting += editable_forms.imported_by(code)
                    covered.update(self._at_places_in(code))
        return f"code {visible(line)} {canonical_digest(covered)}", "runs code at every start of Python"

    def _at_places_in(self, code: str) -> dict[str, str | None]:
        places = [os.path.normpath(place) for place in editable_forms.places_in(code)]
        return {name: digest for place in places for name, digest in self._coverage.at(place).items()}


def _text(path: str) -> str:
    try:
        return bounded.read_regular(path, _FILE_BYTES).decode("utf-8", "replace")
    except OSError:
        return ""
