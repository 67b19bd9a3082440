"""`loopx extension repair`."""

from __future__ import annotations

from loopx_host.cli.arguments import EXECUTE, PLAN
from loopx_host.cli.route import Route

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Protocol

    from loopx_host.assembly.container import Container
    from loopx_host.documents.repair import Repair

    class Arguments(Protocol):
        execute: bool
        plan: str | None


ROUTE = Route("extension repair", (EXECUTE, PLAN), "--execute")


def serve(container: Container, arguments: Arguments) -> Repair:
    from loopx_host.lifecycle.extensions.repair import RepairRequest, repair

    return repair(RepairRequest(execute=arguments.execute, plan=arguments.plan), container)
