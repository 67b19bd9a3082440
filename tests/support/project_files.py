"""The files of the project, as they would be committed, found by walking."""

from __future__ import annotations

import os
from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import Path

ROOT = Path(__file__).parents[2]


def patterns(root: Path = ROOT) -> tuple[str, ...]:
    """Return the patterns of .gitignore without their final slash, and those of version control itself."""
    lines = (root / ".gitignore").read_text("utf-8").splitlines()
    return (".git", *(line.strip().rstrip("/") for line in lines if line.strip() and not line.startswith("#")))


def files(root: Path = ROOT) -> Iterator[Path]:
    """Yield every regular file below `root` that no pattern of its .gitignore names; links are not followed."""
    ignored = patterns(root)

    def is_kept(name: str) -> bool:
        return not any(fnmatch(name, pattern) for pattern in ignored)

    for folder, folders, names in os.walk(root):
        folders[:] = sorted(name for name in folders if is_kept(name))
        for name in sorted(filter(is_kept, names)):
            path = Path(folder, name)
            if path.is_file() and not path.is_symlink():
                yield path
