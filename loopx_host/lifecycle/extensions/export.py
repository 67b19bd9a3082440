"""`extension export`: what is installed, in a form that `restore` reads on another machine."""

from __future__ import annotations

from loopx_host.documents import export as document
from loopx_host.lifecycle.extensions.state import BadEntry, State

TYPE_CHECKING = False
if TYPE_CHECKING:
    from loopx_host.documents.export import Export, ExportedExtension
    from loopx_host.lifecycle.extensions.ports import HasStore
    from loopx_host.lifecycle.extensions.state import Entry


def export(ports: HasStore) -> Export:
    """Return the export document; entries that cannot be used are named under `skipped`."""
    entries = State.parse(ports.store.read(), ports.store.location).entries()
    return document.export(
        [_row(entry) for entry in entries if not isinstance(entry, BadEntry)],
        [{"id": entry.id, "code": entry.code} for entry in entries if isinstance(entry, BadEntry)],
    )


def _row(entry: Entry) -> ExportedExtension:
    active = entry.active
    return document.row(
        extension_id=entry.id,
        revision=active.id,
        digest=active.manifest.digest,
        enabled=entry.enabled,
        distribution=active.raw.get("distribution"),
        source=active.raw.get("source", "manifest"),
        manifest_path=active.raw.get("manifest_path"),
    )
