"""A new directory written beside its destination and renamed into place: whole or not at all."""

from __future__ import annotations

import os

from loopx_host.adapters.files.paths import absolute
from loopx_host.core.errors import refuse
from loopx_host.core.text import visible

_LINK = "link:"


class NewDirectory:
    """The destination of a scaffold (see `authoring.ports`)."""

    def __init__(self, destination: str, *, is_default: bool) -> None:
        self._path = absolute(destination)
        self.shown = visible(destination)
        self.flags = () if is_default else ("--destination", self.shown)

    def refuse_existing(self) -> None:
        """Raise Refused `destination_exists` if anything is there (see the port)."""
        if os.path.lexists(self._path):
            raise refuse(
                "destination_exists",
                self.shown,
                f"{self.shown} exists already; nothing of yours is written over",
                hint="name another place with --destination",
            )

    def write(self, files: dict[str, str]) -> None:
        """Write everything, then move it into place (see the port)."""
        draft = f"{self._path}.{os.urandom(8).hex()}.tmp"
        try:
            os.makedirs(os.path.dirname(self._path), exist_ok=True)
            os.mkdir(draft)
            for name, content in files.items():
                _write(os.path.join(draft, name), content)
            self.refuse_existing()
            os.rename(draft, self._path)
        except OSError as error:
            raise refuse(
                "output_unwritable", self.shown, f"{self.shown} cannot be written: {error.strerror}"
            ) from error
        finally:
            _discard(draft)


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
