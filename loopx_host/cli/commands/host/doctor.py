"""`loopx doctor`."""

from __future__ import annotations

from loopx_host.cli.route import Route

TYPE_CHECKING = False
if TYPE_CHECKING:
    from loopx_host.assembly.container import Container
    from loopx_host.documents.host_doctor import HostDoctor

ROUTE = Route("doctor")


def serve(container: Container, _arguments: object) -> HostDoctor:
    from loopx_host.lifecycle.extensions.host_doctor import host_doctor

    return host_doctor(container)
