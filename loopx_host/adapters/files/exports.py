"""Export files: written to a new name, or over what was an export before."""

from __future__ import annotations

import json
import os

from loopx_host.adapters.files import atomic, bounded
from loopx_host.core.limits import EXPORT_BYTES

_SCHEMA = "loopx_extension_export_v0"


def may_replace(path: str) -> bool:
    """Whether nothing is at `path`, or a regular file that is an export; never a link, a device or a FIFO."""
    if not os.path.lexists(path):
        return True
    if os.path.islink(path):
        return False
    try:
        document = json.loads(bounded.read_regular(path, EXPORT_BYTES))
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(document, dict) and document.get("schema") == _SCHEMA


def write(path: str, text: str) -> None:
    """Write `text`, whole or not at all. Raises OSError."""
    atomic.replace(path, text.encode("utf-8"))
