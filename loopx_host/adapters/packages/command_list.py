"""The commands that packages bring, as a plain text file that the top help can afford to read.

Written with the index, ``name<TAB>summary<TAB>state`` a line. It is stale once a directory of the search path was not
settled when it was written; help then says so and never rebuilds it.
"""

from __future__ import annotations

import os
import sys

from loopx_host.adapters.files import atomic, bounded, paths
from loopx_host.adapters.packages import search_path
from loopx_host.core.digest import sha256_hex
from loopx_host.core.text import visible

_BYTES = 256 * 1024
_COLUMNS = 3


class CommandList:
    """The port `extensions.activation.CommandList`."""

    def read(self) -> list[list[str]] | None:
        """Return rows of name, summary and state, or None when they are not known (see the port)."""
        return read()

    def mark(self, active: set[str]) -> None:
        """Say which commands are on (see the port)."""
        mark(active)


def folder() -> str:
    """Return where the index of this interpreter is kept; two environments never share one."""
    key = sha256_hex(os.fsencode("\0".join([sys.prefix, *search_path.search_path()])))[:16]
    return os.path.join(paths.cache_root(), "index", key)


def location() -> str:
    """Return the path of the list."""
    return os.path.join(folder(), "commands.txt")


def read() -> list[list[str]] | None:
    """Return rows of name, summary and state; None when there is no list or the environment changed since."""
    path = location()
    try:
        written = os.stat(path).st_mtime_ns
        if not all(_is_settled(place, written) for place in search_path.search_path()):
            return None
        text = bounded.read_regular(path, _BYTES).decode("utf-8")
    except (OSError, ValueError):
        return None
    rows = [[visible(cell) for cell in line.split("\t")] for line in text.splitlines()]
    return [row for row in rows if len(row) == _COLUMNS]


def _is_settled(place: str, at_ns: int) -> bool:
    status = os.stat(place)
    return bounded.is_settled(status.st_mtime_ns, status.st_ctime_ns, at_ns)


def mark(active: set[str]) -> None:
    """Say which commands are on; a list that is stale stays as it is, for help says so."""
    rows = read() or []
    marked = [(name, summary, _state(state, name in active)) for name, summary, state in rows]
    if marked != [tuple(row) for row in rows]:
        write(marked)


def _state(before: str, is_active: bool) -> str:
    return before if before not in ("on", "off") else "on" if is_active else "off"


def write(rows: list[tuple[str, str, str]]) -> None:
    """Write the list; a cache that cannot be written is no error."""
    text = "".join("\t".join(row) + "\n" for row in rows)
    try:
        paths.make_private(folder())
        atomic.replace(location(), text.encode("utf-8"))
    except OSError:
        pass
