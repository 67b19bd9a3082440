"""`extension export`: what is installed, in a form that `restore` reads on another machine."""

from __future__ import annotations

from loopx_host.lifecycle.extensions.state import BadEntry, State

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from loopx_host.lifecycle.extensions.ports import HasStore
    from loopx_host.lifecycle.extensions.state import Entry

EXPORT_SCHEMA = "loopx_extension_export_v0"


def export(ports: HasStore) -> dict[str, Any]:
    """Return the export document; entries that cannot be used are named under `skipped`."""
    entries = State.parse(ports.store.read(), ports.store.location).entries()
    return {
        "ok": True,
        "schema_version": EXPORT_SCHEMA,
        "schema": EXPORT_SCHEMA,
        "extensions": [_row(entry) for entry in entries if not isinstance(entry, BadEntry)],
        "skipped": [{"id": entry.id, "code": entry.code} for entry in entries if isinstance(entry, BadEntry)],
    }


def _row(entry: Entry) -> dict[str, Any]:
    active = entry.active
    return {
        "id": entry.id,
        "revision": active.id,
        "digest": active.manifest.digest,
        "enabled": entry.enabled,
        "distribution": active.raw.get("distribution"),
        "source": active.raw.get("source", "manifest"),
        "manifest_path": active.raw.get("manifest_path"),
    }
