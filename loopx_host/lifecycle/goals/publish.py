"""`extension publish-projection`: a view by itself, or for a goal, whose call alone opens context references."""

from __future__ import annotations

from loopx_host.lifecycle.dispatch.call_provider import refuse_when_off
from loopx_host.lifecycle.dispatch.publish_projection import PublishRequest, publish_projection

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Protocol

    from loopx_host.documents.publish_receipt import PublishReceipt
    from loopx_host.lifecycle.dispatch.ports import HasReferences
    from loopx_host.lifecycle.dispatch.publish_projection import PublishPorts
    from loopx_host.lifecycle.goals.ports import HasBindings

    class PublicationPorts(PublishPorts, HasBindings, HasReferences, Protocol):
        """What a publication needs that may be made for a goal."""


class PublicationRequest(PublishRequest):
    """Publish a view, or say whether it would be published; for `goal_id`, with its `references` opened.

    `references` maps names to paths of the caller.
    """

    __slots__ = ("goal_id", "references")

    def __init__(
        self,
        extension_id: str,
        surface_id: str,
        data: bytes,
        *,
        execute: bool,
        goal_id: str | None = None,
        references: dict[str, str] | None = None,
        plan: str | None = None,
    ) -> None:
        super().__init__(extension_id, surface_id, data, execute=execute, plan=plan)
        self.goal_id = goal_id
        self.references = references or {}


def publish(request: PublicationRequest, ports: PublicationPorts) -> PublishReceipt:
    """Publish one view, or say whether it would be; with references only as a governed call of a bound goal.

    Raises Refused: `goal_required`, those of `dispatch.publish_projection` and, for a goal, those of a governed call.
    """
    if request.goal_id is None and not request.references:
        return publish_projection(request, ports)
    refuse_when_off(ports)
    from loopx_host.lifecycle.goals.governed_publication import GovernedPublication, goal_required

    if request.goal_id is None:
        raise goal_required(request.extension_id, request.references, ports)
    governing = GovernedPublication(request.goal_id, request.references, request, ports)
    return publish_projection(request, ports, governing)
