"""`loopx extension history`."""

from __future__ import annotations

from loopx_host.cli.arguments import ID
from loopx_host.cli.route import Route

TYPE_CHECKING = False
if TYPE_CHECKING:
    from loopx_host.assembly.container import Container
    from loopx_host.cli.arguments import Named
    from loopx_host.documents.history import History

ROUTE = Route("extension history", (ID,), "loopx-text-stats")


def serve(container: Container, arguments: Named) -> History:
    from loopx_host.lifecycle.extensions.history import history

    return history(arguments.id, container)
