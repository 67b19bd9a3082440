"""`loopx capability unbind`."""

from __future__ import annotations

from loopx_host.cli.arguments import CAPABILITY, EXECUTE, GOAL, PLAN
from loopx_host.cli.route import Route

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Protocol

    from loopx_host.assembly.container import Container
    from loopx_host.documents.binding_receipt import BindingReceipt

    class Arguments(Protocol):
        id: str
        goal_id: str
        execute: bool
        plan: str | None


ROUTE = Route(
    "capability unbind",
    (CAPABILITY, GOAL, EXECUTE, PLAN),
    "repo-health --goal-id g1 --execute",
)


def serve(container: Container, arguments: Arguments) -> BindingReceipt:
    from loopx_host.lifecycle.goals.bind import UnbindRequest, unbind

    request = UnbindRequest(arguments.id, goal_id=arguments.goal_id, execute=arguments.execute, plan=arguments.plan)
    return unbind(request, container)
