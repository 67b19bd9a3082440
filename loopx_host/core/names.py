"""Names that are the same name in other spellings."""

from __future__ import annotations

import re

_NAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?", re.ASCII)
_VERSION = re.compile(r"[A-Za-z0-9][A-Za-z0-9.!+_-]*", re.ASCII)


def is_pinned(name: str, version: str) -> bool:
    """Whether ``name==version`` is one requirement of a distribution, and nothing else that pip would take it for.

    Names come out of exports, state files and metadata that anybody may have written: an option, or an address to
    load from, must not stand in a command that a person is told to copy.
    """
    return bool(_NAME.fullmatch(name) and _VERSION.fullmatch(version))


def normalised(name: str) -> str:
    """Return a distribution's name as two spellings of it compare equal."""
    return re.sub(r"[-_.]+", "-", name).lower()
