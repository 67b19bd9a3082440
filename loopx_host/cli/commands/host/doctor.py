"""`loopx doctor`."""

from __future__ import annotations

from loopx_host.cli.route import Route

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from loopx_host.assembly.container import Container

ROUTE = Route("doctor")


def serve(container: Container, _arguments: object) -> Mapping[str, object]:
    from loopx_host.lifecycle.extensions.host_doctor import host_doctor

    return host_doctor(container)
