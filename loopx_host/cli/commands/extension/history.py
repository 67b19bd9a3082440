"""`loopx extension history`."""

from __future__ import annotations

from loopx_host.cli.arguments import ID
from loopx_host.cli.route import Route

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from loopx_host.assembly.container import Container
    from loopx_host.cli.arguments import Named

ROUTE = Route("extension history", (ID,), "loopx-text-stats")


def serve(container: Container, arguments: Named) -> Mapping[str, object]:
    from loopx_host.lifecycle.extensions.history import history

    return history(arguments.id, container)
