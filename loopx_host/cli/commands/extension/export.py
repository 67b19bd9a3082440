"""`loopx extension export`."""

from __future__ import annotations

from loopx_host.cli.arguments import EXECUTE, PLAN
from loopx_host.cli.route import Argument, Route

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Protocol

    from loopx_host.assembly.container import Container
    from loopx_host.documents.export import Export
    from loopx_host.documents.operation import Operation

    class Arguments(Protocol):
        output: str | None
        execute: bool
        plan: str | None


OUTPUT = Argument("--output", metavar="PATH", help="write a file instead of standard output; needs --execute")
ROUTE = Route("extension export", (OUTPUT, EXECUTE, PLAN), "--output extensions.json --execute")


def serve(container: Container, arguments: Arguments) -> Export | Operation:
    """Answer with the document itself where there is no ``--output``."""
    from loopx_host.cli.render.as_json import to_json
    from loopx_host.documents.operation import export_to_file
    from loopx_host.lifecycle.extensions.plan import content_digest, hold_to_plan
    from loopx_host.lifecycle.goals.export import export

    document, output = export(container), arguments.output
    place = container.exports.standing(output) if output is not None else None
    plan = content_digest("export", [document, place])
    preview_command = ("extension", "export", *(("--output", place[0]) if place else ()))
    hold_to_plan(plan, arguments.plan, "export", preview_command)
    if output is None:
        return document
    if arguments.execute:
        container.exports.write(output, to_json(document, indent=True))
    return export_to_file(
        output=output,
        extensions=[row["id"] for row in document["extensions"]],
        skipped=document["skipped"],
        executed=arguments.execute,
        plan=plan,
        next_command=None if arguments.execute else (*preview_command, "--execute"),
    )
