"""What a package's command may ask of the host: governed calls and publishing, nothing else (see the hook's page)."""

from __future__ import annotations

from loopx_host.assembly.encoding import encode_request

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from loopx_host.assembly.governed import GovernedOperations


class CommandHost:
    """The host as a command sees it; every call is the same as from the command line, and refused the same."""

    def __init__(self, operations: GovernedOperations) -> None:
        self._operations = operations

    def invoke(
        self,
        capability_id: str,
        operation: str,
        input: Mapping[str, object],  # noqa: A002 (the word of the contract)
        *,
        goal_id: str,
        references: Mapping[str, str] | None = None,
    ) -> dict[str, Any]:
        """Invoke a bound read-only operation and return its receipt. Raises Refused."""
        return self._operations.invoke(
            capability_id,
            encode_request(input),
            goal_id=goal_id,
            operation=operation,
            references=dict(references or {}),
            execute=True,
        )

    def publish(
        self,
        extension_id: str,
        surface_id: str,
        input: Mapping[str, object],  # noqa: A002 (the word of the contract)
        *,
        references: Mapping[str, str] | None = None,
    ) -> dict[str, Any]:
        """Publish a view on a surface of an extension and return the receipt. Raises Refused."""
        return self._operations.publish_projection(
            extension_id, surface_id, encode_request(input), execute=True, references=dict(references or {})
        )
