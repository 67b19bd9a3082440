"""The integration profile of a capability: which operations it has, with which effect, for which todo."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NotRequired, TypedDict

    class TodoContract(TypedDict):
        """What of a todo an operation that writes may serve."""

        action_kinds: list[str]
        target_key_prefixes: list[str]

    class ProfileOperation(TypedDict):
        """One operation; the schemas stand here themselves, and `todo_contract` only where its effect is a write."""

        id: str
        effect_class: str
        required_permission: str
        request_schema: dict[str, object]
        result_schema: dict[str, object]
        todo_contract: NotRequired[TodoContract]

    class IntegrationProfile(TypedDict):
        """Exactly these keys."""

        schema_version: str
        capability_id: str
        protocol: str
        operations: list[ProfileOperation]


ID = "loopx_external_domain_capability_profile_v0"
KEYS = ("capability_id", "operations", "protocol", "schema_version")


def schema() -> dict[str, object]:
    """Return the JSON Schema of a profile."""
    from loopx_host.documents import words

    operation = words.object_of(
        {
            "id": words.TEXT,
            "effect_class": {"enum": ["read_only", "external_write"]},
            "required_permission": words.TEXT,
            "request_schema": {},
            "result_schema": {},
        },
        {"todo_contract": words.object_of({"action_kinds": words.TEXTS, "target_key_prefixes": words.TEXTS})},
    )
    fields: dict[str, object] = {
        "schema_version": {"const": ID},
        "capability_id": words.ID,
        "protocol": words.TEXT,
        "operations": {"type": "array", "minItems": 1, "maxItems": 32, "items": operation},
    }
    return words.object_of({key: fields[key] for key in KEYS}, closed=True)
