"""What a restore installed of an export, or would install, row by row."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal, TypedDict

    from loopx_host.documents.binding import Binding
    from loopx_host.documents.parts import Command, Distribution

    class RestoredExtension(TypedDict):
        """What became of one row of an export; `install_package` is a command for a person, never run.

        `distribution` is the one it was exported from, `found` the one that carries its program here.
        """

        id: str
        revision: str
        status: str
        code: str | None
        reason: str | None
        distribution: Distribution | None
        found: Distribution | None
        install_package: str | None

    class RestoredBinding(TypedDict):
        """What became of one binding of an export."""

        goal_id: str
        capability_id: str
        extension_id: str
        status: str
        code: str | None
        reason: str | None

    class Restore(TypedDict):
        """`complete` says that nothing of the export is missing; an executed restore is ``ok`` only then.

        The extensions stand in the order of their installation.
        """

        ok: bool
        schema_version: str
        operation: Literal["restore"]
        dry_run: bool
        changed: bool
        complete: bool
        extensions: list[RestoredExtension]
        bindings: list[RestoredBinding]
        plan: str
        next_command: Command | None


ID = "loopx_extension_restore_v0"
INSTALLED, WOULD_INSTALL, ALREADY, ANOTHER, REFUSED = STATUSES = (
    *("installed", "would_install", "already_installed", "another_revision_installed"),
    "refused",
)
BOUND, WOULD_BIND, ALREADY_BOUND, ANOTHER_BOUND = _OF_BINDINGS = (
    *("bound", "would_bind", "already_bound"),
    "another_binding",
)
BINDING_STATUSES = (*_OF_BINDINGS, REFUSED)
# What became of a row of which nothing is missing.
DONE = frozenset({INSTALLED, WOULD_INSTALL, ALREADY, BOUND, WOULD_BIND, ALREADY_BOUND})


def restore(
    rows: list[RestoredExtension],
    bindings: list[RestoredBinding],
    *,
    executed: bool,
    plan: str,
    next_command: Command | None,
) -> Restore:
    """Return the receipt of a restore; ``ok``, `changed` and `complete` follow from its rows."""
    statuses = [one["status"] for one in (*rows, *bindings)]
    complete = all(status in DONE for status in statuses)
    return {
        "ok": complete or not executed,
        "schema_version": ID,
        "operation": "restore",
        "dry_run": not executed,
        "changed": any(status in (INSTALLED, BOUND) for status in statuses),
        "complete": complete,
        "extensions": rows,
        "bindings": bindings,
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
    distribution: Distribution | None = None,
    found: Distribution | None = None,
    install_package: str | None = None,
) -> RestoredExtension:
    """Return what became of one extension."""
    return {
        "id": extension_id,
        "revision": revision,
        "status": status,
        "code": code,
        "reason": reason,
        "distribution": distribution,
        "found": found,
        "install_package": install_package,
    }


def bound_row(binding: Binding, status: str, code: str | None = None, reason: str | None = None) -> RestoredBinding:
    """Return what became of one binding."""
    return {
        "goal_id": binding["goal_id"],
        "capability_id": binding["capability_id"],
        "extension_id": binding["provider"]["extension_id"],
        "status": status,
        "code": code,
        "reason": reason,
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
            "distribution": words.DISTRIBUTION,
            "found": words.DISTRIBUTION,
            "install_package": words.NULLABLE_TEXT,
        }
    )
    binding = words.object_of(
        {
            "goal_id": words.TEXT,
            "capability_id": words.TEXT,
            "extension_id": words.TEXT,
            "status": {"enum": sorted(BINDING_STATUSES)},
            "code": words.NULLABLE_TEXT,
            "reason": words.NULLABLE_TEXT,
        }
    )
    return words.receipt_of(
        ID,
        {
            "dry_run": words.BOOLEAN,
            "changed": words.BOOLEAN,
            "complete": words.BOOLEAN,
            "extensions": words.rows_of(row),
            "bindings": words.rows_of(binding),
        },
    )
