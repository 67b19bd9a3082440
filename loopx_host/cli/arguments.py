"""Arguments that several commands take, and what argparse cannot say of them."""

from __future__ import annotations

from loopx_host.cli.command_line import usage
from loopx_host.cli.route import Argument

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Protocol

    from loopx_host.cli.route import Route

    class Named(Protocol):
        """What a command reads that looks at one extension."""

        id: str

    class Change(Protocol):
        """What a command reads that changes one extension."""

        id: str
        execute: bool
        plan: str | None


ID = Argument("id", metavar="ID", help="the extension id")
EXECUTE = Argument(
    "--execute", action="store_true", help="do it; without this the command only says what it would do"
)
PLAN = Argument("--plan", metavar="DIGEST", help="refuse unless this is still the change that a preview showed")
OFFER = Argument("id", metavar="ID", nargs="?", help="the id an installed package offers (see `discover`)")
MANIFEST = Argument("--manifest", metavar="PATH", help="the extension.toml to trust, instead of an ID")
PACKAGE = Argument("path", metavar="PATH", help="a manifest, or the folder of a package")
INPUT = Argument(
    "--input-json", metavar="PATH", required=True, help="the request, one JSON object; - reads standard input"
)
REFERENCE = Argument(
    "--ref", metavar="NAME=PATH", action="append", help="a context reference that the operation may read"
)
DECLARED = Argument("--extension-manifest", metavar="PATH", help="count the capabilities of this manifest too")
CAPABILITY = Argument("id", metavar="ID", help="the capability id")
GOAL = Argument("--goal-id", metavar="GOAL", required=True, help="the goal the call is made for")
FOR_GOAL = Argument("--goal-id", metavar="GOAL", help="the goal that references are opened for; it is bound to that")


def source(extension_id: str | None, manifest: str | None, route: Route) -> tuple[str | None, str | None]:
    """Return both, of which exactly one must be given. Raises Refused `usage_error`."""
    if (extension_id is None) == (manifest is None):
        raise usage("give either an ID or --manifest PATH", route.words)
    return extension_id, manifest


def references(given: list[str] | None, route: Route) -> dict[str, str]:
    """Return name → path of each ``--ref NAME=PATH``. Raises Refused `usage_error`."""
    paths: dict[str, str] = {}
    for reference in given or ():
        name, mark, path = reference.partition("=")
        if not (name and mark and path) or name in paths:
            raise usage("--ref is NAME=PATH, each name once", route.words)
        paths[name] = path
    return paths
