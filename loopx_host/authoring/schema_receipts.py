"""JSON Schemas of what loopx answers: receipts and errors, which may hold more than is named here."""

from __future__ import annotations

from loopx_host.authoring.schema_parts import (
    BOOLEAN,
    COUNT,
    ID,
    NULLABLE_REVISION,
    NULLABLE_TEXT,
    OWNER,
    PLAN,
    REVISION,
    SHA256,
    TEXT,
    TEXTS,
    TIME,
    object_of,
    receipt_of,
    rows_of,
)
from loopx_host.core.codes import CODES, FAILURE_KINDS, PROBLEM_CODES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Schema = dict[str, Any]


def error_schema() -> Schema:
    """Describe: error."""
    return object_of(
        {
            "ok": {"const": False},
            "schema_version": {"const": "loopx_extension_error_v0"},
            "status": {"enum": sorted({row[1] for row in CODES.values()})},
            "error": TEXT,
        },
        {
            "code": {"enum": sorted(CODES)},
            "subject": TEXT,
            "hint": NULLABLE_TEXT,
            "next_command": NULLABLE_TEXT,
            "problems": rows_of(problem_schema()),
            "violations": rows_of(violation_schema()),
            "doctor": doctor_schema(),
        },
    )


def problem_schema() -> Schema:
    """Describe: problem."""
    return object_of(
        {
            "code": {"enum": sorted((*PROBLEM_CODES, "entrypoint_version_differs", "entrypoint_unowned"))},
            "pointer": TEXT,
            "line": {"type": ["integer", "null"], "minimum": 1},
            "summary": TEXT,
            "nearest": NULLABLE_TEXT,
        },
        closed=True,
    )


def violation_schema() -> Schema:
    """Describe: violation."""
    return object_of({"pointer": TEXT, "message": TEXT}, closed=True)


def would_refuse_schema() -> Schema:
    """Describe: would refuse."""
    said = object_of(
        {"code": {"enum": sorted(CODES)}, "error": TEXT, "hint": NULLABLE_TEXT, "next_command": NULLABLE_TEXT}
    )
    return {"anyOf": [{"type": "null"}, said]}


def row_of_list_schema() -> Schema:
    """Describe: row of list."""
    return object_of(
        {
            "id": TEXT,
            "enabled": BOOLEAN,
            "active_revision": NULLABLE_REVISION,
            "rollback_available": BOOLEAN,
            "doctor_verified": BOOLEAN,
            "revision_count": COUNT,
        },
        {
            "version": NULLABLE_TEXT,
            "ready": BOOLEAN,
            "reason": NULLABLE_TEXT,
            "changed": TEXTS,
            "changed_details": TEXTS,
            "env": TEXTS,
            "next_command": NULLABLE_TEXT,
        },
    )


def list_schema() -> Schema:
    """Describe: list."""
    return receipt_of("loopx_extension_state_v0", {"extensions": rows_of(row_of_list_schema())})


def doctor_schema() -> Schema:
    """Describe: doctor."""
    return receipt_of(
        "loopx_extension_doctor_v0",
        {
            "extension_id": ID,
            "status": {"enum": ["ready", "unhealthy", "probe_required", "disabled"]},
            "available": BOOLEAN,
            "verified": BOOLEAN,
            "entrypoint_identity": NULLABLE_TEXT,
            "failure_kind": {"enum": [*FAILURE_KINDS, None]},
            "external_writes_performed": {"const": False},
        },
        {
            "version": TEXT,
            "reason": NULLABLE_TEXT,
            "exit_code": {"type": ["integer", "null"]},
            "signal": NULLABLE_TEXT,
            "stderr_tail": NULLABLE_TEXT,
            "containment": {"type": ["object", "null"]},
            "would_refuse": would_refuse_schema(),
            "at": TIME,
            "duration_ms": COUNT,
            "plan": PLAN,
            "next_command": NULLABLE_TEXT,
        },
    )


def operation_schema() -> Schema:
    """Describe: operation."""
    verbs = ("install", "upgrade", "rollback", "uninstall", "enable", "disable", "export")
    by_verb = (
        (("install", "upgrade", "rollback"), ("version", "revision", "previous_revision", "doctor")),
        (("enable", "disable"), ("active_revision", "would_change")),
        (verbs[:-1], ("extension_id", "enabled")),
        (("export",), ("output", "extensions")),
    )
    receipt = receipt_of(
        "loopx_extension_operation_v0",
        {"operation": {"enum": list(verbs)}, "dry_run": BOOLEAN, "changed": BOOLEAN},
        {
            "extension_id": ID,
            "version": TEXT,
            "revision": NULLABLE_REVISION,
            "previous_revision": NULLABLE_REVISION,
            "active_revision": NULLABLE_REVISION,
            "enabled": {"type": ["boolean", "null"]},
            "would_change": BOOLEAN,
            "rollback_available": BOOLEAN,
            "doctor": {"anyOf": [{"type": "null"}, doctor_schema()]},
            "would_refuse": would_refuse_schema(),
            "plan": PLAN,
            "owner": OWNER,
            "warnings": rows_of(problem_schema()),
            "output": TEXT,
            "extensions": TEXTS,
            "at": TIME,
            "duration_ms": COUNT,
            "next_command": NULLABLE_TEXT,
        },
    )
    return {
        **receipt,
        "allOf": [
            {"if": {"properties": {"operation": {"enum": list(some)}}}, "then": {"required": list(fields)}}
            for some, fields in by_verb
        ],
    }


