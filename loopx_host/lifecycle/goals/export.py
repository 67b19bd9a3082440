"""`extension export`: what is installed and bound, in a form that `restore` reads on another machine."""

from __future__ import annotations

from loopx_host.documents import export as document
from loopx_host.lifecycle.extensions.state import BadEntry, State
from loopx_host.lifecycle.goals.bindings import Bindings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Protocol

    from loopx_host.documents.export import Export, ExportedExtension
    from loopx_host.lifecycle.extensions.ports import HasStore
    from loopx_host.lifecycle.extensions.state import Entry
    from loopx_host.lifecycle.goals.ports import HasBindings

    class ExportPorts(HasStore, HasBindings, Protocol):
        """What exporting reads."""


def export(ports: ExportPorts) -> Export:
    """Return the export document; entries that cannot be used are named under `skipped`.

    Raises Refused: those of the stores, `state_damaged` and `bindings_damaged`.
    """
    entries = State.parse(ports.store.read(), ports.store.location).entries()
    bindings = Bindings.parse(ports.bindings.read(), ports.bindings.location)
    return document.export(
        [_row(entry) for entry in entries if not isinstance(entry, BadEntry)],
        bindings.rows,
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
