"""`loopx extension show`."""

from __future__ import annotations

from loopx_host.cli.arguments import ID
from loopx_host.cli.route import Route

TYPE_CHECKING = False
if TYPE_CHECKING:
    from loopx_host.assembly.container import Container
    from loopx_host.cli.arguments import Named
    from loopx_host.documents.detail import Detail

ROUTE = Route("extension show", (ID,), "loopx-text-stats")


def serve(container: Container, arguments: Named) -> Detail:
    from loopx_host.lifecycle.extensions.listing import show

    return show(arguments.id, container)
