"""`loopx extension conformance`."""

from __future__ import annotations

from loopx_host.cli.arguments import EXECUTE, PACKAGE, PLAN
from loopx_host.cli.route import Route

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Protocol

    from loopx_host.assembly.container import Container
    from loopx_host.documents.conformance import Conformance

    class Arguments(Protocol):
        path: str
        execute: bool
        plan: str | None


ROUTE = Route("extension conformance", (PACKAGE, EXECUTE, PLAN), "./acme-word-count --execute")


def serve(container: Container, arguments: Arguments) -> Conformance:
    from loopx_host.authoring.conformance import ConformanceRequest, hold_to_rules

    request = ConformanceRequest(arguments.path, execute=arguments.execute, plan=arguments.plan)
    return hold_to_rules(request, container)
