"""Context references: a name of the caller's and the path behind it (extension-formats, *Permission tokens*)."""

from __future__ import annotations

import os
import stat

from loopx_host.adapters.files.paths import absolute
from loopx_host.core.errors import refusal
from loopx_host.core.text import visible


class LocalReferences:
    """Paths of this machine; see the port `extensions.ports.References`."""

    def resolve(self, name: str, path: str) -> str:
        """Return the real path of a directory or regular file. Raises Refused `reference_invalid`."""
        real = os.path.realpath(absolute(path))
        if not (os.path.isdir(real) or os.path.isfile(real)):
            summary = f"the reference {name} is {visible(path)}, which is neither a directory nor a file"
            raise refusal("reference_invalid", name, summary, hint="name one that is there")
        try:
            real.encode("utf-8")
        except UnicodeEncodeError:
            summary = f"the reference {name} is {visible(real)}, which has no UTF-8 name"
            raise refusal(
                "reference_invalid", name, summary, hint="give it a name that a request can carry"
            ) from None
        return real

    def standing(self, path: str) -> list[int]:
        """Return device and inode, of a file also when and how large it was written (see the port)."""
        try:
            status = os.stat(path)
        except OSError:
            return []
        same = [status.st_dev, status.st_ino]
        return same if stat.S_ISDIR(status.st_mode) else [*same, status.st_size, status.st_mtime_ns]
