"""Everything the state knows of one extension: its row of the list, then what lies behind it."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal, TypedDict

    from loopx_host.documents import state
    from loopx_host.documents.extension_list import Row
    from loopx_host.documents.normal_form import NormalForm
    from loopx_host.documents.parts import Pin

    class KeptRevision(TypedDict):
        """One kept revision; the last three are null in one that a v0 tool wrote."""

        revision: str
        version: str
        digest: str | None
        installed_at: str | None
        manifest_path: str | None

    class Detail(Row):
        """The row of the list, with the manifest, the proof and the past of the extension."""

        ok: Literal[True]
        schema_version: str
        permissions: list[str]
        launcher: Pin | None
        proof: state.Proof | None
        manifest: NormalForm
        revisions: list[KeptRevision]
        history: list[state.Event]


ID = "loopx_extension_detail_v0"


def detail(
    row: Row,
    *,
    permissions: list[str],
    launcher: Pin | None,
    proof: state.Proof | None,
    manifest: NormalForm,
    revisions: list[state.Revision],
    history: list[state.Event],
) -> Detail:
    """Return the document of one extension; `revisions` and `history` are those of the state file."""
    return {
        "ok": True,
        "schema_version": ID,
        **row,
        "permissions": permissions,
        "launcher": launcher,
        "proof": proof,
        "manifest": manifest,
        "revisions": [_kept(one) for one in revisions],
        "history": history,
    }


def schema() -> dict[str, object]:
    """Return the JSON Schema of the detail."""
    from loopx_host.documents import words
    from loopx_host.documents.extension_list import row_fields

    of_v0, later = row_fields()
    revision = words.object_of(
        {"revision": words.REVISION, "version": words.TEXT},
        {"digest": words.NULLABLE_SHA256, "installed_at": words.NULLABLE_TEXT, "manifest_path": words.NULLABLE_TEXT},
    )
    return words.receipt_of(
        ID,
        {
            **of_v0,
            **later,
            "id": words.ID,
            "permissions": words.TEXTS,
            "launcher": words.NULLABLE_OBJECT,
            "proof": words.NULLABLE_OBJECT,
            "manifest": words.OBJECT,
            "revisions": words.rows_of(revision),
            "history": words.rows_of(words.OBJECT),
        },
    )


def _kept(one: state.Revision) -> KeptRevision:
    return {
        "revision": one["revision"],
        "version": one.get("version"),
        "digest": one.get("digest"),
        "installed_at": one.get("installed_at"),
        "manifest_path": one.get("manifest_path"),
    }
