"""The argparse parser of one leaf command, built from its route."""

from __future__ import annotations

import argparse

from loopx_host.cli.command_line import usage
from loopx_host.cli.index import COMMON
from loopx_host.core.text import one_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

    from loopx_host.cli.route import Route

_WIDTH = 100  # a fixed width: asking the terminal imports shutil, bz2 and lzma


class _Formatter(argparse.RawDescriptionHelpFormatter):
    def __init__(self, prog: str) -> None:
        super().__init__(prog, width=_WIDTH)


class LeafParser(argparse.ArgumentParser):
    """A parser that raises a refusal instead of printing and exiting."""

    def __init__(self, route: Route) -> None:
        super().__init__(
            prog=" ".join(("loopx", *route.words)),
            description=route.summary,
            epilog=f"example:\n  {route.example}",
            formatter_class=_Formatter,
            add_help=False,
            allow_abbrev=False,
        )
        self._route = route
        for argument in route.arguments:
            self.add_argument(*argument.names, **argument.settings)
        # Read before the parser is built (cli.command_line); listed here for the help.
        group = self.add_argument_group("options of every command")
        for flag, (value, text) in COMMON.items():
            metavar = flag.strip("-").upper().replace("-", "_")
            if value is not None:
                group.add_argument(flag, metavar=metavar, help=text)
            else:
                group.add_argument(flag, action="store_true", help=text)

    def error(self, message: str) -> NoReturn:
        """Refuse with `usage_error`."""
        raise usage(one_line(message, 300), self._route.words)
