"""Tables and results drawn with rich for a person at a terminal; rich is imported nowhere else.

What a third party wrote goes in as cleaned plain text: rich's markup is never read from it.
"""

from __future__ import annotations

from io import StringIO

from rich.console import Console

TYPE_CHECKING = False
if TYPE_CHECKING:
    from rich.console import RenderableType


def drawn(*parts: RenderableType) -> str:
    """Return what a terminal is sent to show `parts` below each other."""
    buffer = StringIO()
    console = Console(file=buffer, force_terminal=True, highlight=False)
    for part in parts:
        console.print(part)
    return buffer.getvalue()
