"""No file of a package under plugins/ holds private material: every file is looked at, whatever it is.

What ships is held to the whole classifier; tests show made-up secrets and homes, so there the shapes that prose has
too, and paths, are free. Which of the two a file is follows from its place inside its package and from nothing else.
"""

from __future__ import annotations

import ast
import io
import json
import shutil
import tokenize
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
import tomli

from loopx_host.core.private_material import PATH_KINDS, findings

PLUGINS = Path(__file__).parents[2] / "plugins"
PACKAGES = sorted(path.parent.name for path in PLUGINS.glob("*/pyproject.toml"))
LEFT_BEHIND = {"__pycache__", "dist", "build", "node_modules"}  # by tools; hidden folders too, never released
KEY_FILES = {".pem", ".key", ".p12", ".pfx", ".kdbx", ".netrc", ".env"}
FREE_IN_TESTS = PATH_KINDS | {"secret", "credential-name"}
# Looked at by a person and found to be no secret; a row whose file holds nothing any more must go.
REVIEWED: dict[str, str] = {}
# In two pieces, so that this file holds none of them.
TOKEN, KEY = "ghp_" + "a1B2" * 9, "-----BEGIN " + "PRIVATE KEY-----"
PLANTS = {
    "src/{module}/planted.py": f"NOTE = {TOKEN!r}\n",
    "src/{module}/comment.py": f"# {TOKEN}\n",
    "src/{module}/joined.py": f'def f(x):\n    return f"{{x}} {TOKEN}"\n',
    "src/{module}/bytes.py": f"NOTE = b{TOKEN!r}\n",
    "src/{module}/keyword.py": "connect(password='correct horse')\n",
    "src/{module}/assigned.py": "api_key = 'correct horse'\n",
    "src/{module}/home.py": "ROOT = '/home/" + "somebody/notes'\n",
    "src/{module}/data.json": json.dumps({"a": [{"password": "correct horse"}]}),
    "src/{module}/data.toml": f'[a]\nnote = "{TOKEN}"\n',
    "src/{module}/data.bin": "\0" + TOKEN,
    "src/{module}/broken.json": f'{{"a": "{TOKEN}"',
    "docs/page.md": f"Use `{TOKEN}`.\n",
    "notes": KEY + "\n",
    "server.pem": "anything\n",
    "tests/test_planted.py": f"NOTE = {TOKEN!r}\n",
    "tests/key.txt": KEY + "\n",
}


def private(package: Path) -> list[str]:
    """Return every place in a package that holds private material, as ``path kind``."""
    found: set[str] = set()
    for path in sorted(package.rglob("*")):
        inside = path.relative_to(package)
        hidden = any(part.startswith(".") for part in inside.parts[:-1])
        if hidden or LEFT_BEHIND & set(inside.parts) or not path.is_file():
            continue
        free = FREE_IN_TESTS if inside.parts[0] == "tests" else frozenset()
        if path.suffix in KEY_FILES or path.name in KEY_FILES:
            found.add(f"{inside.as_posix()} key-file")
        found |= {f"{inside.as_posix()} {kind}" for kind in _kinds(path.suffix, path.read_bytes()) - free}
    return sorted(row for row in found if f"{package.name}/{row}" not in REVIEWED)


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


def module_of(package: Path) -> str:
    return next(path.name for path in sorted((package / "src").iterdir()) if (path / "__init__.py").is_file())


def copy(name: str, folder: Path) -> Path:
    return Path(shutil.copytree(PLUGINS / name, folder / name, ignore=shutil.ignore_patterns("__pycache__", ".*")))


@pytest.mark.req("M069")
@pytest.mark.parametrize("name", PACKAGES)
def test_no_file_of_a_package_holds_private_material(name: str) -> None:
    assert private(PLUGINS / name) == []


@pytest.mark.req("M069")
@pytest.mark.parametrize("name", PACKAGES)
def test_a_planted_secret_is_found_in_every_package_and_kind_of_file(name: str, tmp_path: Path) -> None:
    package = copy(name, tmp_path)
    planted = {place.format(module=module_of(package)): text for place, text in PLANTS.items()}
    for place, text in planted.items():
        (package / place).parent.mkdir(parents=True, exist_ok=True)
        (package / place).write_text(text, "utf-8")

    found = {row.partition(" ")[0] for row in private(package)}

    assert found == set(planted)


@pytest.mark.req("M069")
@pytest.mark.parametrize("place", ["src/{module}/moved.py", "examples/moved.py", "moved.md"])
def test_a_file_that_moves_to_another_package_is_held_to_the_same(place: str, tmp_path: Path) -> None:
    first, second = (copy(name, tmp_path) for name in PACKAGES[:2])
    there = [package / place.format(module=module_of(package)) for package in (first, second)]
    there[0].parent.mkdir(exist_ok=True)
    there[0].write_text('ROOT = "/home/' + 'somebody/notes"\n', "utf-8")
    before = [row.partition(" ")[2] for row in private(first)]
    there[1].parent.mkdir(exist_ok=True)
    there[0].rename(there[1])

    assert [row.partition(" ")[2] for row in private(second)] == before == ["home-path"]
    assert private(first) == []


@pytest.mark.req("M069")
def test_what_was_reviewed_is_still_there(monkeypatch: pytest.MonkeyPatch) -> None:
    reviewed = dict(REVIEWED)
    monkeypatch.setattr(f"{__name__}.REVIEWED", {})

    found = {f"{name}/{row}" for name in PACKAGES for row in private(PLUGINS / name)}

    assert set(reviewed) == found


def test_there_are_packages_to_look_at() -> None:
    assert {"loopx-pytest", "loopx-capability-repo-health", "loopx-sink-smtp"} <= set(PACKAGES)
