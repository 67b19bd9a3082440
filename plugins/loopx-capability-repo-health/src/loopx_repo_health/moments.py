"""Points in time: RFC 3339 in, RFC 3339 in UTC out, ages in whole days."""

from __future__ import annotations

import re
from datetime import UTC, datetime

from loopx_host import OperationFailed

DAY_SECONDS = 86_400
_RFC3339 = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,9})?(Z|[+-][0-9]{2}:[0-9]{2})"
)


def read(text: object) -> int:
    """Return the seconds since 1970 of an RFC 3339 time. Raises OperationFailed."""
    try:
        if isinstance(text, str) and _RFC3339.fullmatch(text):
            return int(datetime.fromisoformat(text).astimezone(UTC).timestamp() // 1)
    except (ValueError, OverflowError):
        pass
    raise OperationFailed("invalid_input", "now must be an RFC 3339 time such as 2026-01-31T12:00:00Z")


def shown(seconds: int) -> str | None:
    """Return the time in UTC, or None for one that no calendar holds."""
    try:
        return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ").rjust(20, "0")
    except (ValueError, OverflowError, OSError):
        return None


def age_days(seconds: int, now: int) -> int:
    """Return the whole days between a time and `now`; 0 for one that is still to come."""
    return max(0, (now - seconds) // DAY_SECONDS)
