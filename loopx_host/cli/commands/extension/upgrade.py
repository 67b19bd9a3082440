"""`loopx extension upgrade`."""

from __future__ import annotations

from loopx_host.cli.arguments import EXECUTE, MANIFEST, OFFER, PLAN, source
from loopx_host.cli.route import Argument, Route

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Protocol

    from loopx_host.assembly.container import Container
    from loopx_host.documents.operation import Operation

    class Arguments(Protocol):
        id: str | None
        manifest: str | None
        accept_permissions: bool
        execute: bool
        plan: str | None


ACCEPT = Argument(
    "--accept-permissions", action="store_true", help="accept that the new revision declares more permissions"
)
ROUTE = Route(
    "extension upgrade",
    (OFFER, MANIFEST, ACCEPT, EXECUTE, PLAN),
    "--manifest standalone-extension/extension.toml --execute",
    refreshes_help=True,
)


def serve(container: Container, arguments: Arguments) -> Operation:
    from loopx_host.lifecycle.extensions.requests import TrustRequest
    from loopx_host.lifecycle.extensions.upgrade import upgrade

    request = TrustRequest(
        *source(arguments.id, arguments.manifest, ROUTE),
        execute=arguments.execute,
        plan=arguments.plan,
        accept_permissions=arguments.accept_permissions,
    )
    return upgrade(request, container)
