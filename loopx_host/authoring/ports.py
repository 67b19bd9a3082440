"""What authoring needs from outside."""

from __future__ import annotations

from typing import Protocol


class NewTree(Protocol):
    """A directory that does not exist yet."""

    @property
    def shown(self) -> str:
        """The destination as the caller wrote it, as text."""
        ...

    @property
    def flags(self) -> tuple[str, ...]:
        """The flags that name the destination again; empty for the default one."""
        ...

    def refuse_existing(self) -> None:
        """Raise Refused `destination_exists` for a file, a directory, even an empty one, or a link to nowhere."""
        ...

    def write(self, files: dict[str, str]) -> None:
        """Write path → content (``link:`` makes a symbolic link), whole or not at all. Raises Refused."""
        ...
