"""Every row of the index leads to a command, documents with schemas and a renderer, and none is left over."""

from __future__ import annotations

import ast
import shlex
from pathlib import Path

import pytest

from loopx_host.cli import commands, index, render
from loopx_host.cli.index import GROUPS, ROWS, Row, find
from loopx_host.cli.leaf import LeafParser
from loopx_host.cli.route import Route, load, routes
from tests.support.command_index import problems, row_problems


def test_nothing_is_missing_and_nothing_is_left_over() -> None:
    assert problems() == []


def row(
    words: str = "extension list",
    module: str = "extension.list",
    documents: str = "list",
    renderer: str = "extension_list",
) -> Row:
    return Row(words, module, "a summary", documents, renderer)


@pytest.mark.parametrize(
    ("broken", "problem"),
    [
        (row(module="extension.absent"), "there is no module loopx_host.cli.commands.extension.absent"),
        (row(module="extension"), "loopx_host.cli.commands.extension has no ROUTE or no serve"),
        (row(module="extension.show"), "loopx_host.cli.commands.extension.show is the route of extension show"),
        (row(documents=""), "answers with no document"),
        (row(documents="list absent"), "there is no document absent"),
        (row(documents="manifest-lock"), "there is no document manifest-lock"),
        (row(renderer="absent"), "there is no renderer absent"),
        (row(renderer="parts"), "there is no renderer parts"),
    ],
)
def test_a_row_that_lacks_something_is_seen(broken: Row, problem: str) -> None:
    assert row_problems(row()) == []
    assert row_problems(broken) == [f"extension list: {problem}"]


def test_an_argument_that_no_command_reads_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    show, rollback = (load(find(("extension", verb)) or row()) for verb in ("show", "rollback"))
    monkeypatch.setattr(show, "ROUTE", Route("extension show", rollback.ROUTE.arguments))

    assert row_problems(find(("extension", "show")) or row()) == [
        "extension show: takes ['execute', 'id', 'plan', 'to'] and reads ['id']"
    ]


@pytest.mark.parametrize(
    ("package", "name", "problem"),
    [
        (commands, "host/stray.py", "no row leads to loopx_host.cli.commands.host.stray"),
        (render, "stray.py", "no row leads to the renderer stray"),
    ],
)
def test_a_module_without_a_row_is_seen(
    package: object, name: str, problem: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stray = tmp_path / name
    stray.parent.mkdir(exist_ok=True)
    stray.touch()
    monkeypatch.setattr(package, "__path__", [str(tmp_path), *package.__path__])  # type: ignore[attr-defined]

    assert problems() == [problem]


def test_the_index_imports_nothing() -> None:
    tree = ast.parse(Path(index.__file__).read_text("utf-8"))

    imports = [ast.unparse(node) for node in ast.walk(tree) if isinstance(node, (ast.Import, ast.ImportFrom))]

    assert imports == ["from __future__ import annotations"]


def test_no_command_hides_another() -> None:
    assert len({row.words for row in ROWS}) == len(ROWS)
    assert [row.words for row in ROWS if find(row.words) is not row] == []
    assert {row.words[0] for row in ROWS if len(row.words) > 1} == set(GROUPS)
    assert {row.words[0] for row in ROWS if len(row.words) == 1} & set(GROUPS) == set()


@pytest.mark.parametrize("route", routes(), ids=lambda route: " ".join(route.words))
def test_the_parser_of_a_command_takes_its_own_example(route: Route) -> None:
    loopx, *words = shlex.split(route.example)
    common = words.index("--format") if "--format" in words else len(words)

    parsed = LeafParser(route).parse_args(words[len(route.words) : common])

    assert loopx == "loopx"
    assert {argument.name for argument in route.arguments} <= set(vars(parsed))


@pytest.mark.parametrize("route", routes(), ids=lambda route: " ".join(route.words))
def test_a_command_that_changes_what_packages_add_says_so(route: Route) -> None:
    words = " ".join(route.words)
    verbs = ("install", "upgrade", "rollback", "enable", "disable", "uninstall", "discover")

    assert route.refreshes_help == (words in {*(f"extension {verb}" for verb in verbs), "capability list"})
