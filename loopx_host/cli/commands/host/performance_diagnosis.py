"""`loopx performance-diagnosis`."""

from __future__ import annotations

from loopx_host.cli.command_line import usage
from loopx_host.cli.route import Argument, Route

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Protocol

    from loopx_host.assembly.container import Container

    class Arguments(Protocol):
        pairs: int


_PAIRS_MOST = 1000
PAIRS = Argument("--pairs", metavar="N", type=int, default=20, help="how many pairs of runs; 20 when left out")
ROUTE = Route("performance-diagnosis", (PAIRS,), "--pairs 20")


def serve(container: Container, arguments: Arguments) -> Mapping[str, object]:
    """Raise Refused `usage_error` for a number of pairs out of bounds."""
    if not 1 <= arguments.pairs <= _PAIRS_MOST:
        raise usage(f"--pairs is from 1 to {_PAIRS_MOST}", ROUTE.words)
    return container.start_up.diagnose(arguments.pairs)
