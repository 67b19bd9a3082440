"""Reports of internal errors: private files below the cache, for whoever mends loopx."""

from __future__ import annotations

import os

from loopx_host.adapters.files import atomic, paths


class Reports:
    """Keeps a report, one file each, under a name nobody can predict."""

    def keep(self, text: str) -> str | None:
        """Keep `text` in a private file; return its path, or None where nothing can be written."""
        directory = os.path.join(paths.cache_root(), "reports")
        path = os.path.join(directory, f"{os.urandom(8).hex()}.txt")
        try:
            paths.make_private(directory)
            atomic.replace(path, text.encode("utf-8", "backslashreplace"))
        except OSError:
            return None
        return path
