"""`loopx completions`."""

from __future__ import annotations

from loopx_host.cli.route import Argument, Route
from loopx_host.documents.completions import SHELLS, completions

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Protocol

    from loopx_host.assembly.container import Container
    from loopx_host.documents.completions import Completions

    class Arguments(Protocol):
        shell: str


SHELL = Argument("shell", metavar="SHELL", choices=SHELLS, help="bash, zsh or fish")
ROUTE = Route("completions", (SHELL,), "bash")


def serve(_container: Container, arguments: Arguments) -> Completions:
    from loopx_host.cli.completions import script

    return completions(arguments.shell, script(arguments.shell))