def run_schema() -> Schema:
    """Describe: run."""
    receipt = receipt_of(
        "loopx_extension_run_receipt_v0",
        {
            "operation": {"const": "run"},
            "extension_id": ID,
            "provider_version": TEXT,
            "revision": REVISION,
            "protocol": TEXT,
            "required_permissions": TEXTS,
            "dry_run": BOOLEAN,
            "executed": BOOLEAN,
            "status": {"enum": ["ready", "not_ready", "succeeded", "provider_failed", "invalid_provider_output"]},
            "input_schema_version": NULLABLE_TEXT,
        },
        {
            "request_sha256": SHA256,
            "would_refuse": would_refuse_schema(),
            "exit_code": {"type": ["integer", "null"]},
            "provider_result": {"type": ["object", "null"]},
            "failure_kind": {"enum": [*FAILURE_KINDS, None]},
            "error": NULLABLE_TEXT,
            "violations": rows_of(violation_schema()),
            "signal": NULLABLE_TEXT,
            "at": TIME,
            "run_id": {"type": "string", "pattern": "^[0-9a-f]{24}$"},
            "duration_ms": COUNT,
            "response_sha256": SHA256,
            "stderr_tail": NULLABLE_TEXT,
            "containment": {"type": "object"},
        },
    )
    executed = {"properties": {"executed": {"const": True}}}
    return {**receipt, "if": executed, "then": {"required": ["exit_code", "provider_result"]}}


def restore_schema() -> Schema:
    """Describe: restore."""
    row = object_of(
        {
            "id": TEXT,
            "revision": TEXT,
            "status": {
                "enum": [
                    "already_installed",
                    "another_revision_installed",
                    "installed",
                    "refused",
                    "would_install",
                ]
            },
            "code": NULLABLE_TEXT,
            "reason": NULLABLE_TEXT,
            "install_package": NULLABLE_TEXT,
        }
    )
    return receipt_of(
        "loopx_extension_restore_v0",
        {"dry_run": BOOLEAN, "changed": BOOLEAN, "complete": BOOLEAN, "extensions": rows_of(row)},
    )


def discovery_schema() -> Schema:
    """Describe: discovery."""
    states = ["available", "installed", "upgrade_available", "ambiguous", "broken", "incompatible", "package_missing"]
    row = object_of(
        {
            "id": NULLABLE_TEXT,
            "state": {"enum": states},
            "code": NULLABLE_TEXT,
            "reason": NULLABLE_TEXT,
            "distribution": {"type": ["object", "null"]},
            "location": TEXT,
            "manifest_path": NULLABLE_TEXT,
            "version": NULLABLE_TEXT,
            "revision": NULLABLE_REVISION,
            "next_command": NULLABLE_TEXT,
        }
    )
    return receipt_of("loopx_extension_discovery_v0", {"extensions": rows_of(row), "index": {"type": "object"}})


def host_doctor_schema() -> Schema:
    """Describe: host doctor."""
    row = object_of(
        {
            "check": TEXT,
            "status": {"enum": ["ok", "warning", "error"]},
            "code": NULLABLE_TEXT,
            "subject": TEXT,
            "summary": TEXT,
            "next_command": NULLABLE_TEXT,
        }
    )
    return receipt_of("loopx_doctor_v0", {"platform": TEXT, "state_file": TEXT, "checks": rows_of(row)})


def catalog_schema() -> Schema:
    """Describe: catalog."""
    facts = object_of(dict.fromkeys(("declared", "installed", "enabled", "ready"), BOOLEAN), closed=True)
    capability = object_of(
        {
            "id": TEXT,
            "title": NULLABLE_TEXT,
            "status": NULLABLE_TEXT,
            "origin": TEXT,
            "provider_id": TEXT,
            "visibility": {"const": "public"},
            "provider_state": facts,
            "real_world_anchor": NULLABLE_TEXT,
            "entry_command": NULLABLE_TEXT,
            "next_real_step": NULLABLE_TEXT,
            "implemented_protocol_count": COUNT,
            "implementation_provider_count": COUNT,
        },
        {"reason": NULLABLE_TEXT, "next_command": NULLABLE_TEXT},
    )
    provider = object_of({"id": TEXT, "origin": {"enum": ["builtin", "extension"]}, **facts["properties"]})
    return receipt_of(
        "loopx_capability_catalog_v0", {"capabilities": rows_of(capability), "providers": rows_of(provider)}
    )


def capability_schema() -> Schema:
    """Describe: capability."""
    facts = object_of(dict.fromkeys(("declared", "installed", "enabled", "ready"), BOOLEAN), closed=True)
    capability = object_of(
        {"id": TEXT, "kind": TEXT, "title": TEXT, "status": TEXT, "provider_id": TEXT, "provider_state": facts},
        {"reason": NULLABLE_TEXT, "next_command": NULLABLE_TEXT},
    )
    return receipt_of("loopx_capability_detail_v0", {"capability": capability})


