"""`loopx extension init`."""

from __future__ import annotations

from loopx_host.cli.arguments import EXECUTE, PLAN
from loopx_host.cli.route import Argument, Route

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Protocol

    from loopx_host.assembly.container import Container
    from loopx_host.documents.scaffold import Scaffold

    class Arguments(Protocol):
        id: str
        destination: str | None
        version: str
        execute: bool
        plan: str | None


NEW_ID = Argument("id", metavar="ID", help="the id of the new extension, such as acme-word-count")
DESTINATION = Argument("--destination", metavar="DIR", help="the new directory; ./ID when left out")
VERSION = Argument("--version", metavar="VERSION", default="0.1.0", help="its first version, 0.1.0 when left out")
ROUTE = Route(
    "extension init",
    (NEW_ID, DESTINATION, VERSION, EXECUTE, PLAN),
    "acme-word-count --execute",
)


def serve(container: Container, arguments: Arguments) -> Scaffold:
    from loopx_host.authoring.init import InitRequest, init

    request = InitRequest(
        arguments.id,
        destination=arguments.destination,
        version=arguments.version,
        execute=arguments.execute,
        plan=arguments.plan,
    )
    return init(request, container)
