"""`loopx extension conformance`."""

from __future__ import annotations

from loopx_host.cli.arguments import EXECUTE, PACKAGE
from loopx_host.cli.route import Route

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Protocol

    from loopx_host.assembly.container import Container
    from loopx_host.documents.conformance import Conformance

    class Arguments(Protocol):
        path: str
        execute: bool


ROUTE = Route("extension conformance", (PACKAGE, EXECUTE), "./acme-word-count --execute")


def serve(container: Container, arguments: Arguments) -> Conformance:
    from loopx_host.authoring.conformance import ConformanceRequest, hold_to_rules

    return hold_to_rules(ConformanceRequest(arguments.path, execute=arguments.execute), container)