def scaffold_schema() -> Schema:
    """Describe: scaffold."""
    file = object_of({"path": TEXT, "status": {"enum": ["created", "would_create"]}}, closed=True)
    return receipt_of(
        "loopx_extension_scaffold_v0",
        {
            "operation": {"const": "init"},
            "dry_run": BOOLEAN,
            "changed": BOOLEAN,
            "extension_id": ID,
            "starter_kind": TEXT,
            "capability_id": NULLABLE_TEXT,
            "managed_entrypoint": TEXT,
            "version": TEXT,
            "destination": TEXT,
            "module_name": TEXT,
            "protocol": TEXT,
            "permissions": TEXTS,
            "files": rows_of(file),
            "next_commands": {"type": "object", "additionalProperties": TEXT},
        },
        {"plan": PLAN, "next_command": NULLABLE_TEXT},
    )


def history_schema() -> Schema:
    """Describe: history."""
    event = object_of({"at": TIME, "operation": TEXT})
    return receipt_of(
        "loopx_extension_history_v0", {"extension_id": ID, "active_revision": REVISION, "history": rows_of(event)}
    )


def detail_schema() -> Schema:
    """Describe: detail."""
    row = row_of_list_schema()
    revision = object_of(
        {"revision": REVISION, "version": TEXT},
        {"digest": SHA256, "installed_at": NULLABLE_TEXT, "manifest_path": NULLABLE_TEXT},
    )
    return receipt_of(
        "loopx_extension_detail_v0",
        {
            **row["properties"],
            "id": ID,
            "permissions": TEXTS,
            "launcher": {"type": ["object", "null"]},
            "proof": {"type": ["object", "null"]},
            "manifest": {"type": "object"},
            "revisions": rows_of(revision),
            "history": rows_of({"type": "object"}),
        },
    )


def repair_schema() -> Schema:
    """Describe: repair."""
    damaged = object_of({"id": NULLABLE_TEXT, "code": {"enum": sorted(CODES)}, "reason": TEXT}, closed=True)
    return receipt_of(
        "loopx_extension_repair_v0",
        {
            "operation": {"const": "repair"},
            "dry_run": BOOLEAN,
            "changed": BOOLEAN,
            "would_change": BOOLEAN,
            "state_file": TEXT,
            "damaged": rows_of(damaged),
            "kept_as": NULLABLE_TEXT,
        },
        {"plan": PLAN, "at": TIME, "next_command": NULLABLE_TEXT},
    )


def validation_schema() -> Schema:
    """Describe: validation."""
    return receipt_of(
        "loopx_extension_validation_v0",
        {
            "extension_id": ID,
            "version": TEXT,
            "revision": REVISION,
            "manifest_path": TEXT,
            "checked": TEXTS,
            "warnings": rows_of(problem_schema()),
            "advice": TEXTS,
            "strict": BOOLEAN,
        },
    )


def conformance_schema() -> Schema:
    """Describe: conformance."""
    rule = object_of(
        {
            "rule": TEXT,
            "group": {"enum": ["friendly", "hostile"]},
            "promise": TEXT,
            "status": {"enum": ["passed", "failed", "skipped", "not_run"]},
            "reason": NULLABLE_TEXT,
        },
        closed=True,
    )
    return receipt_of(
        "loopx_extension_conformance_v0",
        {
            "extension_id": ID,
            "version": TEXT,
            "revision": REVISION,
            "executed": BOOLEAN,
            "dry_run": BOOLEAN,
            "rules": rows_of(rule),
        },
    )


def performance_schema() -> Schema:
    """Describe: performance."""
    number: Schema = {"type": "number"}
    figures = ("bare_median_ms", "median_ms", "p95_ms", "added_median_ms", "ratio_median")
    routes: Schema = {"enum": ["import", "version", "help"]}
    row = object_of({"route": routes, **dict.fromkeys(figures, number), "modules": COUNT})
    target = object_of({"target": {"enum": [50, 100, 200]}, "met_by": rows_of(routes)})
    return receipt_of(
        "loopx_performance_diagnosis_v0",
        {
            "environment": object_of({"python": TEXT, "interpreter": TEXT, "system": TEXT, "machine": TEXT}),
            "pairs": {"type": "integer", "minimum": 1},
            "own_start_ms": {"type": ["number", "null"]},
            "phases_ms": object_of(dict.fromkeys(("interpreter", "import", "version", "help"), number)),
            "routes": rows_of(row),
            "targets_ms": rows_of(target),
        },
    )


def help_schema() -> Schema:
    """Describe: help."""
    return receipt_of("loopx_help_v0", {"text": TEXT})


def version_schema() -> Schema:
    """Describe: version."""
    return receipt_of("loopx_version_v0", {"text": TEXT, "version": TEXT})


def completions_schema() -> Schema:
    """Describe: completions."""
    return receipt_of("loopx_completions_v0", {"text": TEXT, "shell": {"enum": ["bash", "zsh", "fish"]}})
