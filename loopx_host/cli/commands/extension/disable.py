"""`loopx extension disable`."""

from __future__ import annotations

from loopx_host.cli.arguments import EXECUTE, ID, PLAN
from loopx_host.cli.route import Route

TYPE_CHECKING = False
if TYPE_CHECKING:
    from loopx_host.assembly.container import Container
    from loopx_host.cli.arguments import Change
    from loopx_host.documents.operation import Operation

ROUTE = Route(
    "extension disable",
    (ID, EXECUTE, PLAN),
    "loopx-text-stats --execute",
    refreshes_help=True,
)


def serve(container: Container, arguments: Change) -> Operation:
    from loopx_host.lifecycle.extensions.disable import disable
    from loopx_host.lifecycle.extensions.requests import ChangeRequest

    return disable(ChangeRequest(arguments.id, execute=arguments.execute, plan=arguments.plan), container)
