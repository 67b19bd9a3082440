"""Names that are the same name in other spellings."""

from __future__ import annotations

import re


def normalised(name: str) -> str:
    """Return a distribution's name as two spellings of it compare equal."""
    return re.sub(r"[-_.]+", "-", name).lower()
