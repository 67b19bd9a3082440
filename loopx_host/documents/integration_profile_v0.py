"""The profile of a plain v0 package: its schemas are tokens, the `schema_version` of requests and of results."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NotRequired, TypedDict

    from loopx_host.documents.integration_profile import TodoContract

    class OperationV0(TypedDict):
        """One operation; `required_permission` is a word of its domain."""

        id: str
        effect_class: str
        required_permission: str
        request_schema: str
        result_schema: str
        todo_contract: NotRequired[TodoContract]

    class IntegrationProfileV0(TypedDict):
        """Exactly these keys."""

        schema_version: str
        capability_id: str
        protocol: str
        operations: list[OperationV0]


ID = "loopx_external_domain_capability_profile_v0"


def schema() -> dict[str, object]:
    """Return the JSON Schema of a v0 profile."""
    from loopx_host.documents import integration_profile

    return integration_profile.schema_of({"const": ID}, {"type": "string", "pattern": "^[!-~]{1,128}$"})
