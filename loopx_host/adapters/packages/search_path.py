"""Where packages are looked for: the search path of this interpreter."""

from __future__ import annotations

import os
import sys


def search_path() -> list[str]:
    """Return the entries of ``sys.path`` as resolved directories and archives, the first occurrence of each.

    The current directory and the directory of a script are left out: what happens to lie there is not an
    installed package.
    """
    ignored = {os.path.realpath(os.getcwd()) if _has_cwd() else "", _script_directory()}
    kept: dict[str, None] = {}
    for entry in sys.path:
        real = os.path.realpath(entry) if entry else ""
        if entry and real not in ignored and os.path.exists(real):
            kept.setdefault(real)
    return list(kept)


def directories() -> list[str]:
    """Return the directories of the search path."""
    return [place for place in search_path() if os.path.isdir(place)]


def archives() -> list[str]:
    """Return the files of the search path: zip archives, in which no extension is looked for."""
    return [place for place in search_path() if os.path.isfile(place)]


def _has_cwd() -> bool:
    try:
        os.getcwd()
    except OSError:
        return False
    return True


def _script_directory() -> str:
    """Return the directory Python put on the path for a script; a console script's is its ``bin``."""
    script = sys.argv[0] if sys.argv else ""
    return os.path.realpath(os.path.dirname(os.path.abspath(script))) if script else ""
