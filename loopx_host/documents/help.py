"""The help of a command, as a document."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal, TypedDict

    class Help(TypedDict):
        """Help is one text, the same that a person reads."""

        ok: Literal[True]
        schema_version: str
        text: str


ID = "loopx_help_v0"


def help_of(text: str) -> Help:
    """Return the document of one help text."""
    return {"ok": True, "schema_version": ID, "text": text}


def schema() -> dict[str, object]:
    """Return the JSON Schema of help."""
    from loopx_host.documents import words

    return words.receipt_of(ID, {"text": words.TEXT})
