"""The receipt of a verb that changes what is installed, and of an export that is written to a file.

A receipt is built in two steps: what the verb is about, then what executing it would meet (`previewed`, `to_do`) or
came to (`done`).
"""

from __future__ import annotations

from loopx_host.documents.parts import UNOWNED, would_refuse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal, NotRequired, TypedDict

    from loopx_host.core.diagnostics import ProblemRow
    from loopx_host.core.errors import Refused
    from loopx_host.documents.doctor import Doctor
    from loopx_host.documents.parts import (
        BadEntry,
        Command,
        Distribution,
        EntryPoint,
        EntryPoints,
        OtherCode,
        Pin,
        WouldRefuse,
    )

    FromTo = TypedDict("FromTo", {"from": object, "to": object})

    class PermissionChanges(TypedDict):
        """Tokens that only one of two manifests declares, in file order."""

        added: list[str]
        removed: list[str]

    class Changes(TypedDict):
        """What a switch from one manifest to another changes; `runtime` holds the fields that differ."""

        version: FromTo
        permissions: PermissionChanges
        runtime: dict[str, FromTo]

    class Activates(TypedDict):
        """What of a package will run inside the host: with the rights of the user, and never contained."""

        plugins: list[EntryPoint]
        commands: list[EntryPoint]
        contained: Literal[False]

    class Operation(TypedDict):
        """The head is the same for every verb; each verb brings its own rows, none has them all."""

        ok: Literal[True]
        schema_version: str
        operation: str
        dry_run: bool
        changed: bool
        would_change: NotRequired[bool]
        extension_id: NotRequired[str]
        version: NotRequired[str]
        revision: NotRequired[str | None]
        previous_revision: NotRequired[str | None]
        enabled: NotRequired[bool | None]
        active_revision: NotRequired[str]
        doctor: NotRequired[Doctor | None]
        rollback_available: NotRequired[bool]
        manifest_path: NotRequired[str]
        launcher: NotRequired[Pin | None]
        owner: NotRequired[Distribution | str]
        activates: NotRequired[Activates | None]
        warnings: NotRequired[list[ProblemRow]]
        env: NotRequired[list[str]]
        permissions: NotRequired[list[str]]
        changes: NotRequired[Changes]
        revisions: NotRequired[list[str]]
        plan: NotRequired[str]
        would_refuse: NotRequired[WouldRefuse | None]
        at: NotRequired[str]
        duration_ms: NotRequired[int]
        code_changed: NotRequired[bool]
        other_code: NotRequired[OtherCode | None]
        output: NotRequired[str]
        extensions: NotRequired[list[str]]
        skipped: NotRequired[list[BadEntry]]
        next_command: NotRequired[Command | None]


ID = "loopx_extension_operation_v0"
OPERATIONS = ("install", "upgrade", "rollback", "uninstall", "enable", "disable", "export")


def install(
    *,
    extension_id: str,
    version: str,
    revision: str,
    executed: bool,
    doctor: Doctor,
    manifest_path: str,
    launcher: Pin | None,
    owner: Distribution | None,
    entry_points: EntryPoints | None,
    warnings: list[ProblemRow],
    env: list[str],
    permissions: list[str],
    plan: str,
) -> Operation:
    """Return what an install is about; `launcher` and `entry_points` are None where no launcher was found."""
    return {
        **_about("install", extension_id, version, revision, executed=executed, doctor=doctor),
        "enabled": True if executed else None,
        "manifest_path": manifest_path,
        "launcher": launcher,
        "owner": owner or UNOWNED,
        "activates": None if entry_points is None else {**entry_points, "contained": False},
        "warnings": warnings,
        "env": env,
        "permissions": permissions,
        "plan": plan,
    }


def switch(
    verb: str,
    *,
    extension_id: str,
    version: str,
    revision: str,
    previous_revision: str,
    executed: bool,
    doctor: Doctor,
    enabled: bool,
    had_rollback: bool,
    launcher: Pin | None,
    owner: Distribution | None,
    changes: Changes,
    plan: str,
) -> Operation:
    """Return what an upgrade or a rollback is about; `had_rollback` is whether one was possible before."""
    return {
        **_about(verb, extension_id, version, revision, executed=executed, doctor=doctor),
        "previous_revision": previous_revision,
        "enabled": enabled if executed else None,
        "rollback_available": executed or had_rollback,
        "launcher": launcher,
        "owner": owner or UNOWNED,
        "changes": changes,
        "plan": plan,
    }


def with_source(receipt: Operation, *, manifest_path: str, warnings: list[ProblemRow]) -> Operation:
    """Return the receipt of an upgrade with the manifest it trusts, and what is odd about it."""
    return {**receipt, "manifest_path": manifest_path, "warnings": warnings}


def uninstall(
    *, extension_id: str, version: str, active_revision: str, revisions: list[str], executed: bool, plan: str
) -> Operation:
    """Return what an uninstall is about; `revisions` are all that it forgets."""
    return {
        **_about("uninstall", extension_id, version, active_revision, executed=executed, doctor=None),
        "revision": None if executed else active_revision,
        "previous_revision": active_revision,
        "revisions": revisions,
        "plan": plan,
    }


