"""The table of commands: their words, what they do, their arguments, an example."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import SimpleNamespace
    from typing import Any


class Argument:
    """One argument of a leaf command, as argparse takes it."""

    __slots__ = ("names", "settings")

    def __init__(self, *names: str, **settings: Any) -> None:  # noqa: ANN401 (argparse's own keywords)
        self.names = names
        self.settings = settings

    @property
    def is_optional(self) -> bool:
        """Whether a command line without this argument is complete."""
        return self.names[0].startswith("-") and not self.settings.get("required", False)

    @property
    def name(self) -> str:
        """The attribute under which its value is found."""
        return self.names[0].lstrip("-").replace("-", "_")

    @property
    def default(self) -> object:
        """Its value where it is left out."""
        return self.settings.get("default", False if self.settings.get("action") == "store_true" else None)


class Route:
    """One leaf command; `handler` is the function of `cli.commands` that serves it."""

    __slots__ = ("arguments", "example", "handler", "summary", "words")

    def __init__(self, words: str, summary: str, arguments: tuple[Argument, ...], example: str) -> None:
        self.words = tuple(words.split())
        self.handler = words.replace(" ", "_").replace("-", "_")
        self.summary = summary
        self.arguments = arguments
        self.example = f"loopx {words} {example}".rstrip()


def defaults(route: Route) -> SimpleNamespace:
    """Return the arguments of a command that was given none, as argparse would have them."""
    from types import SimpleNamespace as Arguments

    return Arguments(**{one.name: one.default for one in route.arguments})


ID = Argument("id", metavar="ID", help="the extension id")
EXECUTE = Argument(
    "--execute", action="store_true", help="do it; without this the command only says what it would do"
)
PLAN = Argument("--plan", metavar="DIGEST", help="refuse unless this is still the change that a preview showed")
OFFER = Argument("id", metavar="ID", nargs="?", help="the id an installed package offers (see `discover`)")
MANIFEST = Argument("--manifest", metavar="PATH", help="the extension.toml to trust, instead of an ID")
DECLARED = Argument("--extension-manifest", metavar="PATH", help="count the capabilities of this manifest too")
CAPABILITY = Argument("id", metavar="ID", help="the capability id")
NEW_ID = Argument("id", metavar="ID", help="the id of the new extension, such as acme-word-count")
DESTINATION = Argument("--destination", metavar="DIR", help="the new directory; ./ID when left out")
VERSION = Argument("--version", metavar="VERSION", default="0.1.0", help="its first version, 0.1.0 when left out")
PACKAGE = Argument("path", metavar="PATH", help="a manifest, or the folder of a package")
STRICT = Argument("--strict", action="store_true", help="refuse what is only a warning at install")
SCHEMA_NAME = Argument("name", metavar="NAME", help="manifest, state, run-receipt, …; an unknown name lists them all")
SHELL = Argument("shell", metavar="SHELL", choices=("bash", "zsh", "fish"), help="bash, zsh or fish")
PAIRS = Argument("--pairs", metavar="N", type=int, default=20, help="how many pairs of runs; 20 when left out")
REBUILD = Argument("--rebuild", action="store_true", help="look again, whatever the index says")
INPUT = Argument(
    "--input-json", metavar="PATH", required=True, help="the request, one JSON object; - reads standard input"
)
ACCEPT = Argument(
    "--accept-permissions", action="store_true", help="accept that the new revision declares more permissions"
)
TO = Argument("--to", metavar="REVISION", help="a kept revision (see `show`); the previous one when left out")
OUTPUT = Argument("--output", metavar="PATH", help="write a file instead of standard output; needs --execute")
EXPORT = Argument("path", metavar="PATH", help="a file that `export` wrote; - reads standard input")

GOAL = Argument("--goal-id", metavar="GOAL", required=True, help="the goal the call is made for")
OPERATIONS = Argument(
    "--operation", metavar="OP", action="append", required=True, help="an operation of its profile; may be repeated"
)
OPERATION = Argument("--operation", metavar="OP", required=True, help="the operation")
PROVIDER = Argument("--provider", metavar="ID", help="the extension that shall serve it, where several could")
REFERENCE = Argument(
    "--ref", metavar="NAME=PATH", action="append", help="a context reference that the operation may read"
)
SURFACE = Argument("surface", metavar="SURFACE", help="the id of one of its presentation surfaces")

GROUPS = {
    "extension": "install, prove and run extensions",
    "capability": "see what extensions can do, bind goals to it, call it",
}

ROUTES = (
    Route(
        "extension init",
        "write a new extension that installs and runs unedited",
        (NEW_ID, DESTINATION, VERSION, EXECUTE, PLAN),
        "acme-word-count --execute",
    ),
    Route(
        "extension validate",
        "check a manifest, its schemas and its example",
        (PACKAGE, STRICT),
        "./acme-word-count --strict",
    ),
    Route(
        "extension conformance",
        "hold a provider to the rules of the contract",
        (PACKAGE, EXECUTE),
        "./acme-word-count --execute",
    ),
    Route(
        "extension schema",
        "print the JSON Schema of a document",
        (SCHEMA_NAME,),
        "manifest",
    ),
    Route(
        "extension discover",
        "list what installed packages offer",
        (REBUILD,),
        "",
    ),
    Route(
        "extension install",
        "trust one manifest after its doctor proved the provider",
        (OFFER, MANIFEST, EXECUTE, PLAN),
        "--manifest standalone-extension/extension.toml --execute",
    ),
    Route(
        "extension upgrade",
        "trust another revision of an installed extension",
        (OFFER, MANIFEST, ACCEPT, EXECUTE, PLAN),
        "--manifest standalone-extension/extension.toml --execute",
    ),
    Route(
        "extension rollback",
        "return to a revision that was trusted before",
        (ID, TO, EXECUTE, PLAN),
        "loopx-text-stats --execute",
    ),
    Route(
        "extension uninstall",
        "forget an extension; its package stays installed",
        (ID, EXECUTE, PLAN),
        "loopx-text-stats --execute",
    ),
    Route(
        "extension list",
        "list installed extensions and whether each is ready",
        (),
        "--format json",
    ),
    Route(
        "extension show",
        "show manifest, proof and revisions of one extension",
        (ID,),
        "loopx-text-stats",
    ),
    Route(
        "extension history",
        "show what was done to one extension, newest first",
        (ID,),
        "loopx-text-stats",
    ),
    Route(
        "extension doctor",
        "probe an extension and record the proof",
        (ID, EXECUTE, PLAN),
        "loopx-text-stats --execute",
    ),
    Route(
        "extension enable",
        "probe an extension, then let it be dispatched",
        (ID, EXECUTE, PLAN),
        "loopx-text-stats --execute",
    ),
    Route(
        "extension disable",
        "take an extension out of dispatch; it stays listed",
        (ID, EXECUTE, PLAN),
        "loopx-text-stats --execute",
    ),
    Route(
        "extension run",
        "run one request in one bounded process",
        (ID, INPUT, EXECUTE),
        "loopx-text-stats --input-json request.json --execute",
    ),
    Route(
        "extension publish-projection",
        "publish a provider's view on one of its surfaces",
        (ID, SURFACE, INPUT, REFERENCE, EXECUTE),
        "loopx-capability-repo-health repository-health --input-json input.json --ref repo=. --execute",
    ),
    Route(
        "extension export",
        "write down what is installed, for another machine",
        (OUTPUT, EXECUTE),
        "--output extensions.json --execute",
    ),
    Route(
        "extension restore",
        "install what an export names",
        (EXPORT, EXECUTE, PLAN),
        "extensions.json --execute",
    ),
    Route(
        "extension repair",
        "move what is damaged in the state file out of the way",
        (EXECUTE, PLAN),
        "--execute",
    ),
    Route(
        "capability list",
        "list capabilities and how far each is from being usable",
        (DECLARED,),
        "--format json",
    ),
    Route(
        "capability show",
        "show one capability",
        (CAPABILITY, DECLARED),
        "repo-health",
    ),
    Route(
        "capability bind",
        "let a goal use operations of one provider, pinned",
        (CAPABILITY, GOAL, OPERATIONS, PROVIDER, EXECUTE, PLAN),
        "repo-health --goal-id g1 --operation inspect --execute",
    ),
    Route(
        "capability unbind",
        "take a binding away",
        (CAPABILITY, GOAL, EXECUTE, PLAN),
        "repo-health --goal-id g1 --execute",
    ),
    Route(
        "capability invoke",
        "make one governed read for a goal",
        (CAPABILITY, GOAL, OPERATION, INPUT, REFERENCE, EXECUTE),
        "repo-health --goal-id g1 --operation inspect --input-json input.json --ref repo=. --execute",
    ),
    Route(
        "doctor",
        "check state, extensions and packages, with the command that helps",
        (),
        "",
    ),
    Route(
        "completions",
        "print the completion script of a shell",
        (SHELL,),
        "bash",
    ),
    Route(
        "performance-diagnosis",
        "measure the start-up of this installation",
        (PAIRS,),
        "--pairs 20",
    ),
)


def find(words: list[str]) -> Route | None:
    """Return the route whose words `words` begin with, or None."""
    return next((route for route in ROUTES if tuple(words[: len(route.words)]) == route.words), None)
