"""`loopx extension schema`; the schema itself is the answer."""

from __future__ import annotations

from loopx_host.cli.route import Argument, Route

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Protocol

    from loopx_host.assembly.container import Container

    class Arguments(Protocol):
        name: str


NAME = Argument("name", metavar="NAME", help="manifest, state, run-receipt, …; an unknown name lists them all")
ROUTE = Route("extension schema", (NAME,), "manifest")


def serve(_container: Container, arguments: Arguments) -> Mapping[str, object]:
    """Raise Refused `schema_unknown` for another name."""
    from loopx_host.authoring.documents import schema

    return schema(arguments.name)
