"""The completion script of a shell, as a document."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal, TypedDict

    class Completions(TypedDict):
        """`text` is the script."""

        ok: Literal[True]
        schema_version: str
        shell: str
        text: str


ID = "loopx_completions_v0"
SHELLS = ("bash", "zsh", "fish")


def completions(shell: str, script: str) -> Completions:
    """Return the document of one script."""
    return {"ok": True, "schema_version": ID, "shell": shell, "text": script}


def schema() -> dict[str, object]:
    """Return the JSON Schema of a completion script."""
    from loopx_host.documents import words

    return words.receipt_of(ID, {"text": words.TEXT, "shell": {"enum": list(SHELLS)}})
