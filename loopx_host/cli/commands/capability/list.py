"""`loopx capability list`."""

from __future__ import annotations

from loopx_host.cli.arguments import DECLARED
from loopx_host.cli.route import Route

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Protocol

    from loopx_host.assembly.container import Container

    class Arguments(Protocol):
        extension_manifest: str | None


ROUTE = Route("capability list", (DECLARED,), "--format json", refreshes_help=True)


def serve(container: Container, arguments: Arguments) -> Mapping[str, object]:
    from loopx_host.lifecycle.goals.capabilities import list_capabilities

    return list_capabilities(arguments.extension_manifest, container)
