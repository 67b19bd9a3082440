"""Find what installed distributions advertise, from metadata alone: nothing is imported, nothing runs.

Contract section 3; extension-formats, *Entry-point groups*, *Finding it without import*.
"""

from __future__ import annotations

import os

from loopx_host.adapters.files import bounded
from loopx_host.adapters.packages import distributions, search_path, source_trees
from loopx_host.core.text import one_line, visible
from loopx_host.registry.offers import PACKAGE_MISSING, Advertised

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from importlib_metadata import EntryPoint

    from loopx_host.adapters.packages.distributions import Installed

EXTENSIONS, COMMANDS = "loopx.extensions", "loopx.commands"
MANIFEST = "extension.toml"
_MARK = b"loopx."
_ENTRY_POINTS_BYTES = 1024 * 1024


class Found:
    """What one look at the search path found; `looked_at` is every path whose stat decides it."""

    def __init__(self) -> None:
        self.advertised: list[Advertised] = []
        self.commands: list[tuple[str, str]] = []
        self.looked_at: list[str] = []


def discover() -> Found:
    """Look through the search path once, the first distribution of each name winning."""
    found, names = Found(), set[str]()
    places = search_path.directories()
    for archive in search_path.archives():
        found.advertised.append(_archive(archive))
    for place in places:
        for distribution in _candidates(place):
            name = distributions.normalised(distribution.name) if distribution.name else distribution.path
            if name not in names:
                names.add(name)
                _read(distribution, places, found)
    return found


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


def _read(distribution: Installed, places: list[str], found: Found) -> None:
    entry_points = distribution.entry_points()
    own = [one for one in entry_points if one.group == EXTENSIONS]
    found.looked_at += [
        distribution.path,
        os.path.join(distribution.path, "entry_points.txt"),
        os.path.join(distribution.path, "direct_url.json"),
    ]
    if distribution.damage is not None:
        identifiers = sorted({one.name for one in own}) or [""]
        found.advertised += [_damaged(distribution, name) for name in identifiers]
        return
    found.commands += [(one.name, distribution.name) for one in entry_points if one.group == COMMANDS]
    for one in {(entry.name, entry.value): entry for entry in own}.values():
        advertised = _advertised(one, distribution, places)
        found.advertised.append(advertised)
        found.looked_at += [advertised.manifest_path] if advertised.manifest_path else []


def _advertised(entry: EntryPoint, distribution: Installed, places: list[str]) -> Advertised:
    location = visible(distribution.path)
    package = entry.value.strip()
    folder = source_trees.folder_of(package, distribution, places)
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
    if not os.path.exists(path):
        reason = f"{distribution.shown} has no {MANIFEST} in {visible(folder)}"
        return Advertised(
            entry.name, package, distribution.label, location, code="manifest_unreadable", reason=reason
        )
    return Advertised(entry.name, package, distribution.label, location, manifest_path=visible(path))


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
