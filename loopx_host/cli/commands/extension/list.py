"""`loopx extension list`."""

from __future__ import annotations

from loopx_host.cli.route import Route

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from loopx_host.assembly.container import Container

ROUTE = Route("extension list", (), "--format json")


def serve(container: Container, _arguments: object) -> Mapping[str, object]:
    from loopx_host.lifecycle.extensions.listing import list_extensions

    return list_extensions(container)
