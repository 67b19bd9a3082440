"""The clock and the source of unpredictable names."""

from __future__ import annotations

import os
import time


class SystemClock:
    """Wall time of this machine."""

    def now(self) -> str:
        """Return the time as RFC 3339 UTC, whole seconds."""
        return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())

    def run_id(self) -> str:
        """Return 24 unpredictable hex digits."""
        return os.urandom(12).hex()
