"""`loopx capability show`."""

from __future__ import annotations

from loopx_host.cli.arguments import CAPABILITY, DECLARED
from loopx_host.cli.route import Route

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Protocol

    from loopx_host.assembly.container import Container

    class Arguments(Protocol):
        id: str
        extension_manifest: str | None


ROUTE = Route("capability show", (CAPABILITY, DECLARED), "repo-health")


def serve(container: Container, arguments: Arguments) -> Mapping[str, object]:
    from loopx_host.lifecycle.goals.capabilities import show_capability

    return show_capability(arguments.id, arguments.extension_manifest, container)
