"""`extension list` and `show`: the activation state with its readiness now; no provider byte runs."""

from __future__ import annotations

from loopx_host.lifecycle.extensions.readiness import readiness, why_not_ready
from loopx_host.lifecycle.extensions.receipts import DETAIL_SCHEMA
from loopx_host.lifecycle.extensions.state import REPAIR, STATE_SCHEMA, BadEntry, State

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Protocol

    from loopx_host.lifecycle.extensions.ports import HasPackages, HasStore, Packages
    from loopx_host.lifecycle.extensions.state import Entry

    class ListingPorts(HasStore, HasPackages, Protocol):
        """What looking at installed extensions needs."""


def list_extensions(ports: ListingPorts) -> dict[str, Any]:
    """Return one row per installed extension, a bad entry among them; no state file is an empty list."""
    state = State.parse(ports.store.read(), ports.store.location)
    return {
        "ok": True,
        "schema_version": STATE_SCHEMA,
        "extensions": [
            _bad_row(entry) if isinstance(entry, BadEntry) else row(entry, ports.packages)
            for entry in state.entries()
        ],
    }


def show(extension_id: str, ports: ListingPorts) -> dict[str, Any]:
    """Return everything the state knows of one extension. Raises Refused `extension_not_installed`."""
    entry = State.parse(ports.store.read(), ports.store.location).entry(extension_id)
    return {
        "ok": True,
        "schema_version": DETAIL_SCHEMA,
        **row(entry, ports.packages),
        "permissions": entry.manifest.permissions,
        "launcher": entry.active.launcher,
        "proof": entry.raw.get("proof"),
        "manifest": entry.manifest.form,
        "revisions": [
            {key: revision.raw.get(key) for key in ("revision", "version", "digest", "installed_at", "manifest_path")}
            for revision in entry.revisions
        ],
        "history": entry.raw.get("history", []),
    }


def row(entry: Entry, packages: Packages) -> dict[str, Any]:
    """Return the row of one extension: the v0 fields, then version, readiness and what would change it."""
    now = readiness(entry, packages)
    refused = None if now.is_ready else why_not_ready(now)
    runtime = entry.manifest.runtime
    return {
        "id": entry.id,
        "enabled": entry.enabled,
        "active_revision": entry.active.id,
        "rollback_available": entry.rollback_revision is not None,
        "doctor_verified": now.is_ready,
        "revision_count": len(entry.revisions),
        "version": entry.manifest.version,
        "ready": now.is_ready,
        "reason": None if refused is None else refused.code,
        "changed": now.changed,
        "changed_details": now.details,
        "env": runtime.env if runtime else [],
        "next_command": None if refused is None else refused.diagnostic.next_command,
    }


def _bad_row(entry: BadEntry) -> dict[str, Any]:
    return {
        "id": entry.id,
        "enabled": False,
        "active_revision": None,
        "rollback_available": False,
        "doctor_verified": False,
        "revision_count": 0,
        "version": None,
        "ready": False,
        "reason": entry.code,
        "changed": [],
        "changed_details": [],
        "env": [],
        "next_command": REPAIR,
    }
