"""What a package's command may ask of the host: governed calls and publishing, nothing else (see the hook's page)."""

from __future__ import annotations

from loopx_host.assembly.encoding import encode_request

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Protocol

    from loopx_host.documents.invocation import Invocation
    from loopx_host.documents.publish_receipt import PublishReceipt
    from loopx_host.lifecycle.goals.invoke import InvokePorts
    from loopx_host.lifecycle.goals.publish import PublicationPorts

    class CommandPorts(InvokePorts, PublicationPorts, Protocol):
        """What a command may have done for it."""


class LocalCommandHost:
    """The `CommandHost` of the hooks; every call is the same as from the command line, and refused the same.

    Without `execute`, which the caller gives on the command line and no package does, every call is a preview.
    """

    def __init__(self, ports: CommandPorts, *, execute: bool) -> None:
        self._ports = ports
        self._execute = execute

    def invoke(
        self,
        capability_id: str,
        operation: str,
        input: Mapping[str, object],  # noqa: A002 (the word of the request)
        *,
        goal_id: str,
        references: Mapping[str, str] | None = None,
    ) -> Invocation:
        """Invoke a bound read-only operation, or preview it, and return its receipt. Raises Refused."""
        from loopx_host.lifecycle.goals.invoke import InvokeRequest
        from loopx_host.lifecycle.goals.invoke import invoke as invoke_operation

        request = InvokeRequest(
            capability_id,
            encode_request(input),
            goal_id=goal_id,
            operation_id=operation,
            references=dict(references or {}),
            execute=self._execute,
        )
        return invoke_operation(request, self._ports)

    def publish(
        self,
        extension_id: str,
        surface: str,
        input: Mapping[str, object],  # noqa: A002 (the word of the request)
        *,
        goal_id: str | None = None,
        references: Mapping[str, str] | None = None,
    ) -> PublishReceipt:
        """Publish a view on a surface of an extension, or preview it, and return the receipt. Raises Refused."""
        from loopx_host.lifecycle.goals.publish import PublicationRequest
        from loopx_host.lifecycle.goals.publish import publish as publish_view

        request = PublicationRequest(
            extension_id,
            surface,
            encode_request(input),
            execute=self._execute,
            goal_id=goal_id,
            references=dict(references or {}),
        )
        return publish_view(request, self._ports)
