"""Published views on disk: one private file per surface, below the directory of what is kept with the state."""

from __future__ import annotations

import os
import re

from loopx_host.adapters.files import atomic, bounded, paths
from loopx_host.core.digest import sha256_hex
from loopx_host.core.errors import refusal
from loopx_host.core.text import visible

TYPE_CHECKING = False
if TYPE_CHECKING:
    from loopx_host.core.errors import Refused

_BYTES = 8_000_000  # an answer of a megabyte whose numbers are written out in full
_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,127}", re.ASCII)
_UNUSABLE = b""


class FileProjections:
    """The projections port (see `extensions.ports`): ``<place>/<extension id>/<surface id>.json``."""

    def __init__(self, place: str) -> None:
        self._place = place

    @classmethod
    def at(cls, state_file: str | None, runtime_root: str | None) -> FileProjections:
        """Return the projections that belong to the state file of the same options."""
        if state_file is not None:
            return cls(os.path.join(f"{os.path.realpath(paths.absolute(state_file))}.d", "projections"))
        return cls(os.path.join(paths.runtime_root(runtime_root), "extensions", "projections"))

    def publish(self, extension_id: str, surface_id: str, data: bytes) -> None:
        """Replace one file, durably (see the port)."""
        path = self._path(extension_id, surface_id)
        folder = os.path.dirname(path)
        try:
            paths.make_private(folder)
            for directory in (self._place, folder):
                if os.path.islink(directory):
                    raise _unwritable(path, f"{visible(directory)} is a link")
                os.chmod(directory, paths.PRIVATE)
            atomic.replace(path, data)
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
        """Remove all that one extension published (see the port)."""
        folder = os.path.join(self._place, _file_name(extension_id))
        try:
            if os.path.islink(folder):
                os.unlink(folder)
                return
            for name in os.listdir(folder):
                os.unlink(os.path.join(folder, name))
            os.rmdir(folder)
            atomic.sync_directory(self._place)
        except FileNotFoundError:
            pass
        except OSError as error:
            raise _unwritable(folder, str(error.strerror)) from error

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
