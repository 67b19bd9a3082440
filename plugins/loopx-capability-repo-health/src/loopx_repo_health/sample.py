"""An empty repository made on the spot: what the doctor inspects, and what a view looks like before there is one."""

from __future__ import annotations

import os
import tempfile
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def empty_repository() -> Iterator[str]:
    """Give the path of a repository without a commit; it is gone afterwards.

    It is written as `git init` would: that one changes modes, which a provider may not.
    """
    with tempfile.TemporaryDirectory() as folder:
        for name in ("objects", "refs"):
            os.makedirs(os.path.join(folder, ".git", name))
        with open(os.path.join(folder, ".git", "HEAD"), "w", encoding="utf-8") as head:
            head.write("ref: refs/heads/main\n")
        yield folder
