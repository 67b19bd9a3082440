"""What is installed, for another machine: printed or written by `export`, read by `restore`."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal, TypedDict

    from loopx_host.documents.binding import Binding
    from loopx_host.documents.parts import BadEntry, Distribution

    class ExportedExtension(TypedDict):
        """One extension at one revision; `source` says whether its package or a path led to the manifest."""

        id: str
        revision: str
        digest: str
        enabled: bool
        distribution: Distribution | None
        source: str
        manifest_path: str | None

    class Export(TypedDict):
        """`schema` repeats the id under the name that v0 reads; `skipped` are entries that cannot be used."""

        ok: Literal[True]
        schema_version: str
        schema: str
        extensions: list[ExportedExtension]
        bindings: list[Binding]
        skipped: list[BadEntry]


ID = "loopx_extension_export_v0"
FROM_MANIFEST, DISCOVERED = "manifest", "discovered"


def export(extensions: list[ExportedExtension], bindings: list[Binding], skipped: list[BadEntry]) -> Export:
    """Return the export of these extensions, and of what goals may use of them."""
    return {
        "ok": True,
        "schema_version": ID,
        "schema": ID,
        "extensions": extensions,
        "bindings": bindings,
        "skipped": skipped,
    }


def row(
    *,
    extension_id: str,
    revision: str,
    digest: str,
    enabled: bool,
    distribution: Distribution | None,
    source: str,
    manifest_path: str | None,
) -> ExportedExtension:
    """Return the row of one extension."""
    return {
        "id": extension_id,
        "revision": revision,
        "digest": digest,
        "enabled": enabled,
        "distribution": distribution,
        "source": source,
        "manifest_path": manifest_path,
    }


def schema() -> dict[str, object]:
    """Return the JSON Schema of an export; only `schema` names it, as in the files that v0 wrote."""
    from loopx_host.documents import binding, words

    row = words.object_of(
        {
            "id": words.ID,
            "revision": words.REVISION,
            "digest": words.SHA256,
            "enabled": words.BOOLEAN,
            "distribution": words.DISTRIBUTION,
            "source": {"enum": [FROM_MANIFEST, DISCOVERED]},
            "manifest_path": words.NULLABLE_TEXT,
        }
    )
    return words.object_of(
        {"schema": {"const": ID}, "extensions": words.rows_of(row)}, {"bindings": words.rows_of(binding.schema())}
    )
