"""What the registry needs from outside: one bounded way to read the files beside a manifest."""

from __future__ import annotations

from typing import Protocol


class ManifestFolder(Protocol):
    """The directory a manifest lies in, links resolved; handed down once, it is all the registry may read."""

    @property
    def location(self) -> str:
        """The directory's absolute path, for messages."""
        ...

    def read(self, relative: str, limit: int) -> bytes:
        """Return the bytes of a regular file inside the folder, links resolved.

        Raises FolderError with kind `missing`, `not_regular`, `too_large`, `outside` or `unreadable`;
        never blocks on a FIFO or device, never returns more than `limit` bytes.
        """
        ...
