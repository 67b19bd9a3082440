"""No file of the project holds private material: every file of core, packages, examples, pages and tests is read.

What ships is held to the whole classifier; tests show made-up secrets and homes, so there the shapes that prose has
too, and paths, are free. Which of the two a file is follows from its place inside its area and from nothing else.
"""

from __future__ import annotations

import ast
import io
import json
import shutil
import tokenize
from collections.abc import Iterator
from fnmatch import fnmatch
from functools import cache
from pathlib import Path

import pytest
import tomli

from loopx_host.core.private_material import PATH_KINDS, findings
from tests.support.project_files import ROOT, files, patterns

GROUPS = ("plugins", "examples")  # folders of areas; every other folder at the top is one itself
TOP = "."  # the files that lie in no folder
KEY_FILES = {".pem", ".key", ".p12", ".pfx", ".kdbx", ".netrc", ".env"}
FREE_IN_TESTS = PATH_KINDS | {"secret", "credential-name"}
# Looked at by a person and found to be no secret; a row whose file holds nothing any more must go.
REVIEWED: dict[str, str] = {
    "docs/how-to/use-a-capability.md home-path": "a reader's own folder in an example",
    "docs/reference/presentation.md file-url": "names what is refused",
    "docs/reference/presentation.md home-path": "names what is refused",
    "docs/reference/state-file.md home-path": "where the state lies by default",
    "loopx_host/adapters/files/paths.py home-path": "where the state lies by default",
    "loopx_host/adapters/packages/python_paths.py home-path": "where user installs lie",
    "loopx_host/core/private_material.py file-url": "the classifier itself",
    "loopx_host/core/private_material.py home-path": "the classifier itself",
    "loopx_host/registry/surface_rules.py home-path": "names what is refused",
    "tests/unit/goals/test_domain_result.py authorization": "made up, for the classifier",
    "tests/unit/text/test_private_material.py authorization": "made up, for the classifier",
    "tests/unit/text/test_private_material.py url-password": "made up, for the classifier",
    "tests/unit/text/test_text.py authorization": "made up, for the redaction",
    "tests/unit/text/test_text.py jwt": "made up, for the redaction",
    "tests/unit/text/test_text.py private-key": "made up, for the redaction",
    "tests/unit/text/test_text.py url-password": "made up, for the redaction",
}
# In two pieces, so that this file holds none of them.
TOKEN, KEY = "ghp_" + "a1B2" * 9, "-----BEGIN " + "PRIVATE KEY-----"
HOME = "ROOT = '/home/" + "somebody/notes'\n"
# Found in every place; `{code}` is where the Python files of an area lie.
PLANTS = {
    "{code}/planted.py": f"NOTE = {TOKEN!r}\n",
    "{code}/comment.py": f"# {TOKEN}\n",
    "{code}/joined.py": f'def f(x):\n    return f"{{x}} {TOKEN}"\n',
    "{code}/bytes.py": f"NOTE = b{TOKEN!r}\n",
    "{code}/data.toml": f'[a]\nnote = "{TOKEN}"\n',
    "{code}/data.bin": "\0" + TOKEN,
    "{code}/broken.json": f'{{"a": "{TOKEN}"',
    "docs/page.md": f"Use `{TOKEN}`.\n",
    "notes": KEY + "\n",
    "server.pem": "anything\n",
    "tests/test_planted.py": f"NOTE = {TOKEN!r}\n",
    "tests/key.txt": KEY + "\n",
}
# Found in what ships; tests may show it.
PLANTS_IN_WHAT_SHIPS = {
    "{code}/keyword.py": "connect(password='correct horse')\n",
    "{code}/assigned.py": "api_key = 'correct horse'\n",
    "{code}/home.py": HOME,
    "{code}/data.json": json.dumps({"a": [{"password": "correct horse"}]}),
}


def _areas() -> list[str]:
    """Return every area of the project, as its path below the root, found by walking."""
    ignored = patterns()
    tops = [path for path in ROOT.iterdir() if path.is_dir() and not any(fnmatch(path.name, one) for one in ignored)]
    inside = [path for top in tops if top.name in GROUPS for path in top.iterdir() if path.is_dir()]
    return [*sorted(path.relative_to(ROOT).as_posix() for path in (*tops, *inside) if path.name not in GROUPS), TOP]


AREAS = _areas()


def looked_at(root: Path, area: str) -> list[Path]:
    """Return the files of one area below `root`, links and what is never committed left out."""
    if area == TOP:
        return [path for path in files(root) if path.parent == root]
    return list(files(root, root / area))


def private(root: Path, area: str) -> list[str]:
    """Return every place in an area that holds private material, as ``path kind``, the path from `root`."""
    found: set[str] = set()
    for path in looked_at(root, area):
        place = path.relative_to(root).as_posix()
        free = FREE_IN_TESTS if is_of_tests(path.relative_to(root), area) else frozenset()
        if path.suffix in KEY_FILES or path.name in KEY_FILES:
            found.add(f"{place} key-file")
        found |= {f"{place} {kind}" for kind in _kinds(path.suffix, path.read_bytes()) - free}
    return sorted(found - set(REVIEWED))


