"""Export files: written to a new name, or over what was an export before."""

from __future__ import annotations

import json
import os

from loopx_host.adapters.files import atomic, bounded
from loopx_host.adapters.files.paths import absolute
from loopx_host.core.digest import sha256_hex
from loopx_host.core.errors import refusal
from loopx_host.core.limits import EXPORT_BYTES
from loopx_host.core.text import visible
from loopx_host.documents.export import ID


class ExportFiles:
    """Writes exports where nothing else is lost."""

    def standing(self, path: str) -> tuple[str, str | None]:
        """Return the absolute path, as text, and the digest of the export that writing there would replace.

        Raises Refused `destination_exists` for anything else that is there.
        """
        real = absolute(path)
        self._refuse_other(path)
        return visible(real), sha256_hex(bounded.read_regular(real, EXPORT_BYTES)) if os.path.lexists(real) else None

    def write(self, path: str, text: str) -> None:
        """Write an export to a new file, or over an earlier export; whole or not at all.

        Raises Refused: `destination_exists` for anything else that is there, `output_unwritable`.
        """
        self._refuse_other(path)
        try:
            atomic.replace(absolute(path), text.encode("utf-8"))
        except OSError as error:
            shown = visible(path)
            raise refusal("output_unwritable", shown, f"{shown} cannot be written: {error.strerror}") from None

    @staticmethod
    def _refuse_other(path: str) -> None:
        if not _may_replace(absolute(path)):
            shown = visible(path)
            summary = f"{shown} exists and is not an export; nothing of yours is written over"
            raise refusal("destination_exists", shown, summary, hint="name another file")


def _may_replace(path: str) -> bool:
    """Whether nothing is at `path`, or a regular file that is an export; never a link, a device or a FIFO."""
    if not os.path.lexists(path):
        return True
    if os.path.islink(path):
        return False
    try:
        document = json.loads(bounded.read_regular(path, EXPORT_BYTES))
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(document, dict) and document.get("schema") == ID
