"""`extension history`: what was done to one extension, newest first."""

from __future__ import annotations

from loopx_host.lifecycle.extensions.state import State

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from loopx_host.lifecycle.extensions.ports import HasStore

HISTORY_SCHEMA = "loopx_extension_history_v0"


def history(extension_id: str, ports: HasStore) -> dict[str, Any]:
    """Return the kept history of one extension. Raises Refused `extension_not_installed`."""
    entry = State.parse(ports.store.read(), ports.store.location).entry(extension_id)
    return {
        "ok": True,
        "schema_version": HISTORY_SCHEMA,
        "extension_id": entry.id,
        "active_revision": entry.active.id,
        "history": entry.history,
    }
