"""The local index of what the environment offers: a cache, rebuilt whenever something in it changed, never truth."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypedDict

    from loopx_host.documents.normal_form import Capability, Implementation
    from loopx_host.documents.parts import Distribution

    class Declares(TypedDict):
        """What a catalogue of capabilities shows of a manifest that is not installed; profiles are left out."""

        requires_loopx_api: str
        permissions: list[str]
        capabilities: list[Capability]
        implementations: list[Implementation]

    class Offer(TypedDict):
        """One advertised extension. `code` and `reason` say why it is not `available`; then nothing is declared.

        `files` are those its manifest names; `commands` the commands its package brings.
        """

        id: str | None
        distribution: Distribution | None
        location: str
        manifest_path: str | None
        version: str | None
        revision: str | None
        digest: str | None
        files: list[str]
        declares: Declares | None
        commands: list[str]
        state: str
        code: str | None
        reason: str | None

    class IndexUse(TypedDict):
        """What became of the index when it was asked: `fresh`, or why it was rebuilt."""

        status: str
        rebuilt: bool
        path: str

    class DiscoveryIndex(TypedDict):
        """`looked_at` maps each path whose change matters to the stat it had."""

        schema: str
        search_path: list[str]
        looked_at: dict[str, list[int | str]]
        offers: list[Offer]


ID = "loopx_discovery_index_v1"
AVAILABLE, AMBIGUOUS, BROKEN, INCOMPATIBLE, PACKAGE_MISSING, SHADOWED = STATES = (
    *("available", "ambiguous", "broken", "incompatible"),
    *("package_missing", "shadowed"),
)


def index(search_path: list[str], looked_at: dict[str, list[int | str]], offers: list[Offer]) -> DiscoveryIndex:
    """Return the index of what was found on a search path."""
    return {"schema": ID, "search_path": search_path, "looked_at": looked_at, "offers": offers}


def schema() -> dict[str, object]:
    """Return the JSON Schema of the index."""
    from loopx_host.documents import words

    declares = words.object_of(
        {
            "requires_loopx_api": words.TEXT,
            "permissions": words.TEXTS,
            "capabilities": words.rows_of(words.object_of({"id": words.TEXT})),
            "implementations": words.rows_of(words.object_of({"capability_id": words.TEXT, "protocol": words.TEXT})),
        }
    )
    offer = words.object_of(
        {
            "id": words.NULLABLE_TEXT,
            "distribution": words.DISTRIBUTION,
            "location": words.TEXT,
            "manifest_path": words.NULLABLE_TEXT,
            "version": words.NULLABLE_TEXT,
            "revision": words.NULLABLE_REVISION,
            "digest": words.NULLABLE_SHA256,
            "files": words.TEXTS,
            "declares": words.nullable(declares),
            "commands": words.TEXTS,
            "state": {"enum": list(STATES)},
            "code": words.NULLABLE_TEXT,
            "reason": words.NULLABLE_TEXT,
        }
    )
    return words.object_of(
        {
            "schema": {"const": ID},
            "search_path": words.TEXTS,
            "looked_at": {"type": "object", "additionalProperties": {"type": "array"}},
            "offers": words.rows_of(offer),
        }
    )
