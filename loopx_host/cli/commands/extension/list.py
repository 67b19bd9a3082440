"""`loopx extension list`."""

from __future__ import annotations

from loopx_host.cli.route import Route

TYPE_CHECKING = False
if TYPE_CHECKING:
    from loopx_host.assembly.container import Container
    from loopx_host.documents.extension_list import ExtensionList

ROUTE = Route("extension list", (), "--format json")


def serve(container: Container, _arguments: object) -> ExtensionList:
    from loopx_host.lifecycle.extensions.listing import list_extensions

    return list_extensions(container)
