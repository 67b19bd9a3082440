"""`extension history`: what was done to one extension, newest first."""

from __future__ import annotations

from loopx_host.documents import history as document
from loopx_host.lifecycle.extensions.state import State

TYPE_CHECKING = False
if TYPE_CHECKING:
    from loopx_host.documents.history import History
    from loopx_host.lifecycle.extensions.ports import HasStore


def history(extension_id: str, ports: HasStore) -> History:
    """Return the kept history of one extension. Raises Refused `extension_not_installed`."""
    entry = State.parse(ports.store.read(), ports.store.location).entry(extension_id)
    return document.history(entry.id, entry.active.id, entry.history)
