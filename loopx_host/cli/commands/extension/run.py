"""`loopx extension run`."""

from __future__ import annotations

from loopx_host.cli.arguments import EXECUTE, ID, INPUT, PLAN
from loopx_host.cli.route import Route

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Protocol

    from loopx_host.assembly.container import Container
    from loopx_host.documents.run_receipt import RunReceipt

    class Arguments(Protocol):
        id: str
        input_json: str
        execute: bool
        plan: str | None


ROUTE = Route(
    "extension run",
    (ID, INPUT, EXECUTE, PLAN),
    "loopx-text-stats --input-json request.json --execute",
)


def serve(container: Container, arguments: Arguments) -> RunReceipt:
    """Read the request, within its bound, before anything else is looked at."""
    from loopx_host.lifecycle.dispatch.run import RunRequest, run

    data = container.inputs.request(arguments.input_json)
    return run(RunRequest(arguments.id, data, execute=arguments.execute, plan=arguments.plan), container)
