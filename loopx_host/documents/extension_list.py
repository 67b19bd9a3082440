"""The list of installed extensions: its id is that of the state file, as v0 has it."""

from __future__ import annotations

from loopx_host.documents.state import ID

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal, TypedDict

    from loopx_host.documents.parts import Command
    from loopx_host.documents.state import Failure

    class Row(TypedDict):
        """One extension: the v0 fields, then version, readiness and what would change it.

        `reason` is the code of the refusal that dispatching it would meet; `changed` names what a stale proof no
        longer covers, `last_failure` how the doctor of the active revision failed last.
        """

        id: str
        enabled: bool
        active_revision: str | None
        rollback_available: bool
        doctor_verified: bool
        revision_count: int
        version: str | None
        ready: bool
        reason: str | None
        changed: list[str]
        changed_details: list[str]
        last_failure: Failure | None
        env: list[str]
        next_command: Command | None

    class ExtensionList(TypedDict):
        """Every installed extension by id."""

        ok: Literal[True]
        schema_version: str
        extensions: list[Row]


def extension_list(rows: list[Row]) -> ExtensionList:
    """Return the list of these rows."""
    return {"ok": True, "schema_version": ID, "extensions": rows}


def row(
    *,
    extension_id: str,
    enabled: bool,
    active_revision: str,
    rollback_available: bool,
    revision_count: int,
    version: str,
    ready: bool,
    reason: str | None,
    changed: list[str],
    changed_details: list[str],
    last_failure: Failure | None,
    env: list[str],
    next_command: Command | None,
) -> Row:
    """Return the row of an extension whose entry can be used."""
    return {
        "id": extension_id,
        "enabled": enabled,
        "active_revision": active_revision,
        "rollback_available": rollback_available,
        "doctor_verified": ready,
        "revision_count": revision_count,
        "version": version,
        "ready": ready,
        "reason": reason,
        "changed": changed,
        "changed_details": changed_details,
        "last_failure": last_failure,
        "env": env,
        "next_command": next_command,
    }


def bad_row(*, extension_id: str, code: str, next_command: Command) -> Row:
    """Return the row of an entry that cannot be used; `code` says why."""
    return {
        "id": extension_id,
        "enabled": False,
        "active_revision": None,
        "rollback_available": False,
        "doctor_verified": False,
        "revision_count": 0,
        "version": None,
        "ready": False,
        "reason": code,
        "changed": [],
        "changed_details": [],
        "last_failure": None,
        "env": [],
        "next_command": next_command,
    }


def schema() -> dict[str, object]:
    """Return the JSON Schema of the list."""
    from loopx_host.documents import words

    fields = words.object_of(*row_fields())
    return words.receipt_of(ID, {"extensions": words.rows_of(fields)})


def row_fields() -> tuple[dict[str, object], dict[str, object]]:
    """Return the schemas of the fields of a row: those v0 wrote, and those that came later."""
    from loopx_host.documents import state, words

    return (
        {
            "id": words.TEXT,
            "enabled": words.BOOLEAN,
            "active_revision": words.NULLABLE_REVISION,
            "rollback_available": words.BOOLEAN,
            "doctor_verified": words.BOOLEAN,
            "revision_count": words.COUNT,
        },
        {
            "version": words.NULLABLE_TEXT,
            "ready": words.BOOLEAN,
            "reason": words.NULLABLE_TEXT,
            "changed": words.TEXTS,
            "changed_details": words.TEXTS,
            "last_failure": state.failure_schema(),
            "env": words.TEXTS,
            "next_command": words.NULLABLE_TEXT,
        },
    )
