"""What a repair moved out of the way of the state file, or would move."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal, NotRequired, TypedDict

    from loopx_host.documents.parts import Command

    class Damage(TypedDict):
        """One entry that cannot be used; `id` is null where the whole file is no state."""

        id: str | None
        code: str
        reason: str

    class Repair(TypedDict):
        """`kept_as` is the file that holds what was moved; nothing is ever deleted."""

        ok: Literal[True]
        schema_version: str
        operation: Literal["repair"]
        dry_run: bool
        changed: bool
        would_change: bool
        state_file: str
        damaged: list[Damage]
        kept_as: str | None
        plan: str
        next_command: Command | None
        at: NotRequired[str]


ID = "loopx_extension_repair_v0"


def repair(
    *, state_file: str, damaged: list[Damage], plan: str, executed: bool, next_command: Command | None
) -> Repair:
    """Return the receipt of a repair that has not moved anything yet, or that had nothing to move."""
    return {
        "ok": True,
        "schema_version": ID,
        "operation": "repair",
        "dry_run": not executed,
        "changed": False,
        "would_change": bool(damaged),
        "state_file": state_file,
        "damaged": damaged,
        "kept_as": None,
        "plan": plan,
        "next_command": next_command,
    }


def done(receipt: Repair, *, changed: bool, kept_as: str | None, at: str) -> Repair:
    """Return the receipt of a repair that was carried out."""
    return {**receipt, "changed": changed, "kept_as": kept_as, "at": at}


def schema() -> dict[str, object]:
    """Return the JSON Schema of a repair."""
    from loopx_host.documents import words

    damaged = words.object_of({"id": words.NULLABLE_TEXT, "code": words.ANY_CODE, "reason": words.TEXT}, closed=True)
    return words.receipt_of(
        ID,
        {
            "operation": {"const": "repair"},
            "dry_run": words.BOOLEAN,
            "changed": words.BOOLEAN,
            "would_change": words.BOOLEAN,
            "state_file": words.TEXT,
            "damaged": words.rows_of(damaged),
            "kept_as": words.NULLABLE_TEXT,
        },
        {"plan": words.DIGEST, "at": words.TIME, "next_command": words.NULLABLE_TEXT},
    )
