"""`loopx capability bind`."""

from __future__ import annotations

from loopx_host.cli.arguments import CAPABILITY, EXECUTE, GOAL, PLAN
from loopx_host.cli.route import Argument, Route

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Protocol

    from loopx_host.assembly.container import Container
    from loopx_host.documents.binding_receipt import BindingReceipt

    class Arguments(Protocol):
        id: str
        goal_id: str
        operation: list[str]
        provider: str | None
        execute: bool
        plan: str | None


OPERATIONS = Argument(
    "--operation", metavar="OP", action="append", required=True, help="an operation of its profile; may be repeated"
)
PROVIDER = Argument("--provider", metavar="ID", help="the extension that shall serve it, where several could")
ROUTE = Route(
    "capability bind",
    (CAPABILITY, GOAL, OPERATIONS, PROVIDER, EXECUTE, PLAN),
    "repo-health --goal-id g1 --operation inspect --execute",
)


def serve(container: Container, arguments: Arguments) -> BindingReceipt:
    from loopx_host.lifecycle.goals.bind import BindRequest, bind

    request = BindRequest(
        arguments.id,
        goal_id=arguments.goal_id,
        operations=arguments.operation,
        provider_id=arguments.provider,
        execute=arguments.execute,
        plan=arguments.plan,
    )
    return bind(request, container)
