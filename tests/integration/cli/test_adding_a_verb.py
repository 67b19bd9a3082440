"""What a new verb touches: four new modules and two rows, and everything that lists commands knows it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.project_files import ROOT

PACKAGE = "loopx_host"
NEW = {
    "lifecycle/extensions/count.py": '''\
"""Count what is installed."""

from __future__ import annotations

from loopx_host.documents.count import counted
from loopx_host.lifecycle.extensions.state import State

TYPE_CHECKING = False
if TYPE_CHECKING:
    from loopx_host.documents.count import Count
    from loopx_host.lifecycle.extensions.ports import HasStore


class CountRequest:
    """Count the extensions; `unit` is what they are called."""

    __slots__ = ("unit",)

    def __init__(self, unit: str) -> None:
        self.unit = unit


def count(request: CountRequest, ports: HasStore) -> Count:
    """Return how many there are. Raises Refused `state_damaged` and its kin."""
    state = State.parse(ports.store.read(), ports.store.location)
    return counted(len(list(state.entries())), request.unit)
''',
    "documents/count.py": '''\
"""How many extensions are installed."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal, TypedDict

    class Count(TypedDict):
        """`unit` is what is counted."""

        ok: Literal[True]
        schema_version: str
        number: int
        unit: str


ID = "loopx_extension_count_v0"


def counted(number: int, unit: str) -> Count:
    """Return the document of a number."""
    return {"ok": True, "schema_version": ID, "number": number, "unit": unit}


def schema() -> dict[str, object]:
    """Return the JSON Schema of a count."""
    from loopx_host.documents import words

    return words.receipt_of(ID, {"number": words.COUNT, "unit": words.TEXT})
''',
    "cli/render/count.py": '''\
"""How many extensions are installed."""

from __future__ import annotations

from loopx_host.cli.render.parts import clean

TYPE_CHECKING = False
if TYPE_CHECKING:
    from loopx_host.documents.count import Count


def to_text(document: Count) -> str:
    """Return the number and its unit."""
    return clean([f"{document['number']} {document['unit']}"])
''',
    "cli/commands/extension/count.py": '''\
"""`loopx extension count`."""

from __future__ import annotations

from loopx_host.cli.route import Argument, Route

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Protocol

    from loopx_host.assembly.container import Container
    from loopx_host.documents.count import Count

    class Arguments(Protocol):
        unit: str


UNIT = Argument("--unit", metavar="NAME", default="extensions", help="what to call them")
ROUTE = Route("extension count", (UNIT,), "--unit providers")


def serve(container: Container, arguments: Arguments) -> Count:
    from loopx_host.lifecycle.extensions.count import CountRequest, count

    return count(CountRequest(arguments.unit), container)
''',
}
ROWS = {
    "cli/index.py": (
        "ROWS = (\n",
        '    Row("extension count", "extension.count", "count what is installed", "count", "count"),\n',
    ),
    "documents/catalog.py": ("MODULES = {\n", '    "count": "count",\n'),
}


class Tree:
    """A copy of the package, and the command line run from it."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.package = root / PACKAGE
        shutil.copytree(ROOT / PACKAGE, self.package, ignore=shutil.ignore_patterns("__pycache__"))
        self.env = {
            "PATH": os.environ["PATH"],
            "HOME": str(root / "home"),
            "PYTHONPATH": f"{root}{os.pathsep}{ROOT}",
            "LANG": "C.UTF-8",
        }

    def add(self) -> None:
        for name, text in NEW.items():
            (self.package / name).write_text(text, encoding="utf-8")
        for name, (anchor, row) in ROWS.items():
            path = self.package / name
            text = path.read_text("utf-8")
            assert text.count(anchor) == 1
            path.write_text(text.replace(anchor, anchor + row), encoding="utf-8")

    def python(self, *words: str) -> str:
        command = [sys.executable, *words]
        ended = subprocess.run(command, cwd=self.root, env=self.env, capture_output=True, text=True, check=False)
        assert (ended.returncode, ended.stderr) == (0, ""), ended
        return ended.stdout

    def loopx(self, *words: str) -> str:
        return self.python("-m", PACKAGE, *words)

    def problems(self) -> list[str]:
        """Return what the test of the index says of this tree."""
        code = "import json; from tests.support.command_index import problems; print(json.dumps(problems()))"
        found: list[str] = json.loads(self.python("-c", code))
        return found


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Tree:
    made = Tree(tmp_path_factory.mktemp("tree"))
    made.add()
    return made


def test_the_verb_answers_with_its_document_and_shows_it(tree: Tree) -> None:
    answer = json.loads(tree.loopx("extension", "count", "--format", "json"))

    assert answer == {"ok": True, "schema_version": "loopx_extension_count_v0", "number": 0, "unit": "extensions"}
    assert tree.loopx("extension", "count") == "0 extensions\n"
    assert tree.loopx("extension", "count", "--unit", "prov\x1bders") == "0 prov\\x1bders\n"


def test_everything_that_lists_commands_knows_it(tree: Tree) -> None:
    line = "  extension count               count what is installed\n"

    assert line in tree.loopx("--help")
    assert line in tree.loopx("extension")
    assert "example:\n  loopx extension count --unit providers" in tree.loopx("extension", "count", "--help")
    assert '"extension count"' in tree.loopx("completions", "bash")
    assert json.loads(tree.loopx("extension", "schema", "count"))["title"] == "loopx: count"
    assert "### loopx extension count\n" in tree.python(
        "-c", "from tests.support.cli_reference import page; print(page())"
    )


def test_nothing_is_missing(tree: Tree) -> None:
    assert tree.problems() == []


@pytest.mark.parametrize(
    ("left_out", "problem"),
    [
        ("cli/commands/extension/count.py", "there is no module loopx_host.cli.commands.extension.count"),
        ("cli/render/count.py", "there is no renderer count"),
    ],
)
def test_a_verb_without_one_of_its_modules_is_seen(left_out: str, problem: str, tmp_path: Path) -> None:
    tree = Tree(tmp_path)
    tree.add()
    (tree.package / left_out).unlink()

    assert tree.problems() == [f"extension count: {problem}"]


def test_a_verb_whose_document_is_not_in_the_catalogue_is_seen(tmp_path: Path) -> None:
    tree = Tree(tmp_path)
    catalogue = (tree.package / "documents/catalog.py").read_text("utf-8")
    tree.add()
    (tree.package / "documents/catalog.py").write_text(catalogue, encoding="utf-8")

    assert tree.problems() == ["extension count: there is no document count"]
