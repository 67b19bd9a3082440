"""A home directory for one run of a provider under test."""

from __future__ import annotations

import os
from contextlib import contextmanager
from tempfile import TemporaryDirectory

from loopx_host.adapters.files import places
from loopx_host.core.errors import refusal

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
        place = next(iter(places.temporary()), None)
        if place is None:
            summary = "others can rename in each of XDG_RUNTIME_DIR, TMPDIR and /tmp, or they are not there"
            raise refusal("output_unwritable", "TMPDIR", f"no temporary directory can be made: {summary}")
        with TemporaryDirectory(prefix="loopx-home-", dir=place) as made:
            yield TemporaryHome(made)
