"""`loopx extension doctor`."""

from __future__ import annotations

from loopx_host.cli.arguments import EXECUTE, ID, PLAN
from loopx_host.cli.route import Route

TYPE_CHECKING = False
if TYPE_CHECKING:
    from loopx_host.assembly.container import Container
    from loopx_host.cli.arguments import Change
    from loopx_host.documents.doctor import Doctor

ROUTE = Route(
    "extension doctor",
    (ID, EXECUTE, PLAN),
    "loopx-text-stats --execute",
)


def serve(container: Container, arguments: Change) -> Doctor:
    from loopx_host.lifecycle.extensions.doctor import doctor
    from loopx_host.lifecycle.extensions.requests import ChangeRequest

    return doctor(ChangeRequest(arguments.id, execute=arguments.execute, plan=arguments.plan), container)
