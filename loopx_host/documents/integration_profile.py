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
        """One operation; `todo_contract` stands there only where its effect is a write.

        The schemas stand here themselves; in a v0 profile there are tokens in their place.
        """

        id: str
        effect_class: str
        required_permission: str
        request_schema: dict[str, object] | str
        result_schema: dict[str, object] | str
        todo_contract: NotRequired[TodoContract]

    class IntegrationProfile(TypedDict):
        """Exactly these keys."""

        schema_version: str
        capability_id: str
        protocol: str
        operations: list[ProfileOperation]


ID = "loopx_external_domain_capability_profile_v1"
KEYS = ("capability_id", "operations", "protocol", "schema_version")


def schema() -> dict[str, object]:
    """Return the JSON Schema of a profile."""
    return schema_of({"const": ID}, {})


def any_schema() -> dict[str, object]:
    """Return the JSON Schema of a profile as a state file may hold it, of either form.

    Releases before ours had an id of its own kept it under that of v0.
    """
    either: dict[str, object] = {"type": "string", "pattern": "^loopx_external_domain_capability_profile_v[01]$"}
    return schema_of(either, {"type": ["object", "string"]})


def schema_of(schema_version: dict[str, object], judge: dict[str, object]) -> dict[str, object]:
    """Return the JSON Schema of a profile whose request and result schemas are each a `judge`."""
    from loopx_host.documents import words

    operation = words.object_of(
        {
            "id": words.TEXT,
            "effect_class": {"enum": ["read_only", "external_write"]},
            "required_permission": words.TEXT,
            "request_schema": judge,
            "result_schema": judge,
        },
        {"todo_contract": words.object_of({"action_kinds": words.TEXTS, "target_key_prefixes": words.TEXTS})},
    )
    fields: dict[str, object] = {
        "schema_version": schema_version,
        "capability_id": words.ID,
        "protocol": words.TEXT,
        "operations": {"type": "array", "minItems": 1, "maxItems": 32, "items": operation},
    }
    return words.object_of({key: fields[key] for key in KEYS}, closed=True)
