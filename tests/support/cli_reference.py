"""docs/reference/cli.md, written from the index and the routes that the command line itself uses.

``python -m tests.support.cli_reference`` writes the page anew; a test compares the two.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from loopx_host.cli.index import COMMON, GROUPS, OF_PACKAGES
from loopx_host.cli.route import routes

if TYPE_CHECKING:
    from loopx_host.cli.route import Argument, Route

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "cli.md"
_TOP = """\
# Commands

Written by `python -m tests.support.cli_reference` from the tables the command line uses; do not edit it by hand.

Every command that changes something only says what it would do until `--execute` is given. With `--format json`
standard output holds one document, for success and failure alike. What a status means is in
[Exit status](exit-status.md), what a code means in [Diagnostics](diagnostics.md).
"""


def page() -> str:
    """Return the whole page."""
    return "".join(_lines())


def _lines() -> Iterator[str]:
    yield _TOP
    yield "\n## Options of every command\n\n| option | what it does |\n|---|---|\n"
    for flag, (value, text) in COMMON.items():
        yield f"| `{flag}{' ' + _metavar(flag) if value is not None else ''}` | {_cell(text)} |\n"
    yield "| `--help`, `-h` | show how the command is written |\n"
    yield "\nEvery command of a package takes these too; the host reads them, wherever they stand before `--`:\n\n"
    yield "| option | what it does |\n|---|---|\n"
    for flag, (_, text) in OF_PACKAGES.items():
        yield f"| `{flag}` | {_cell(text)} |\n"
    for group, summary in GROUPS.items():
        yield f"\n## loopx {group}\n\n{_sentence(summary)}\n"
        yield from (line for route in routes() if route.words[0] == group for line in _route(route))
    alone = [route for route in routes() if route.words[0] not in GROUPS]
    if alone:
        yield "\n## Commands of one word\n"
    yield from (line for route in alone for line in _route(route))


def _route(route: Route) -> Iterator[str]:
    words = " ".join(("loopx", *route.words))
    yield f"\n### {words}\n\n{_sentence(route.summary)}\n\n"
    yield "```text\n" + " ".join([words, *(_written(argument) for argument in route.arguments)]) + "\n```\n"
    if route.arguments:
        yield "\n| argument | what it is |\n|---|---|\n"
    for argument in route.arguments:
        yield f"| `{_bare(argument)}` | {_cell(argument.settings['help'])} |\n"
    yield f"\nExample: `{route.example}`\n"


def _bare(argument: Argument) -> str:
    """Return an argument as a person writes it, without saying whether it may be left out."""
    name, settings = argument.names[0], argument.settings
    if not name.startswith("-"):
        return str(settings.get("metavar", name.upper()))
    return name if settings.get("action") == "store_true" else f"{name} {settings.get('metavar', _metavar(name))}"


def _written(argument: Argument) -> str:
    needed = argument.settings.get("required") or not argument.names[0].startswith("-")
    needed = needed and argument.settings.get("nargs") != "?"
    return _bare(argument) if needed else f"[{_bare(argument)}]"


def _metavar(flag: str) -> str:
    return flag.strip("-").upper().replace("-", "_")


def _sentence(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}."


def _cell(text: str) -> str:
    return text.replace("|", r"\|")


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
