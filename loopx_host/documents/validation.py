"""What checking a manifest, the files it names and its example came to, when all is in order."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal, TypedDict

    from loopx_host.core.diagnostics import ProblemRow

    class Validation(TypedDict):
        """`checked` names what was looked at; `advice` is what an author could still do."""

        ok: Literal[True]
        schema_version: str
        extension_id: str
        version: str
        revision: str
        manifest_path: str
        checked: list[str]
        warnings: list[ProblemRow]
        advice: list[str]
        strict: bool


ID = "loopx_extension_validation_v0"


def validation(
    *,
    extension_id: str,
    version: str,
    revision: str,
    manifest_path: str,
    checked: list[str],
    warnings: list[ProblemRow],
    advice: list[str],
    strict: bool,
) -> Validation:
    """Return the document of a manifest that may be installed."""
    return {
        "ok": True,
        "schema_version": ID,
        "extension_id": extension_id,
        "version": version,
        "revision": revision,
        "manifest_path": manifest_path,
        "checked": checked,
        "warnings": warnings,
        "advice": advice,
        "strict": strict,
    }


def schema() -> dict[str, object]:
    """Return the JSON Schema of a validation."""
    from loopx_host.documents import words

    return words.receipt_of(
        ID,
        {
            "extension_id": words.ID,
            "version": words.TEXT,
            "revision": words.REVISION,
            "manifest_path": words.TEXT,
            "checked": words.TEXTS,
            "warnings": words.rows_of(words.PROBLEM),
            "advice": words.TEXTS,
            "strict": words.BOOLEAN,
        },
    )
