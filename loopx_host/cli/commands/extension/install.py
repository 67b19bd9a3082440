"""`loopx extension install`."""

from __future__ import annotations

from loopx_host.cli.arguments import EXECUTE, MANIFEST, OFFER, PLAN, source
from loopx_host.cli.route import Route

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Protocol

    from loopx_host.assembly.container import Container
    from loopx_host.documents.operation import Operation

    class Arguments(Protocol):
        id: str | None
        manifest: str | None
        execute: bool
        plan: str | None


ROUTE = Route(
    "extension install",
    (OFFER, MANIFEST, EXECUTE, PLAN),
    "--manifest standalone-extension/extension.toml --execute",
    refreshes_help=True,
)


def serve(container: Container, arguments: Arguments) -> Operation:
    from loopx_host.lifecycle.extensions.install import install
    from loopx_host.lifecycle.extensions.requests import TrustRequest

    offer = source(arguments.id, arguments.manifest, ROUTE)
    return install(TrustRequest(*offer, execute=arguments.execute, plan=arguments.plan), container)
