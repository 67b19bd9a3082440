"""A home directory for one run of a provider under test."""

from __future__ import annotations

import os
from contextlib import contextmanager
from tempfile import TemporaryDirectory

from loopx_host.adapters.files import places

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator


class TemporaryHome:
    """An empty directory at `path` (see `authoring.ports`)."""

    def __init__(self, path: str) -> None:
        self.path = path

    def names(self) -> list[str]:
        """Return what lies in it now, sorted."""
        return sorted(os.listdir(self.path))


class TemporaryHomes:
    """Makes homes below the directory for temporary files (see `authoring.ports`)."""

    @contextmanager
    def make(self) -> Iterator[TemporaryHome]:
        """Make one, and remove it with all that is in it when the block ends."""
        with TemporaryDirectory(prefix="loopx-home-", dir=places.temporary()[0]) as made:
            yield TemporaryHome(made)
