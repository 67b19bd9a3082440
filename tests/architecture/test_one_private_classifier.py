"""There is one private-material classifier: no package under plugins/ carries a copy of its shapes or names."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from loopx_host.core.private_material import CREDENTIAL_NAMES, PATH_SHAPES
from loopx_host.core.text import credential_shapes

PLUGINS = Path(__file__).parents[2] / "plugins"
SHAPES = [*((kind, pattern.pattern) for kind, pattern in credential_shapes()), *PATH_SHAPES]
WINDOW = 22  # as long as the shortest shape; shorter pieces of expressions are everybody's
NAMES_IN_A_ROW = 4


def copies(packages: Path) -> list[str]:
    """Return every piece of the classifier below `packages`, as ``path:line kind``."""
    found: list[str] = []
    for source in sorted(packages.rglob("*.py")):
        tree = ast.parse(source.read_text("utf-8"))
        found += [f"{source.relative_to(packages).as_posix()}:{line} {kind}" for line, kind in _copied(tree)]
    return found


def _copied(tree: ast.AST) -> Iterator[tuple[int, str]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield from ((node.lineno, kind) for kind, shape in SHAPES if _shares_a_piece(node.value, shape))
        elif isinstance(node, (ast.Tuple, ast.List, ast.Set)):
            texts = {one.value for one in node.elts if isinstance(one, ast.Constant) and isinstance(one.value, str)}
            known = {text for text in texts if "".join(filter(str.isalnum, text.lower())) in CREDENTIAL_NAMES}
            if len(known) >= NAMES_IN_A_ROW:
                yield node.lineno, "credential-name"


def _shares_a_piece(text: str, shape: str) -> bool:
    pieces = (shape[at : at + WINDOW] for at in range(len(shape) - WINDOW + 1))
    return len(text) >= WINDOW and any(piece in text for piece in pieces)


def test_every_shape_is_long_enough_to_be_told_apart() -> None:
    assert [kind for kind, shape in SHAPES if len(shape) < WINDOW] == ["file-url"]


@pytest.mark.req("M111")
def test_no_package_carries_a_copy_of_the_classifier() -> None:
    assert copies(PLUGINS) == []


def test_there_are_packages_to_look_at() -> None:
    assert {path.parent.name for path in PLUGINS.glob("*/pyproject.toml")} >= {"loopx-capability-repo-health"}


@pytest.mark.req("M111")
@pytest.mark.parametrize(("kind", "shape"), [row for row in SHAPES if len(row[1]) >= WINDOW])
def test_a_copied_regex_is_seen_whole_and_edited(kind: str, shape: str, tmp_path: Path) -> None:
    (tmp_path / "whole.py").write_text(f"import re\nA = re.compile({shape!r})\n", "utf-8")
    (tmp_path / "edited.py").write_text(f"A = {'(?i)' + shape[-WINDOW:] + '|x'!r}\n", "utf-8")

    assert {f"whole.py:2 {kind}", f"edited.py:1 {kind}"} <= set(copies(tmp_path))


@pytest.mark.req("M111")
def test_a_copied_list_of_names_is_seen(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("A = ('password', 'api_key', 'Token', 'passwd', 'x')\n", "utf-8")

    assert copies(tmp_path) == ["a.py:1 credential-name"]


@pytest.mark.parametrize(
    "source",
    ["A = r'[a-z0-9._-]{1,64}'\n", "A = ('password', 'token')\n", "from loopx_host import private_findings\n"],
)
def test_what_is_everybody_s_is_free(source: str, tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(source, "utf-8")

    assert copies(tmp_path) == []
