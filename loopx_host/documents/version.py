"""The version of this loopx, as a document."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal, TypedDict

    class Version(TypedDict):
        """`text` is the line a person reads."""

        ok: Literal[True]
        schema_version: str
        text: str
        version: str


ID = "loopx_version_v0"


def version_of(version: str) -> Version:
    """Return the document of a version."""
    return {"ok": True, "schema_version": ID, "text": f"loopx {version}\n", "version": version}


def schema() -> dict[str, object]:
    """Return the JSON Schema of the version."""
    from loopx_host.documents import words

    return words.receipt_of(ID, {"text": words.TEXT, "version": words.TEXT})
