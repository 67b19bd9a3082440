"""A published view as it lies on disk: bound to an extension, a revision and a surface."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypedDict

    class Projection(TypedDict):
        """Exactly these keys; `payload_sha256` is over the canonical JSON of the view.

        `document_sha256` is over that of everything else: whose view it is cannot be edited by itself.
        """

        schema_version: str
        extension_id: str
        revision: str
        surface_id: str
        visibility: str
        view_schema: str
        published_at: str
        payload_sha256: str
        payload: dict[str, object]
        document_sha256: str


ID = "extension_projection_v0"
STATES = ("empty", "ready", "review_due", "invalid", "other_revision")
KEYS = frozenset(
    {
        *("schema_version", "extension_id", "revision", "surface_id", "visibility", "view_schema"),
        *("published_at", "payload_sha256", "payload", "document_sha256"),
    }
)


def projection(
    *,
    extension_id: str,
    revision: str,
    surface_id: str,
    visibility: str,
    view_schema: str,
    published_at: str,
    payload_sha256: str,
    payload: dict[str, object],
) -> Projection:
    """Return the document of one published view, which is yet to be `sealed`."""
    return {
        "schema_version": ID,
        "extension_id": extension_id,
        "revision": revision,
        "surface_id": surface_id,
        "visibility": visibility,
        "view_schema": view_schema,
        "published_at": published_at,
        "payload_sha256": payload_sha256,
        "payload": payload,
        "document_sha256": "",
    }


def sealed(document: Projection, document_sha256: str) -> Projection:
    """Return the document with the digest over what it `says`."""
    return {**document, "document_sha256": document_sha256}


def says(document: Projection) -> dict[str, object]:
    """Return what a document says of its view: whose it is, and which."""
    return {key: value for key, value in document.items() if key not in ("payload", "document_sha256")}


def schema() -> dict[str, object]:
    """Return the JSON Schema of a projection."""
    from loopx_host.documents import words

    return words.object_of(
        {
            "schema_version": {"const": ID},
            "extension_id": words.ID,
            "revision": words.REVISION,
            "surface_id": words.TEXT,
            "visibility": {"enum": ["public-safe", "owner-only"]},
            "view_schema": words.TEXT,
            "published_at": words.TIME,
            "payload_sha256": words.SHA256,
            "payload": words.OBJECT,
            "document_sha256": words.SHA256,
        },
        closed=True,
    )