def enable(
    *, extension_id: str, active_revision: str, was_enabled: bool, executed: bool, doctor: Doctor, plan: str
) -> Operation:
    """Return what setting the enabled bit is about; an executed one has passed its doctor."""
    enabled, would_change = was_enabled or executed, not was_enabled
    head = _bit("enable", extension_id, active_revision, enabled, executed=executed, would_change=would_change)
    return {**head, "doctor": doctor, "plan": plan}


def disable(*, extension_id: str, active_revision: str, was_enabled: bool, executed: bool, plan: str) -> Operation:
    """Return what clearing the enabled bit is about."""
    enabled = was_enabled and not executed
    head = _bit("disable", extension_id, active_revision, enabled, executed=executed, would_change=was_enabled)
    return {**head, "plan": plan}


def export_to_file(
    *,
    output: str,
    extensions: list[str],
    skipped: list[BadEntry],
    executed: bool,
    plan: str,
    next_command: Command | None,
) -> Operation:
    """Return the receipt of an export that goes to the file `output`; `skipped` are entries no export could name."""
    return {
        "ok": True,
        "schema_version": ID,
        "operation": "export",
        "dry_run": not executed,
        "changed": executed,
        "output": output,
        "extensions": extensions,
        "skipped": skipped,
        "plan": plan,
        "next_command": next_command,
    }


def previewed(receipt: Operation, *, refused: Refused | None, next_command: Command) -> Operation:
    """Return the receipt of a verb that would start a provider, with what the environment would refuse."""
    return {**receipt, "would_refuse": would_refuse(refused), "next_command": next_command}


def to_do(receipt: Operation, *, next_command: Command) -> Operation:
    """Return the receipt of a verb that starts nothing, with the command that does it."""
    return {**receipt, "next_command": next_command}


def done(receipt: Operation, *, at: str, written: bool) -> Operation:
    """Return the receipt of a verb that started nothing; not `written`: another command had done the same."""
    return {**receipt, "changed": receipt["changed"] and written, "at": at}


def proved(receipt: Operation, *, at: str, duration_ms: int, written: bool) -> Operation:
    """Return the receipt of a verb that was carried out once a doctor of `duration_ms` passed."""
    return {**receipt, "changed": receipt["changed"] and written, "at": at, "duration_ms": duration_ms}


def with_code(receipt: Operation, other: OtherCode | None) -> Operation:
    """Return the receipt of a rollback with the code that is installed, where another was proved for the revision."""
    return {**receipt, "code_changed": other is not None, "other_code": other}


def schema() -> dict[str, object]:
    """Return the JSON Schema of an operation; which fields are required depends on the verb."""
    from loopx_host.documents import doctor, words

    by_verb = (
        (("install", "upgrade", "rollback"), ("version", "revision", "previous_revision", "doctor")),
        (("enable", "disable"), ("active_revision", "would_change")),
        (OPERATIONS[:-1], ("extension_id", "enabled")),
        (("export",), ("output", "extensions")),
    )
    receipt = words.receipt_of(
        ID,
        {"operation": {"enum": list(OPERATIONS)}, "dry_run": words.BOOLEAN, "changed": words.BOOLEAN},
        {
            "extension_id": words.ID,
            "version": words.TEXT,
            "revision": words.NULLABLE_REVISION,
            "previous_revision": words.NULLABLE_REVISION,
            "active_revision": words.NULLABLE_REVISION,
            "enabled": {"type": ["boolean", "null"]},
            "would_change": words.BOOLEAN,
            "rollback_available": words.BOOLEAN,
            "doctor": words.nullable(doctor.schema()),
            "would_refuse": words.WOULD_REFUSE,
            "plan": words.DIGEST,
            "owner": words.OWNER,
            "warnings": words.rows_of(words.PROBLEM),
            "code_changed": words.BOOLEAN,
            "other_code": words.OTHER_CODE,
            "output": words.TEXT,
            "extensions": words.TEXTS,
            "at": words.TIME,
            "duration_ms": words.COUNT,
            "next_command": words.NULLABLE_TEXT,
        },
    )
    return {
        **receipt,
        "allOf": [
            {"if": {"properties": {"operation": {"enum": list(some)}}}, "then": {"required": list(fields)}}
            for some, fields in by_verb
        ],
    }


def _about(
    verb: str, extension_id: str, version: str, revision: str, *, executed: bool, doctor: Doctor | None
) -> Operation:
    """Return the head of a verb about one manifest revision."""
    return {
        "ok": True,
        "schema_version": ID,
        "operation": verb,
        "dry_run": not executed,
        "changed": executed,
        "extension_id": extension_id,
        "version": version,
        "revision": revision,
        "previous_revision": None,
        "enabled": None,
        "doctor": doctor,
        "rollback_available": False,
    }


def _bit(
    verb: str, extension_id: str, active_revision: str, enabled: bool, *, executed: bool, would_change: bool
) -> Operation:
    """Return the head of a verb that sets or clears the enabled bit; `enabled` is the bit it leaves or would find."""
    return {
        "ok": True,
        "schema_version": ID,
        "operation": verb,
        "dry_run": not executed,
        "changed": executed and would_change,
        "would_change": would_change,
        "extension_id": extension_id,
        "enabled": enabled,
        "active_revision": active_revision,
    }
