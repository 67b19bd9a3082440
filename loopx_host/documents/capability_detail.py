"""One capability, as its manifest declares it, with how far its provider is from being usable."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal, NotRequired, TypedDict

    from loopx_host.documents.normal_form import Documentation
    from loopx_host.documents.parts import Command, Facts

    class OperationRow(TypedDict):
        """What a caller can ask for under the profile of a capability."""

        id: str
        effect_class: str
        required_permission: str

    class DetailedCapability(TypedDict):
        """What the manifest says, without its profile; then the operations, and what is in the way."""

        origin: str
        provider_id: str
        provider_version: str
        id: str
        kind: str
        title: str
        status: str
        user_value: str
        next_real_step: str
        visibility: str
        real_world_anchor: NotRequired[str]
        entry_command: NotRequired[str]
        capability_kind: str
        documentation: NotRequired[Documentation]
        operations: list[OperationRow]
        provider_state: Facts
        reason: str | None
        next_command: Command | None
        install_package: str | None
        also_declared_by: list[str]

    class CapabilityDetail(TypedDict):
        """One capability below one key, as v0 has it."""

        ok: Literal[True]
        schema_version: str
        capability: DetailedCapability


ID = "loopx_capability_detail_v0"


def capability_detail(capability: DetailedCapability) -> CapabilityDetail:
    """Return the document of one capability."""
    return {"ok": True, "schema_version": ID, "capability": capability}


def schema() -> dict[str, object]:
    """Return the JSON Schema of one capability."""
    from loopx_host.documents import words

    capability = words.object_of(
        {
            "id": words.TEXT,
            "kind": words.TEXT,
            "title": words.TEXT,
            "status": words.TEXT,
            "provider_id": words.TEXT,
            "provider_state": words.FACTS,
        },
        {"reason": words.NULLABLE_TEXT, "next_command": words.NULLABLE_TEXT},
    )
    return words.receipt_of(ID, {"capability": capability})
