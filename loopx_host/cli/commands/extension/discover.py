"""`loopx extension discover`."""

from __future__ import annotations

from loopx_host.cli.route import Argument, Route

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Protocol

    from loopx_host.assembly.container import Container

    class Arguments(Protocol):
        rebuild: bool


REBUILD = Argument("--rebuild", action="store_true", help="look again, whatever the index says")
ROUTE = Route("extension discover", (REBUILD,), refreshes_help=True)


def serve(container: Container, arguments: Arguments) -> Mapping[str, object]:
    from loopx_host.lifecycle.extensions.discover import DiscoverRequest, discover

    return discover(DiscoverRequest(rebuild=arguments.rebuild), container)
