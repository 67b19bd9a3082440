"""Where packages are looked for: the search path of this interpreter, and the site directories of another."""

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


def site_directories(program: str) -> list[str]:
    """Return the site directories of the environment that `program`, a launcher or interpreter, belongs to.

    They lie below the prefix whose ``bin`` holds it; a file elsewhere belongs to no environment.
    """
    import glob  # and with it re, which the top help does not need

    prefix = os.path.dirname(os.path.dirname(program))
    pattern = os.path.join(glob.escape(prefix), "lib", "python3*", "*-packages")
    return sorted(os.path.realpath(place) for place in glob.glob(pattern) if os.path.isdir(place))


def user_site_directories() -> list[str]:
    """Return the per-user site directories, which interpreters outside virtual environments read."""
    import glob

    pattern = os.path.join(glob.escape(os.path.expanduser("~/.local/lib")), "python3*", "site-packages")
    return sorted(os.path.realpath(place) for place in glob.glob(pattern) if os.path.isdir(place))


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
