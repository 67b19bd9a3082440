"""What a restore installed of an export, or would install, row by row."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal, TypedDict

    from loopx_host.documents.parts import Command

    class RestoredExtension(TypedDict):
        """What became of one row of an export; `install_package` is a command for a person, never run."""

        id: str
        revision: str
        status: str
        code: str | None
        reason: str | None
        install_package: str | None

    class Restore(TypedDict):
        """`complete` says that nothing of the export is missing; an executed restore is ``ok`` only then."""

        ok: bool
        schema_version: str
        operation: Literal["restore"]
        dry_run: bool
        changed: bool
        complete: bool
        extensions: list[RestoredExtension]
        plan: str
        next_command: Command | None


ID = "loopx_extension_restore_v0"
INSTALLED, WOULD_INSTALL, ALREADY, ANOTHER, REFUSED = STATUSES = (
    *("installed", "would_install", "already_installed", "another_revision_installed"),
    "refused",
)
# What became of a row of which nothing is missing.
DONE = frozenset({INSTALLED, WOULD_INSTALL, ALREADY})


def restore(rows: list[RestoredExtension], *, executed: bool, plan: str, next_command: Command | None) -> Restore:
    """Return the receipt of a restore; ``ok``, `changed` and `complete` follow from its rows."""
    complete = all(one["status"] in DONE for one in rows)
    return {
        "ok": complete or not executed,
        "schema_version": ID,
        "operation": "restore",
        "dry_run": not executed,
        "changed": any(one["status"] == INSTALLED for one in rows),
        "complete": complete,
        "extensions": rows,
        "plan": plan,
        "next_command": next_command,
    }


def row(
    *,
    extension_id: str,
    revision: str,
    status: str,
    code: str | None = None,
    reason: str | None = None,
    install_package: str | None = None,
) -> RestoredExtension:
    """Return what became of one extension."""
    return {
        "id": extension_id,
        "revision": revision,
        "status": status,
        "code": code,
        "reason": reason,
        "install_package": install_package,
    }


def schema() -> dict[str, object]:
    """Return the JSON Schema of a restore."""
    from loopx_host.documents import words

    row = words.object_of(
        {
            "id": words.TEXT,
            "revision": words.TEXT,
            "status": {"enum": sorted(STATUSES)},
            "code": words.NULLABLE_TEXT,
            "reason": words.NULLABLE_TEXT,
            "install_package": words.NULLABLE_TEXT,
        }
    )
    return words.receipt_of(
        ID,
        {
            "dry_run": words.BOOLEAN,
            "changed": words.BOOLEAN,
            "complete": words.BOOLEAN,
            "extensions": words.rows_of(row),
        },
    )
