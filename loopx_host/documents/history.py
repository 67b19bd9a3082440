"""What was done to one extension, newest first."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal, TypedDict

    from loopx_host.documents.state import Event

    class History(TypedDict):
        """The events that the state file kept."""

        ok: Literal[True]
        schema_version: str
        extension_id: str
        active_revision: str
        history: list[Event]


ID = "loopx_extension_history_v0"


def history(extension_id: str, active_revision: str, events: list[Event]) -> History:
    """Return the history of one extension."""
    return {
        "ok": True,
        "schema_version": ID,
        "extension_id": extension_id,
        "active_revision": active_revision,
        "history": events,
    }


def schema() -> dict[str, object]:
    """Return the JSON Schema of a history."""
    from loopx_host.documents import words

    event = words.object_of({"at": words.TIME, "operation": words.TEXT})
    return words.receipt_of(
        ID, {"extension_id": words.ID, "active_revision": words.REVISION, "history": words.rows_of(event)}
    )
