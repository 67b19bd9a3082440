"""The execution envelope: exactly what one governed call may do. A binding to one request, and no credential."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypedDict

    class Scope(TypedDict):
        """For which goal, what, and with which references open (by name)."""

        goal_id: object
        capability_id: object
        operation: object
        references: list[object]

    class ExecutionEnvelope(TypedDict):
        """Exactly these keys; `request_sha256` is over the canonical JSON of the request without its envelope."""

        schema_version: str
        action: str
        scope: Scope
        extension_id: str
        revision: str
        request_sha256: str


ID = "loopx_extension_execution_envelope_v0"
KEYS = ("schema_version", "action", "scope", "extension_id", "revision", "request_sha256")


def envelope(
    *, action: str, scope: Scope, extension_id: str, revision: str, request_sha256: str
) -> ExecutionEnvelope:
    """Return the envelope of one request."""
    return {
        "schema_version": ID,
        "action": action,
        "scope": scope,
        "extension_id": extension_id,
        "revision": revision,
        "request_sha256": request_sha256,
    }


def schema() -> dict[str, object]:
    """Return the JSON Schema of an envelope."""
    from loopx_host.documents import words

    scope = words.object_of(
        {
            "goal_id": words.TEXT,
            "capability_id": words.TEXT,
            "operation": words.TEXT,
            "references": words.TEXTS,
        },
        closed=True,
    )
    return words.object_of(
        {
            "schema_version": {"const": ID},
            "action": {"type": "string", "pattern": "^capability\\.invoke:"},
            "scope": scope,
            "extension_id": words.ID,
            "revision": words.REVISION,
            "request_sha256": words.SHA256,
        },
        closed=True,
    )
