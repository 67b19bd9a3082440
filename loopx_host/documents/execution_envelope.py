"""The execution envelope: exactly what one governed call may do. A binding to one request, and no credential."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NotRequired, TypedDict

    class Scope(TypedDict):
        """For which goal, what, and with which references open (by name); the rest where a request says it."""

        goal_id: object
        capability_id: object
        operation: object
        references: list[object]
        surface: NotRequired[object]
        agent: NotRequired[object]
        workspace: NotRequired[object]
        delivery: NotRequired[object]

    class EnvelopeExtension(TypedDict):
        """The one extension that may act, at one revision."""

        id: str
        revision: str

    class ExecutionEnvelope(TypedDict):
        """Exactly these keys; `request_digest` is over the canonical JSON of the request without its envelope."""

        schema_version: str
        action: str
        scope: Scope
        extension: EnvelopeExtension
        request_digest: str


ID = "loopx_extension_execution_envelope_v0"
KEYS = ("schema_version", "action", "scope", "extension", "request_digest")
SCOPE_OF_A_TURN = ("agent", "workspace", "delivery")
ACTION = "^[a-z][a-z0-9_.:-]{0,127}$"


def envelope(
    *, action: str, scope: Scope, extension_id: str, revision: str, request_sha256: str
) -> ExecutionEnvelope:
    """Return the envelope of one request."""
    return {
        "schema_version": ID,
        "action": action,
        "scope": scope,
        "extension": {"id": extension_id, "revision": revision},
        "request_digest": f"sha256:{request_sha256}",
    }


def schema() -> dict[str, object]:
    """Return the JSON Schema of an envelope."""
    from loopx_host.documents import words

    return words.object_of(
        {
            "schema_version": {"const": ID},
            "action": {"type": "string", "pattern": ACTION},
            "scope": {"type": "object", "minProperties": 1},
            "extension": words.object_of({"id": words.ID, "revision": words.REVISION}, closed=True),
            "request_digest": words.DIGEST,
        },
        closed=True,
    )
