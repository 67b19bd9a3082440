"""The files of the project, as they would be committed, found by walking."""

from __future__ import annotations

import ast
import os
from collections.abc import Iterator
from fnmatch import fnmatch
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]


def patterns(root: Path = ROOT) -> tuple[str, ...]:
    """Return the patterns of .gitignore without their final slash, and those of version control itself."""
    lines = (root / ".gitignore").read_text("utf-8").splitlines()
    return (".git", *(line.strip().rstrip("/") for line in lines if line.strip() and not line.startswith("#")))


def files(root: Path = ROOT, below: Path | None = None) -> Iterator[Path]:
    """Yield every regular file below `root` that no pattern of its .gitignore names; links are not followed.

    With `below` only those in that folder of it.
    """
    ignored = patterns(root)

    def is_kept(name: str) -> bool:
        return not any(fnmatch(name, pattern) for pattern in ignored)

    for folder, folders, names in os.walk(below or root):
        folders[:] = sorted(name for name in folders if is_kept(name))
        for name in sorted(filter(is_kept, names)):
            path = Path(folder, name)
            if path.is_file() and not path.is_symlink():
                yield path


def syntax(path: Path) -> ast.Module:
    """Return a Python file parsed, once for all tests while it does not change: not to be edited."""
    seen = path.stat()
    return _parsed(path, seen.st_mtime_ns, seen.st_size)


@cache
def _parsed(path: Path, _changed: int, _size: int) -> ast.Module:
    return ast.parse(path.read_text("utf-8"))
