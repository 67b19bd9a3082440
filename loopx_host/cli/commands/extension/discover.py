"""`loopx extension discover`."""

from __future__ import annotations

from loopx_host.cli.route import Argument, Route

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Protocol

    from loopx_host.assembly.container import Container
    from loopx_host.documents.discovery import Discovery

    class Arguments(Protocol):
        rebuild: bool


REBUILD = Argument("--rebuild", action="store_true", help="look again, whatever the index says")
ROUTE = Route("extension discover", (REBUILD,), refreshes_help=True)


def serve(container: Container, arguments: Arguments) -> Discovery:
    from loopx_host.lifecycle.extensions.discover import DiscoverRequest, discover

    return discover(DiscoverRequest(rebuild=arguments.rebuild), container)
