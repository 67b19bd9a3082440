"""`loopx extension uninstall`."""

from __future__ import annotations

from loopx_host.cli.arguments import EXECUTE, ID, PLAN
from loopx_host.cli.route import Route

TYPE_CHECKING = False
if TYPE_CHECKING:
    from loopx_host.assembly.container import Container
    from loopx_host.cli.arguments import Change
    from loopx_host.documents.operation import Operation

ROUTE = Route(
    "extension uninstall",
    (ID, EXECUTE, PLAN),
    "loopx-text-stats --execute",
    refreshes_help=True,
)


def serve(container: Container, arguments: Change) -> Operation:
    from loopx_host.lifecycle.extensions.requests import ChangeRequest
    from loopx_host.lifecycle.extensions.uninstall import uninstall

    return uninstall(ChangeRequest(arguments.id, execute=arguments.execute, plan=arguments.plan), container)
