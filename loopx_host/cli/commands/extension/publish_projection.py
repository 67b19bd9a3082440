"""`loopx extension publish-projection`."""

from __future__ import annotations

from loopx_host.cli.arguments import EXECUTE, ID, INPUT, PLAN, REFERENCE, references
from loopx_host.cli.route import Argument, Route

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Protocol

    from loopx_host.assembly.container import Container
    from loopx_host.documents.publish_receipt import PublishReceipt

    class Arguments(Protocol):
        id: str
        surface: str
        input_json: str
        ref: list[str] | None
        execute: bool
        plan: str | None


SURFACE = Argument("surface", metavar="SURFACE", help="the id of one of its presentation surfaces")
ROUTE = Route(
    "extension publish-projection",
    (ID, SURFACE, INPUT, REFERENCE, EXECUTE, PLAN),
    "loopx-capability-repo-health repository-health --input-json input.json --ref repo=. --execute",
)


def serve(container: Container, arguments: Arguments) -> PublishReceipt:
    from loopx_host.lifecycle.dispatch.publish_projection import PublishRequest, publish_projection

    request = PublishRequest(
        arguments.id,
        arguments.surface,
        container.inputs.request(arguments.input_json),
        execute=arguments.execute,
        references=references(arguments.ref, ROUTE),
        plan=arguments.plan,
    )
    return publish_projection(request, container)
