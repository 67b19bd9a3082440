"""How an answer is shown: one module per document, which a command loads for its own answer alone.

Whatever a third party wrote in a document is cleaned on its way to a person.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any, Protocol

    class Renderer(Protocol):
        """What a module of this folder holds; some hold `to_terminal` as well, for a terminal with colours."""

        def to_text(self, document: Mapping[str, Any], /) -> str:
            """Return a document as plain text."""


def to_text(renderer: str, document: Mapping[str, object], *, in_colour: bool) -> str:
    """Return a document for a person, as the module `renderer` shows it."""
    module: Renderer = __import__(f"{__name__}.{renderer}", fromlist=["to_text"])
    to_terminal = getattr(module, "to_terminal", None) if in_colour else None
    return to_terminal(document) if to_terminal else module.to_text(document)
