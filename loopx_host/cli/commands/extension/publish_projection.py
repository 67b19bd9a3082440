"""`loopx extension publish-projection`."""

from __future__ import annotations

from loopx_host.cli.arguments import EXECUTE, FOR_GOAL, ID, INPUT, PLAN, REFERENCE, references
from loopx_host.cli.route import Argument, Route

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Protocol

    from loopx_host.assembly.container import Container
    from loopx_host.documents.publish_receipt import PublishReceipt

    class Arguments(Protocol):
        id: str
        surface: str
        input_json: str
        goal_id: str | None
        ref: list[str] | None
        execute: bool
        plan: str | None


SURFACE = Argument("surface", metavar="SURFACE", help="the id of one of its presentation surfaces")
ROUTE = Route(
    "extension publish-projection",
    (ID, SURFACE, INPUT, FOR_GOAL, REFERENCE, EXECUTE, PLAN),
    "loopx-capability-repo-health repository-health --input-json input.json --goal-id g1 --ref repo=. --execute",
)


def serve(container: Container, arguments: Arguments) -> PublishReceipt:
    from loopx_host.lifecycle.goals.publish import PublicationRequest, publish

    request = PublicationRequest(
        arguments.id,
        arguments.surface,
        container.inputs.request(arguments.input_json),
        execute=arguments.execute,
        goal_id=arguments.goal_id,
        references=references(arguments.ref, ROUTE),
        plan=arguments.plan,
    )
    return publish(request, container)
