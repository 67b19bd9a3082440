"""The directory of one manifest, links resolved, as the registry may read it."""

from __future__ import annotations

import os

from loopx_host.adapters.files import bounded
from loopx_host.registry.folder_error import FolderError


def open_manifest(path: str) -> tuple[DirectoryFolder, str]:
    """Return the folder a manifest lies in and its name there.

    A manifest that is a link lies in the directory of the link's target (extension-formats, *Where the
    manifest lives*). Nothing is opened yet: the first read says what is wrong with the path.
    """
    real = os.path.realpath(path)
    return DirectoryFolder(os.path.dirname(real)), os.path.basename(real)


class DirectoryFolder:
    """Reads regular files inside one directory; a link that leads out of it is refused."""

    def __init__(self, location: str) -> None:
        self.location = location

    def read(self, relative: str, limit: int) -> bytes:
        """Return the bytes of `relative`. Raises FolderError (see the port)."""
        try:
            path = os.path.realpath(os.path.join(self.location, relative))
            if os.path.commonpath((path, self.location)) != self.location:
                raise FolderError("outside", "it lies outside the directory of the manifest")
            return bounded.read_regular(path, limit)
        except bounded.TooLargeError as error:
            raise FolderError("too_large", str(error)) from None
        except bounded.NotRegularError as error:
            raise FolderError("not_regular", str(error)) from None
        except FileNotFoundError:
            raise FolderError("missing", "there is no such file") from None
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) else str(error)
            raise FolderError("unreadable", str(reason)) from None
