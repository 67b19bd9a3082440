"""The local index of what the environment offers: a cache, rebuilt whenever the environment changed.

Disposable and never truth. Its key is the stat of every search-path directory and of every file that was
looked at; another version, another interpreter or damage makes it rebuilt, and the answer says which.
"""

from __future__ import annotations

import json
import os

from loopx_host.adapters.files import atomic, bounded, paths
from loopx_host.adapters.packages import command_list, search_path
from loopx_host.adapters.packages.fingerprints import Watch, is_unchanged
from loopx_host.core.text import one_line, visible
from loopx_host.documents import discovery_index

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from loopx_host.documents.discovery_index import DiscoveryIndex, IndexUse, Offer
    from loopx_host.registry.ports import ManifestFolder

_INDEX_BYTES = 64 * 1024 * 1024
FRESH, ABSENT, STALE, DAMAGED, FOREIGN = "fresh", "absent", "stale", "damaged", "foreign"


def read(*, rebuild: bool = False) -> tuple[list[Offer], IndexUse]:
    """Return (offers, what became of the index); `rebuild` looks again whatever the index says."""
    path = index_path()
    status, document = ("rebuild_asked", None) if rebuild else _load(path)
    if status == FRESH and document is not None:
        return document["offers"], {"status": FRESH, "rebuilt": False, "path": visible(path)}
    rows = _build(path)
    return rows, {"status": status, "rebuilt": True, "path": visible(path)}


def index_path() -> str:
    """Return the index of this interpreter; two environments never share one."""
    return os.path.join(command_list.folder(), "index.json")


def _load(path: str) -> tuple[str, DiscoveryIndex | None]:
    try:
        document = json.loads(bounded.read_regular(path, _INDEX_BYTES))
    except FileNotFoundError:
        return ABSENT, None
    except (OSError, ValueError, RecursionError):
        return DAMAGED, None
    whole = _whole(document)
    if whole is None:
        return DAMAGED, None
    if whole["schema"] != discovery_index.ID or whole["search_path"] != search_path.search_path():
        return FOREIGN, None
    return (FRESH if is_unchanged(whole["looked_at"]) else STALE), whole


def _whole(document: object) -> DiscoveryIndex | None:
    """Return an index whose rows have their types, or None."""
    if not isinstance(document, dict):
        return None
    rows, looked_at, places = document.get("offers"), document.get("looked_at"), document.get("search_path")
    is_whole = (
        isinstance(document.get("schema"), str)
        and isinstance(rows, list)
        and all(isinstance(row, dict) and _is_row(row) for row in rows)
        and isinstance(looked_at, dict)
        and all(isinstance(row, list) for row in looked_at.values())
        and isinstance(places, list)
        and all(isinstance(place, str) and place in looked_at for place in places)
    )
    known: Any = document
    index: DiscoveryIndex = known
    return index if is_whole else None


_TEXTS = ("id", "code", "reason", "location", "manifest_path", "version", "revision", "digest")


def _is_row(row: dict[str, object]) -> bool:
    """Whether a row has the types of `registry.offers`; what it says is checked by nobody and trusted by nobody."""
    carrier = row.get("distribution", "")
    named = isinstance(carrier, dict) and all(isinstance(carrier.get(key), str) for key in ("name", "version"))
    texts = all(key in row and (row[key] is None or isinstance(row[key], str)) for key in _TEXTS)
    return isinstance(row.get("state"), str) and texts and (carrier is None or named) and _is_declared(row)


def _is_declared(row: dict[str, object]) -> bool:
    """Whether what a row says of capabilities and commands can be shown."""
    declared, commands = row.get("declares"), row.get("commands")
    return (
        isinstance(commands, list)
        and all(isinstance(name, str) for name in commands)
        and (declared is None or _is_catalogue(declared))
    )


def _is_catalogue(declared: object) -> bool:
    if not isinstance(declared, dict) or not isinstance(declared.get("requires_loopx_api"), str):
        return False
    lists = [declared.get(key) for key in ("permissions", "capabilities", "implementations")]
    if not all(isinstance(one, list) for one in lists):
        return False
    return all(isinstance(one, dict) and isinstance(one.get("id"), str) for one in declared["capabilities"]) and all(
        isinstance(one, dict) and {"capability_id", "protocol"} <= set(one) for one in declared["implementations"]
    )


def _build(path: str) -> list[Offer]:
    from loopx_host.adapters.files.manifest_folder import open_manifest
    from loopx_host.adapters.packages.discovery import discover
    from loopx_host.adapters.process.judge import ForkedJudge
    from loopx_host.registry.offers import offers

    watch = Watch()
    for place in search_path.search_path():
        watch.glance(place)
    found = discover(watch.glance)

    def opened(manifest: str) -> tuple[ManifestFolder, str]:
        folder, name = open_manifest(manifest)
        return _Watched(folder, watch), name

    rows = offers(found.advertised, opened, ForkedJudge().check)
    for row in rows:
        is_shadowed = row["state"] == discovery_index.SHADOWED
        row["commands"] = [] if is_shadowed else found.commands_of(row["distribution"])
    if watch.is_still:
        document = discovery_index.index(search_path.search_path(), watch.rows, rows)
        _write(path, json.dumps(document).encode("ascii"))
    command_list.write(_commands(found.commands))
    return rows


class _Watched:
    """The folder of a manifest that notes what is read from it, the missing included: they decide its row."""

    def __init__(self, folder: ManifestFolder, watch: Watch) -> None:
        self.location = folder.location
        self._folder = folder
        self._watch = watch

    def read(self, relative: str, limit: int) -> bytes:
        """Return the bytes of `relative`. Raises FolderError (see the port)."""
        self._watch.glance(os.path.join(self.location, relative))
        return self._folder.read(relative, limit)


def _commands(commands: list[tuple[str, str]]) -> list[tuple[str, str, str]]:
    """Return name, summary and state of each command of a package, here or in the release train.

    Until its extension is activated it is off; where its package is absent it keeps its row and says so.
    """
    from loopx_host.adapters.packages import train

    here = [(one_line(name, 40), f"from {one_line(carrier, 60)}", "off") for name, carrier in sorted(set(commands))]
    known = {name for name, _, _ in here}
    absent = [
        (name, f"from {member['distribution']}", "not installed")
        for member in train.members()
        for name in member["commands"]
        if name not in known
    ]
    return [*here, *absent]


def _write(path: str, data: bytes) -> None:
    try:
        paths.make_private(os.path.dirname(path))
        atomic.replace(path, data)
    except OSError:
        pass
