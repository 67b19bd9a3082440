"""`loopx extension rollback`."""

from __future__ import annotations

from loopx_host.cli.arguments import EXECUTE, ID, PLAN
from loopx_host.cli.route import Argument, Route

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Protocol

    from loopx_host.assembly.container import Container
    from loopx_host.documents.operation import Operation

    class Arguments(Protocol):
        id: str
        to: str | None
        execute: bool
        plan: str | None


TO = Argument("--to", metavar="REVISION", help="a kept revision (see `show`); the previous one when left out")
ROUTE = Route(
    "extension rollback",
    (ID, TO, EXECUTE, PLAN),
    "loopx-text-stats --execute",
    refreshes_help=True,
)


def serve(container: Container, arguments: Arguments) -> Operation:
    from loopx_host.lifecycle.extensions.requests import RollbackRequest
    from loopx_host.lifecycle.extensions.rollback import rollback

    request = RollbackRequest(arguments.id, execute=arguments.execute, plan=arguments.plan, to=arguments.to)
    return rollback(request, container)
