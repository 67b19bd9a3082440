"""Find what installed distributions advertise, from metadata alone: nothing is imported, nothing runs.

Contract section 3; extension-formats, *Entry-point groups*, *Finding it without import*.
"""

from __future__ import annotations

import os

from loopx_host.adapters.files import bounded
from loopx_host.adapters.packages import distributions, search_path, source_trees
from loopx_host.core.text import one_line, visible
from loopx_host.documents.discovery_index import PACKAGE_MISSING
from loopx_host.registry.offers import Advertised

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from importlib_metadata import EntryPoint

    from loopx_host.adapters.packages.distributions import Installed
    from loopx_host.documents.parts import Distribution

    Glance = Callable[[str], object]

EXTENSIONS, COMMANDS = "loopx.extensions", "loopx.commands"
MANIFEST = "extension.toml"
_MARK = b"loopx."
_ENTRY_POINTS_BYTES = 1024 * 1024
_DECIDING = ("METADATA", "PKG-INFO", "RECORD", "entry_points.txt", "direct_url.json")


class Found:
    """What one look at the search path found."""

    def __init__(self) -> None:
        self._advertised: dict[tuple[str, ...], Advertised] = {}
        self.commands: list[tuple[str, str]] = []

    @property
    def advertised(self) -> list[Advertised]:
        """The advertisements in the order they were found."""
        return list(self._advertised.values())

    def commands_of(self, distribution: Distribution | None) -> list[str]:
        """Return the names of the commands that a distribution carries."""
        carrier = distribution["name"] if distribution else None
        return sorted({one_line(name, 40) for name, owner in self.commands if owner == carrier})

    def add(self, one: Advertised) -> None:
        """Take one in; a second metadata folder of a distribution that leads to the same manifest is no other."""
        key: tuple[str, ...] = (one.id, one.value, one.location)
        if one.distribution is not None and one.manifest_path is not None:
            name = distributions.normalised(one.distribution["name"])
            key = (one.id, one.value, name, os.path.realpath(one.manifest_path))
        other = self._advertised.get(key, one)
        shadowed_by = one.shadowed_by if other.shadowed_by else None  # what leads to one manifest is one copy of it
        self._advertised[key] = min(other, one, key=_standing)
        self._advertised[key].shadowed_by = shadowed_by


def discover(glance: Glance) -> Found:
    """Look through the search path once; `glance` is told every path that decides the answer, before it is read."""
    found = Found()
    places = search_path.directories()
    for archive in search_path.archives():
        found.add(_archive(archive))
    first: dict[str, str] = {}
    for place in places:
        here = distributions.by_name(place)
        for distribution in _candidates(place):
            shadowed_by = first.get(distributions.name_of(os.path.basename(distribution.path)))
            _read(distribution, places, found, glance, visible(shadowed_by) if shadowed_by else None)
        first = {**here, **first}
    return found


def _standing(one: Advertised) -> tuple[bool, str]:
    """Order the metadata folders of one distribution: the installer's own before what a build left in a source."""
    return one.location.endswith(".egg-info"), one.location


def _candidates(place: str) -> Iterator[Installed]:
    """Return the distributions of a directory that advertise anything of ours; only these are parsed."""
    for name in distributions.metadata_names(place):
        path = os.path.join(place, name)
        if not name.startswith(distributions.LEFTOVER) and _mentions_us(path):
            yield distributions.Installed(path)


def _mentions_us(path: str) -> bool:
    try:
        return _MARK in bounded.read_regular(os.path.join(path, "entry_points.txt"), _ENTRY_POINTS_BYTES)
    except OSError:
        return False


def _read(distribution: Installed, places: list[str], found: Found, glance: Glance, shadowed_by: str | None) -> None:
    """Take in what one distribution advertises; of a shadowed copy no command counts."""
    for path in (distribution.path, *(os.path.join(distribution.path, name) for name in _DECIDING)):
        glance(path)
    entry_points = distribution.entry_points()
    own = [one for one in entry_points if one.group == EXTENSIONS]
    if distribution.damage is not None:
        for name in sorted({one.name for one in own}) or [""]:
            damaged = _damaged(distribution, name)
            damaged.shadowed_by = shadowed_by
            found.add(damaged)
        return
    if shadowed_by is None:
        found.commands += [(one.name, distribution.name) for one in entry_points if one.group == COMMANDS]
    for pointer in source_trees.pointers(distribution):
        glance(pointer)
    for one in {(entry.name, entry.value): entry for entry in own}.values():
        advertised = _advertised(one, distribution, places, glance)
        advertised.shadowed_by = shadowed_by
        found.add(advertised)


def _advertised(entry: EntryPoint, distribution: Installed, places: list[str], glance: Glance) -> Advertised:
    location = visible(distribution.path)
    package = entry.value.strip()
    folder = _folder(package, distribution, places, glance)
    if folder is None:
        unresolved = source_trees.is_editable_unresolved(distribution)
        code = "editable_unresolved" if unresolved else PACKAGE_MISSING
        reason = (
            f"{distribution.shown} is an editable install whose source cannot be found without running it"
            if unresolved
            else f"{distribution.shown} advertises the package {one_line(package, 80)}, which is not there"
        )
        return Advertised(entry.name, package, distribution.label, location, code=code, reason=reason)
    path = os.path.join(folder, MANIFEST)
    glance(path)
    if not os.path.exists(path):
        reason = f"{distribution.shown} has no {MANIFEST} in {visible(folder)}"
        return Advertised(
            entry.name, package, distribution.label, location, code="manifest_unreadable", reason=reason
        )
    return Advertised(entry.name, package, distribution.label, location, manifest_path=visible(path))


def _folder(package: str, distribution: Installed, places: list[str], glance: Glance) -> str | None:
    """Return the first directory of a package; those before it, which are not there, could come."""
    for folder in source_trees.candidates(package, distribution, places):
        glance(folder)
        if os.path.isdir(folder):
            return folder
    return None


def _damaged(distribution: Installed, extension_id: str) -> Advertised:
    return Advertised(
        extension_id,
        "",
        distribution.label,
        visible(distribution.path),
        code="metadata_damaged",
        reason=distribution.damage,
    )


def _archive(path: str) -> Advertised:
    shown = visible(path)
    reason = f"{shown} is an archive on the search path; extensions in it are not looked for"
    return Advertised("", "", None, shown, code="unsupported_location", reason=reason)
