"""The receipt of writing a new extension."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal, TypedDict

    from loopx_host.documents.parts import Command

    class WrittenFile(TypedDict):
        """One file of the new extension, by its path below the destination."""

        path: str
        status: str

    class Scaffold(TypedDict):
        """`next_commands` name what to do with the new package, each ready to be typed."""

        ok: Literal[True]
        schema_version: str
        operation: Literal["init"]
        dry_run: bool
        changed: bool
        extension_id: str
        starter_kind: str
        capability_id: None
        managed_entrypoint: str
        version: str
        destination: str
        module_name: str
        protocol: str
        permissions: list[str]
        files: list[WrittenFile]
        plan: str
        next_commands: dict[str, str]
        next_command: Command | None


ID = "loopx_extension_scaffold_v0"
CREATED, WOULD_CREATE = "created", "would_create"


def scaffold(
    *,
    extension_id: str,
    version: str,
    destination: str,
    module_name: str,
    protocol: str,
    paths: list[str],
    executed: bool,
    plan: str,
    next_commands: dict[str, str],
    next_command: Command | None,
) -> Scaffold:
    """Return the receipt of an extension with these files; it serves no capability and asks for no permission."""
    status = CREATED if executed else WOULD_CREATE
    return {
        "ok": True,
        "schema_version": ID,
        "operation": "init",
        "dry_run": not executed,
        "changed": executed,
        "extension_id": extension_id,
        "starter_kind": "standalone",
        "capability_id": None,
        "managed_entrypoint": "loopx extension run",
        "version": version,
        "destination": destination,
        "module_name": module_name,
        "protocol": protocol,
        "permissions": [],
        "files": [{"path": path, "status": status} for path in paths],
        "plan": plan,
        "next_commands": next_commands,
        "next_command": next_command,
    }


def schema() -> dict[str, object]:
    """Return the JSON Schema of the receipt."""
    from loopx_host.documents import words

    file = words.object_of({"path": words.TEXT, "status": {"enum": [CREATED, WOULD_CREATE]}}, closed=True)
    return words.receipt_of(
        ID,
        {
            "operation": {"const": "init"},
            "dry_run": words.BOOLEAN,
            "changed": words.BOOLEAN,
            "extension_id": words.ID,
            "starter_kind": words.TEXT,
            "capability_id": words.NULLABLE_TEXT,
            "managed_entrypoint": words.TEXT,
            "version": words.TEXT,
            "destination": words.TEXT,
            "module_name": words.TEXT,
            "protocol": words.TEXT,
            "permissions": words.TEXTS,
            "files": words.rows_of(file),
            "next_commands": {"type": "object", "additionalProperties": words.TEXT},
        },
        {"plan": words.DIGEST, "next_command": words.NULLABLE_TEXT},
    )
