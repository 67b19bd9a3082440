"""How a command is written (words, arguments, example), and the way from its row of the index to its module."""

from __future__ import annotations

from loopx_host.cli.index import ROWS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from types import SimpleNamespace
    from typing import Any, Protocol, Required, TypedDict, Unpack

    from loopx_host.assembly.container import Container
    from loopx_host.cli.index import Row

    class Settings(TypedDict, total=False):
        """What argparse is told of an argument."""

        help: Required[str]
        metavar: str
        action: str
        nargs: str
        required: bool
        default: object
        choices: tuple[str, ...]
        type: Callable[[str], object]

    class CommandModule(Protocol):
        """What a module below `cli.commands` holds."""

        ROUTE: Route

        def serve(self, container: Container, arguments: Any, /) -> Mapping[str, object]:  # noqa: ANN401
            """Serve one call; each command says which `arguments` it reads. Raises Refused, Interrupted."""


class Argument:
    """One argument of a command, as argparse takes it."""

    __slots__ = ("names", "settings")

    def __init__(self, *names: str, **settings: Unpack[Settings]) -> None:
        self.names = names
        self.settings = settings

    @property
    def is_optional(self) -> bool:
        """Whether a command line without this argument is complete."""
        return self.names[0].startswith("-") and not self.settings.get("required", False)

    @property
    def name(self) -> str:
        """The attribute under which a command reads its value."""
        return self.names[0].lstrip("-").replace("-", "_")

    @property
    def default(self) -> object:
        """Its value where it is left out."""
        return self.settings.get("default", False if self.settings.get("action") == "store_true" else None)


class Route:
    """How one command is written; with `refreshes_help` it may change which commands of packages are on."""

    __slots__ = ("arguments", "example", "refreshes_help", "words")

    def __init__(
        self, words: str, arguments: tuple[Argument, ...] = (), example: str = "", *, refreshes_help: bool = False
    ) -> None:
        self.words = tuple(words.split())
        self.arguments = arguments
        self.example = f"loopx {words} {example}".rstrip()
        self.refreshes_help = refreshes_help

    @property
    def summary(self) -> str:
        """What the command does, as its row in the index says it."""
        return next(row.summary for row in ROWS if row.words == self.words)


def defaults(route: Route) -> SimpleNamespace:
    """Return the arguments of a command that was given none, as argparse would have them."""
    from types import SimpleNamespace as Arguments

    return Arguments(**{argument.name: argument.default for argument in route.arguments})


def load(row: Row) -> CommandModule:
    """Import the module of a command."""
    # Not importlib.import_module: the import system is loaded already, that package of it is not.
    module: CommandModule = __import__(row.module, fromlist=["ROUTE"])
    return module


def routes() -> tuple[Route, ...]:
    """Return the route of every command in the order of the index; this imports every command."""
    return tuple(load(row).ROUTE for row in ROWS)
