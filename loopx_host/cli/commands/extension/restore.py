"""`loopx extension restore`."""

from __future__ import annotations

from loopx_host.cli.arguments import EXECUTE, PLAN
from loopx_host.cli.route import Argument, Route

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Protocol

    from loopx_host.assembly.container import Container
    from loopx_host.documents.restore import Restore

    class Arguments(Protocol):
        path: str
        execute: bool
        plan: str | None


EXPORT = Argument("path", metavar="PATH", help="a file that `export` wrote; - reads standard input")
ROUTE = Route("extension restore", (EXPORT, EXECUTE, PLAN), "extensions.json --execute")


def serve(container: Container, arguments: Arguments) -> Restore:
    from loopx_host.lifecycle.goals.restore import RestoreRequest, restore

    data, path = container.inputs.export(arguments.path)
    return restore(RestoreRequest(data, path, execute=arguments.execute, plan=arguments.plan), container)