def is_of_tests(path: Path, area: str) -> bool:
    """Whether a file is one of the tests of its area: those of the project are an area of their own."""
    return "tests" in (area, path.relative_to(area).parts[0])


@cache
def _kinds(suffix: str, data: bytes) -> frozenset[str]:
    """Return the kinds of private material in a file: the same bytes are judged once, in however many copies."""
    return frozenset(row["kind"] for value in _values(suffix, data) for row in findings(value))


def _values(suffix: str, data: bytes) -> Iterator[object]:
    """Return what is to be looked at: what a file means where that can be told, else its lines."""
    text = data.decode("utf-8", "replace")
    try:
        if suffix == ".py":
            yield from _python(text)
            return
        if suffix == ".json":
            yield json.loads(text)
        if suffix == ".toml":
            yield tomli.loads(text)
    except (ValueError, SyntaxError, tokenize.TokenError):
        pass
    yield from text.splitlines()


def _python(text: str) -> Iterator[object]:
    """Return the texts of a module, its comments, and every name that is given a text."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Constant) and isinstance(node.value, (str, bytes)):
            yield from _text(node.value).splitlines()
        elif isinstance(node, ast.keyword) and node.arg and isinstance(node.value, ast.Constant):
            yield {node.arg: _plain(node.value.value)}
        elif isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant):
            yield from ({ast.unparse(target): _plain(node.value.value)} for target in node.targets)
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    yield from (token.string for token in tokens if token.type == tokenize.COMMENT)


def _text(value: str | bytes) -> str:
    return value if isinstance(value, str) else value.decode("utf-8", "replace")


def _plain(value: object) -> object:
    return _text(value) if isinstance(value, (str, bytes)) else None


def code_of(root: Path, area: str) -> str:
    """Return the folder of an area's Python files, below the area."""
    source = root / area / "src"
    return next((f"src/{path.parent.name}" for path in sorted(source.glob("*/__init__.py"))), ".")


def copy(area: str, folder: Path) -> Path:
    """Return a root in which there is a copy of one area, as it would be committed."""
    shutil.copy(ROOT / ".gitignore", folder)
    for path in looked_at(ROOT, area):
        there = folder / path.relative_to(ROOT)
        there.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, there)
    return folder


def plant(root: Path, area: str, place: str, text: str) -> Path:
    path = root / area / place.format(code=code_of(root, area))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")
    return path


@pytest.mark.req("M069")
@pytest.mark.parametrize("area", AREAS)
def test_no_file_of_an_area_holds_private_material(area: str) -> None:
    assert private(ROOT, area) == []


@pytest.mark.req("M069")
@pytest.mark.parametrize("area", [area for area in AREAS if area != TOP])
def test_a_planted_secret_is_found_in_every_area_and_kind_of_file(area: str, tmp_path: Path) -> None:
    root = copy(area, tmp_path)
    plants = PLANTS if area == "tests" else {**PLANTS, **PLANTS_IN_WHAT_SHIPS}
    planted = {plant(root, area, place, text) for place, text in plants.items()}

    found = {root / row.partition(" ")[0] for row in private(root, area)}

    assert found == planted


@pytest.mark.req("M069")
@pytest.mark.parametrize("name", ["notes", "read.me", "code.py", "server.pem"])
def test_a_planted_secret_is_found_in_a_file_that_lies_in_no_folder(name: str, tmp_path: Path) -> None:
    root = copy(TOP, tmp_path)
    (root / name).write_text(f"# {TOKEN}\n", "utf-8")

    assert {row.partition(" ")[0] for row in private(root, TOP)} == {name}


@pytest.mark.req("M069")
@pytest.mark.parametrize("place", ["{code}/moved.py", "examples/moved.py", "moved.md"])
@pytest.mark.parametrize("there", [area for area in AREAS if area not in (TOP, "tests", "loopx_host")])
def test_a_file_that_moves_from_core_to_another_area_is_held_to_the_same(
    there: str, place: str, tmp_path: Path
) -> None:
    root = copy(TOP, tmp_path)
    moved = plant(root, "loopx_host", place, HOME)
    before = [row.partition(" ")[2] for row in private(root, "loopx_host")]
    moved.rename(plant(root, there, place, ""))

    assert [row.partition(" ")[2] for row in private(root, there)] == before == ["home-path"]
    assert private(root, "loopx_host") == []


@pytest.mark.req("M069")
def test_every_file_of_the_project_is_looked_at_once() -> None:
    seen = [path for area in AREAS for path in looked_at(ROOT, area)]

    assert sorted(seen) == sorted(files())


@pytest.mark.req("M069")
def test_what_was_reviewed_is_still_there(monkeypatch: pytest.MonkeyPatch) -> None:
    reviewed = set(REVIEWED)
    monkeypatch.setattr(f"{__name__}.REVIEWED", {})

    found = {row for area in AREAS for row in private(ROOT, area)}

    assert found == reviewed


def test_there_are_areas_to_look_at() -> None:
    wanted = {"loopx_host", "docs", "tests", "examples/c-provider", "plugins/loopx-pytest", "plugins/loopx-sink-smtp"}
    assert wanted <= set(AREAS)
