"""The table of commands: their words, what they do, their arguments, an example."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Argument:
    """One argument of a leaf command, as argparse takes it."""

    __slots__ = ("names", "settings")

    def __init__(self, *names: str, **settings: Any) -> None:  # noqa: ANN401 (argparse's own keywords)
        self.names = names
        self.settings = settings


class Route:
    """One leaf command; `handler` is the function of `cli.commands` that serves it."""

    __slots__ = ("arguments", "example", "handler", "summary", "words")

    def __init__(self, words: str, handler: str, summary: str, arguments: tuple[Argument, ...], example: str) -> None:
        self.words = tuple(words.split())
        self.handler = handler
        self.summary = summary
        self.arguments = arguments
        self.example = example


ID = Argument("id", metavar="ID", help="the extension id")
EXECUTE = Argument(
    "--execute", action="store_true", help="do it; without this the command only says what it would do"
)
MANIFEST = Argument("--manifest", metavar="PATH", required=True, help="the extension.toml to trust")
INPUT = Argument(
    "--input-json", metavar="PATH", required=True, help="the request, one JSON object; - reads standard input"
)

GROUPS = {"extension": "install, prove and run extensions"}

ROUTES = (
    Route(
        "extension install",
        "extension_install",
        "trust one manifest after its doctor proved the provider",
        (MANIFEST, EXECUTE),
        "loopx extension install --manifest standalone-extension/extension.toml --execute",
    ),
    Route(
        "extension list",
        "extension_list",
        "list installed extensions and whether each is ready",
        (),
        "loopx extension list --format json",
    ),
    Route(
        "extension show",
        "extension_show",
        "show manifest, proof, revisions and history of one extension",
        (ID,),
        "loopx extension show loopx-text-stats",
    ),
    Route(
        "extension doctor",
        "extension_doctor",
        "probe an extension and record the proof",
        (ID, EXECUTE),
        "loopx extension doctor loopx-text-stats --execute",
    ),
    Route(
        "extension run",
        "extension_run",
        "run one request in one bounded process",
        (ID, INPUT, EXECUTE),
        "loopx extension run loopx-text-stats --input-json request.json --execute",
    ),
)


def find(words: list[str]) -> Route | None:
    """Return the route whose words `words` begin with, or None."""
    return next((route for route in ROUTES if tuple(words[: len(route.words)]) == route.words), None)
