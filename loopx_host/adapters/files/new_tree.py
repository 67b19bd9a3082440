"""A new directory written beside its destination and renamed into place: whole or not at all."""

from __future__ import annotations

import os

from loopx_host.adapters.files import places
from loopx_host.adapters.files.paths import absolute
from loopx_host.core.errors import refusal
from loopx_host.core.text import visible

_LINK = "link:"


class NewDirectories:
    """Destinations of scaffolds (see `authoring.ports`)."""

    def at(self, destination: str | None, name: str) -> NewDirectory:
        """Return the directory a caller names, or ``./name``."""
        return NewDirectory(destination or f"./{name}", is_default=destination is None)


class NewDirectory:
    """The destination of a scaffold (see `authoring.ports`)."""

    def __init__(self, destination: str, *, is_default: bool) -> None:
        self._path = absolute(destination)
        self.shown = visible(destination)
        self.place = visible(self._path)
        self.flags = () if is_default else ("--destination", self.shown)

    def refuse_existing(self) -> None:
        """Raise Refused `destination_exists` if anything is there (see the port)."""
        if os.path.lexists(self._path):
            raise refusal(
                "destination_exists",
                self.shown,
                f"{self.shown} exists already; nothing of yours is written over",
                hint="name another place with --destination",
            )

    def write(self, files: dict[str, str]) -> None:
        """Write everything, then move it into place (see the port)."""
        above, leaf = os.path.split(self._path)
        parents = _missing(above)
        draft = ""
        try:
            for parent in parents:
                os.makedirs(parent, exist_ok=True)
            above = places.directory(above)
            draft = os.path.join(above, f"{leaf}.{os.urandom(8).hex()}.tmp")
            os.mkdir(draft)
            for name, content in files.items():
                _write(os.path.join(draft, name), content)
            self.refuse_existing()
            os.rename(draft, os.path.join(above, leaf))
        except OSError as error:
            raise refusal(
                "output_unwritable", self.shown, f"{self.shown} cannot be written: {error.strerror}"
            ) from error
        finally:
            _discard(draft)
            _remove_empty(parents)


def _missing(directory: str) -> list[str]:
    """Return the directories that have to be made for `directory` to exist, outermost first."""
    missing: list[str] = []
    while not os.path.lexists(directory):
        missing.insert(0, directory)
        directory = os.path.dirname(directory)
    return missing


def _remove_empty(made: list[str]) -> None:
    """Take back the directories that were made for nothing; one that holds something stays."""
    for directory in reversed(made):
        try:
            os.rmdir(directory)
        except OSError:
            return


def _write(path: str, content: str) -> None:
    os.makedirs(os.path.dirname(path), exist_ok=True)
    if content.startswith(_LINK):
        os.symlink(content.removeprefix(_LINK), path)
        return
    with open(path, "x", encoding="utf-8") as file:
        file.write(content)


def _discard(draft: str) -> None:
    if os.path.isdir(draft):
        import shutil

        shutil.rmtree(draft, ignore_errors=True)
