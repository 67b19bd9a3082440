"""Published views on disk: one private file per surface, below the directory of what is kept with the state."""

from __future__ import annotations

import os
import re

from loopx_host.adapters.files import atomic, bounded, paths, places
from loopx_host.core.digest import sha256_hex
from loopx_host.core.errors import refusal
from loopx_host.core.text import visible

TYPE_CHECKING = False
if TYPE_CHECKING:
    from loopx_host.core.errors import Refused

_BYTES = 8_000_000  # an answer of a megabyte whose numbers are written out in full
_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,127}", re.ASCII)
_UNUSABLE = b""
_PROJECTIONS = "projections"


class FileProjections:
    """The projections port (see `extensions.ports`): ``<place>/<extension id>/<surface id>.json``."""

    def __init__(self, place: str) -> None:
        self._place = place

    @classmethod
    def at(cls, state_file: str | None, runtime_root: str | None) -> FileProjections:
        """Return the projections that belong to the state file of the same options."""
        if state_file is not None:
            return cls(os.path.join(f"{os.path.realpath(paths.absolute(state_file))}.d", _PROJECTIONS))
        return cls(os.path.join(paths.runtime_root(runtime_root), "extensions", _PROJECTIONS))

    def publish(self, extension_id: str, surface_id: str, data: bytes) -> None:
        """Replace one file, durably (see the port)."""
        path = self._path(extension_id, surface_id)
        try:
            folder = self._own(_file_name(extension_id), make=True)
            for directory in (os.path.dirname(folder), folder):
                os.chmod(directory, places.PRIVATE)
            atomic.replace(os.path.join(folder, os.path.basename(path)), data)
        except OSError as error:
            raise _unwritable(path, str(error.strerror)) from error

    def read(self, extension_id: str, surface_id: str) -> bytes | None:
        """Return the bytes of one file, None when there is none, no bytes when it cannot be used (see the port)."""
        path = self._path(extension_id, surface_id)
        if os.path.islink(path) or os.path.islink(os.path.dirname(path)):
            return _UNUSABLE
        try:
            return bounded.read_regular(path, _BYTES, owners=(0, os.geteuid()))
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError:
            return _UNUSABLE

    def published_by(self, extension_id: str) -> dict[str, str]:
        """Return name → SHA-256 of the files of one extension (see the port)."""
        folder = os.path.join(self._place, _file_name(extension_id))
        try:
            names = [] if os.path.islink(folder) else sorted(os.listdir(folder))
        except OSError:
            names = []
        return {visible(name): _digest(os.path.join(folder, name)) for name in names}

    def remove(self, extension_id: str) -> None:
        """Remove all that one extension published (see the port); a link in its place goes, and nothing behind it."""
        name = _file_name(extension_id)
        try:
            above = self._own()
            folder = os.path.join(above, name)
            if os.path.islink(folder):
                os.unlink(folder)
                return
            folder = self._own(name)
            for view in os.listdir(folder):
                os.unlink(os.path.join(folder, view))
            os.rmdir(folder)
            atomic.sync_directory(above)
        except FileNotFoundError:
            pass
        except OSError as error:
            raise _unwritable(os.path.join(self._place, name), str(error.strerror)) from error

    def _own(self, *names: str, make: bool = False) -> str:
        """Return the directory of all views, or one below it. Raises OSError."""
        kept, views = os.path.split(self._place)
        return places.own(*os.path.split(kept), views, *names, make=make)

    def _path(self, extension_id: str, surface_id: str) -> str:
        return os.path.join(self._place, _file_name(extension_id), f"{_file_name(surface_id)}.json")


def _digest(path: str) -> str:
    try:
        return sha256_hex(bounded.read_regular(path, _BYTES))
    except OSError:
        return ""


def _file_name(name: str) -> str:
    """Return a name that is one on every file system and leads nowhere else; ids are that already, nearly all."""
    return name if _NAME.fullmatch(name) else sha256_hex(name.encode("utf-8", "surrogatepass"))


def _unwritable(path: str, reason: str) -> Refused:
    return refusal(
        "state_unwritable",
        visible(path),
        f"the published view {visible(path)} cannot be written: {reason}",
        hint="make room or set permissions, look at what is in place, then repeat the command",
    )
