"""One value, one sequence of bytes: what digests are taken over."""

from __future__ import annotations

import json


def encoded(value: object) -> bytes:
    """Return canonical JSON: sorted keys, compact, UTF-8 unescaped. Raises ValueError for what JSON has not."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return text.encode("utf-8")
