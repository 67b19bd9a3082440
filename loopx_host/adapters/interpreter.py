"""Which program on this machine is the Python that runs this code: `sys.executable` says so, or it does not.

In a program that embeds Python it names an application server, a frozen application, or nothing at all. Started with
a Python's arguments, such a program would do its own work again. So only what is called as Python interpreters are is
ever a candidate; the others are looked for where this Python has its home.
"""

from __future__ import annotations

import os
import sys

from loopx_host.core.text import visible

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_NAMES = ("python", "pypy")
_FROZEN = ("frozen", "_MEIPASS")  # what freezers leave in `sys`


def candidates() -> Iterator[str]:
    """Yield the programs that may be asked to run as this Python, the likeliest first; absolute paths."""
    said = [getattr(sys, "executable", None), getattr(sys, "_base_executable", None)]
    itself = _itself()
    for path in dict.fromkeys((*filter(None, said), *_at_home())):
        if _is_called_python(path) and not _is_same(path, itself):
            yield path


def likeliest() -> str | None:
    """Return the first candidate, unasked, or None."""
    return next(candidates(), None)


def named() -> str:
    """Say what `sys.executable` is, for a person who can change it."""
    said = getattr(sys, "executable", None)
    return f"sys.executable is {visible(str(said))}" if said else "sys.executable names no program"


def _at_home() -> list[str]:
    """Return where this Python's own installation, and its virtual environment, have an interpreter."""
    major, minor = sys.version_info[:2]
    names = (f"python{major}.{minor}", f"python{major}", "python", "pypy3")
    homes = dict.fromkeys((sys.prefix, sys.exec_prefix, sys.base_prefix, sys.base_exec_prefix))
    return [os.path.join(home, "bin", name) for home in homes for name in names]


def _itself() -> str | None:
    """Return the program of a frozen application, whatever it is called; None where nothing is frozen."""
    return getattr(sys, "executable", None) if any(hasattr(sys, sign) for sign in _FROZEN) else None


def _is_called_python(path: str) -> bool:
    """Whether a program that is there, or what a link to it leads to, is called as Python interpreters are."""
    if not (os.path.isabs(path) and os.path.isfile(path) and os.access(path, os.X_OK)):
        return False
    return any(os.path.basename(one).startswith(_NAMES) for one in (path, os.path.realpath(path)))


def _is_same(path: str, other: str | None) -> bool:
    try:
        return other is not None and os.path.samefile(path, other)
    except OSError:
        return False
