"""`loopx capability invoke`."""

from __future__ import annotations

from loopx_host.cli.arguments import CAPABILITY, EXECUTE, GOAL, INPUT, PLAN, REFERENCE, references
from loopx_host.cli.route import Argument, Route

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Protocol

    from loopx_host.assembly.container import Container
    from loopx_host.documents.invocation import Invocation

    class Arguments(Protocol):
        id: str
        goal_id: str
        operation: str
        input_json: str
        ref: list[str] | None
        execute: bool
        plan: str | None


OPERATION = Argument("--operation", metavar="OP", required=True, help="the operation")
ROUTE = Route(
    "capability invoke",
    (CAPABILITY, GOAL, OPERATION, INPUT, REFERENCE, EXECUTE, PLAN),
    "repo-health --goal-id g1 --operation inspect --input-json input.json --ref repo=. --execute",
)


def serve(container: Container, arguments: Arguments) -> Invocation:
    from loopx_host.lifecycle.goals.invoke import InvokeRequest, invoke

    request = InvokeRequest(
        arguments.id,
        container.inputs.request(arguments.input_json),
        goal_id=arguments.goal_id,
        operation_id=arguments.operation,
        references=references(arguments.ref, ROUTE),
        execute=arguments.execute,
        plan=arguments.plan,
    )
    return invoke(request, container)
