"""The catalogue of capabilities: who declares each, how far it is from being usable, what is shown on surfaces."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal, NotRequired, TypedDict

    from loopx_host.documents.parts import BadEntry, Command, Facts

    class CatalogCapability(TypedDict):
        """One public capability; `reason` is the code of what is in the way, `also_declared_by` who clashes with it.

        `install_package` is a command for a person, never run.
        """

        id: str
        title: str | None
        status: str | None
        origin: str
        visibility: str
        provider_id: str
        provider_state: Facts
        real_world_anchor: str | None
        entry_command: str | None
        documentation_route: str | None
        implemented_protocol_count: int
        implementation_provider_count: int
        smoke_count: int
        next_real_step: str | None
        reason: str | None
        next_command: Command | None
        install_package: str | None
        also_declared_by: list[str]

    class CatalogProvider(TypedDict):
        """One manifest with the facts of its activation; the core itself has only these facts."""

        id: str
        origin: str
        declared: bool
        installed: bool
        enabled: bool
        ready: bool
        version: NotRequired[str]
        requires_loopx_api: NotRequired[str]
        permissions: NotRequired[list[str]]
        reason: NotRequired[str | None]
        next_command: NotRequired[Command | None]
        install_package: NotRequired[str | None]

    class EmptyState(TypedDict):
        """What a surface shows while nothing is published on it."""

        title: str
        detail: str

    class SurfaceRow(TypedDict):
        """One declared surface; `payload` is its view, in the states `ready` and `review_due` only."""

        extension_id: str
        surface_id: str
        revision: str
        kind: str
        title: str
        visibility: str
        view_schema: str
        enabled: bool
        ready: bool
        state: str
        reason: str | None
        written_by: str | None
        published_at: str | None
        review_after: object
        payload_sha256: str | None
        payload: dict[str, object] | None
        empty_state: EmptyState

    class CapabilityRows(TypedDict):
        """The two lists that manifests and activation facts alone decide."""

        capabilities: list[CatalogCapability]
        providers: list[CatalogProvider]

    class CapabilityCatalog(CapabilityRows):
        """`invalid` are entries and offers that cannot be used."""

        ok: Literal[True]
        schema_version: str
        presentation_surfaces: list[SurfaceRow]
        invalid: list[BadEntry]


ID = "loopx_capability_catalog_v0"


def capability_catalog(
    rows: CapabilityRows, *, presentation_surfaces: list[SurfaceRow], invalid: list[BadEntry]
) -> CapabilityCatalog:
    """Return the catalogue of these rows."""
    return {
        "ok": True,
        "schema_version": ID,
        **rows,
        "presentation_surfaces": presentation_surfaces,
        "invalid": invalid,
    }


def schema() -> dict[str, object]:
    """Return the JSON Schema of the catalogue."""
    from loopx_host.documents import words

    capability = words.object_of(
        {
            "id": words.TEXT,
            "title": words.NULLABLE_TEXT,
            "status": words.NULLABLE_TEXT,
            "origin": words.TEXT,
            "provider_id": words.TEXT,
            "visibility": {"const": "public"},
            "provider_state": words.FACTS,
            "real_world_anchor": words.NULLABLE_TEXT,
            "entry_command": words.NULLABLE_TEXT,
            "next_real_step": words.NULLABLE_TEXT,
            "implemented_protocol_count": words.COUNT,
            "implementation_provider_count": words.COUNT,
        },
        {"reason": words.NULLABLE_TEXT, "next_command": words.NULLABLE_TEXT},
    )
    facts = dict.fromkeys(("declared", "installed", "enabled", "ready"), words.BOOLEAN)
    provider = words.object_of({"id": words.TEXT, "origin": {"enum": ["builtin", "extension"]}, **facts})
    return words.receipt_of(ID, {"capabilities": words.rows_of(capability), "providers": words.rows_of(provider)})
