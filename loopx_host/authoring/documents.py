"""JSON Schemas of the documents loopx reads and writes, for editors and for programs that check receipts.

Receipts are described as v0 fixed them, with the additions as they are made today; a receipt may hold more
than its schema names, so that an addition never breaks a reader.
"""

from __future__ import annotations

from loopx_host.core.codes import CODES, FAILURE_KINDS, PROBLEM_CODES
from loopx_host.core.errors import refuse
from loopx_host.core.limits import TIMEOUT_MAX_SECONDS
from loopx_host.core.text import one_line
from loopx_host.registry import manifest_rules
from loopx_host.registry.attachments import PROFILE_KEYS, PROFILE_SCHEMA
from loopx_host.registry.manifest import MANIFEST_SCHEMA

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    Schema = dict[str, "Any"]

_DIALECT = "https://json-schema.org/draft/2020-12/schema"
_TEXT: Schema = {"type": "string"}
_NULLABLE_TEXT: Schema = {"type": ["string", "null"]}
_BOOLEAN: Schema = {"type": "boolean"}
_COUNT: Schema = {"type": "integer", "minimum": 0}
_TEXTS: Schema = {"type": "array", "items": _TEXT}
_ID: Schema = {"type": "string", "pattern": "^[a-z][a-z0-9]*(-[a-z0-9]+)*$", "maxLength": 48}
_REVISION: Schema = {"type": "string", "pattern": "^[0-9a-f]{16}$"}
_NULLABLE_REVISION: Schema = {"type": ["string", "null"], "pattern": "^[0-9a-f]{16}$"}
_SHA256: Schema = {"type": "string", "pattern": "^[0-9a-f]{64}$"}
_PLAN: Schema = {"type": "string", "pattern": "^sha256:[0-9a-f]{64}$"}
_TIME: Schema = {"type": "string", "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z$"}
_OWNER: Schema = {
    "anyOf": [
        {"const": "unowned"},
        {"type": "object", "required": ["name", "version"], "properties": {"name": _TEXT, "version": _TEXT}},
    ]
}


def schema(name: str) -> Schema:
    """Return one schema by its name. Raises Refused `schema_unknown`, which lists the names."""
    made = _DOCUMENTS.get(name)
    if made is None:
        raise refuse(
            "schema_unknown",
            one_line(name, 60),
            f"there is no schema `{one_line(name, 60)}`",
            hint=f"the names are {', '.join(names())}",
            names=names(),
        )
    return {"$schema": _DIALECT, "title": f"loopx: {name}", **made()}


def names() -> list[str]:
    """Return the names of all schemas, sorted."""
    return sorted(_DOCUMENTS)


def _object(required: Schema, optional: Schema | None = None, *, closed: bool = False) -> Schema:
    made: Schema = {"type": "object", "required": sorted(required), "properties": {**required, **(optional or {})}}
    return {**made, "additionalProperties": False} if closed else made


def _rows(row: Schema) -> Schema:
    return {"type": "array", "items": row}


def _receipt(schema_version: str, required: Schema, optional: Schema | None = None) -> Schema:
    return _object({"ok": _BOOLEAN, "schema_version": {"const": schema_version}, **required}, optional)


def _manifest() -> Schema:
    """Describe extension.toml for editors; the rules that a schema cannot say are checked by `validate`."""
    runtime = _object(
        {"protocol": {"type": "string", "pattern": "^[a-z][a-z0-9_]{0,63}_v[0-9]+$"}},
        {
            "entrypoint": _TEXT,
            "python_module": _TEXT,
            "args": _TEXTS,
            "doctor_args": _TEXTS,
            "required_permissions": _TEXTS,
            "timeout_seconds": {"type": "integer", "minimum": 1, "maximum": TIMEOUT_MAX_SECONDS, "default": 30},
            "request_schema": _TEXT,
            "response_schema": _TEXT,
            "env": _TEXTS,
            "requires": {"type": "object", "additionalProperties": _TEXT},
            **{
                key: {"type": "integer", "minimum": low, "maximum": high}
                for key, (low, high) in manifest_rules.BOUNDED_INTEGERS.items()
            },
        },
    )
    runtime = {
        **runtime,
        "oneOf": [{"required": ["entrypoint"]}, {"required": ["python_module"]}],
        "patternProperties": {"^x-": {}},
        "additionalProperties": False,
    }
    provides = _object(
        {**dict.fromkeys(manifest_rules.PROVIDES_TEXTS, _TEXT), "visibility": {"enum": ["public", "internal"]}},
        {**dict.fromkeys(manifest_rules.PROVIDES_PUBLIC, _TEXT), "integration_profile": _TEXT},
    )
    surface = _object(
        {**dict.fromkeys(manifest_rules.SURFACE_KEYS, _TEXT), "visibility": {"enum": ["public-safe", "owner-only"]}},
        closed=True,
    )
    return {
        **_object(
            {
                "schema_version": {"const": MANIFEST_SCHEMA},
                "id": _ID,
                "version": {"type": "string", "minLength": 1, "maxLength": 64},
                "requires_loopx_api": _TEXT,
            },
            {
                "permissions": _TEXTS,
                "runtime": runtime,
                "provides": _rows(provides),
                "implements": _rows(_object(dict.fromkeys(manifest_rules.IMPLEMENTS_KEYS, _TEXT))),
                "presentation_surfaces": _rows(surface),
                "documentation": _object(
                    {"source_root": _TEXT, "site_root": _TEXT, "canonical": _TEXT}, {"aliases": _TEXTS}
                ),
            },
        ),
        "anyOf": [{"required": [key]} for key in ("runtime", "provides", "implements")],
    }


def _profile() -> Schema:
    operation = _object(
        {
            "id": _TEXT,
            "effect_class": {"enum": ["read_only", "external_write"]},
            "required_permission": _TEXT,
            "request_schema": {},
            "result_schema": {},
        },
        {"todo_contract": _object({"action_kinds": _TEXTS, "target_key_prefixes": _TEXTS})},
    )
    fields: Schema = {
        "schema_version": {"const": PROFILE_SCHEMA},
        "capability_id": _ID,
        "protocol": _TEXT,
        "operations": {"type": "array", "minItems": 1, "maxItems": 32, "items": operation},
    }
    return _object({key: fields[key] for key in sorted(PROFILE_KEYS)}, closed=True)


def _state() -> Schema:
    revision = _object(
        {"revision": _REVISION, "version": _TEXT, "manifest": {"type": "object"}},
        {"digest": _SHA256, "manifest_path": _TEXT, "installed_at": _TIME, "launcher": {"type": ["object", "null"]}},
    )
    entry = _object(
        {
            "id": _ID,
            "enabled": _BOOLEAN,
            "active_revision": _REVISION,
            "rollback_revision": _NULLABLE_REVISION,
            "doctor_verified_revision": _NULLABLE_REVISION,
            "doctor_verified_entrypoint_identity": _NULLABLE_TEXT,
            "revisions": {"type": "array", "minItems": 1, "items": revision},
        },
        {"proof": {"type": ["object", "null"]}, "history": {"type": "array", "maxItems": 50}},
    )
    return _object(
        {
            "schema_version": {"const": "loopx_extension_state_v0"},
            "extensions": {"type": "object", "additionalProperties": entry},
        }
    )


def _error() -> Schema:
    return _object(
        {
            "ok": {"const": False},
            "schema_version": {"const": "loopx_extension_error_v0"},
            "status": {"enum": sorted({row[1] for row in CODES.values()})},
            "error": _TEXT,
        },
        {
            "code": {"enum": sorted(CODES)},
            "subject": _TEXT,
            "hint": _NULLABLE_TEXT,
            "next_command": _NULLABLE_TEXT,
            "problems": _rows(_problem()),
            "violations": _rows(_violation()),
            "doctor": _doctor(),
        },
    )


def _problem() -> Schema:
    return _object(
        {
            "code": {"enum": sorted((*PROBLEM_CODES, "entrypoint_version_differs", "entrypoint_unowned"))},
            "pointer": _TEXT,
            "line": {"type": ["integer", "null"], "minimum": 1},
            "summary": _TEXT,
            "nearest": _NULLABLE_TEXT,
        },
        closed=True,
    )


def _violation() -> Schema:
    return _object({"pointer": _TEXT, "message": _TEXT}, closed=True)


def _would_refuse() -> Schema:
    said = _object(
        {"code": {"enum": sorted(CODES)}, "error": _TEXT, "hint": _NULLABLE_TEXT, "next_command": _NULLABLE_TEXT}
    )
    return {"anyOf": [{"type": "null"}, said]}


def _row_of_list() -> Schema:
    return _object(
        {
            "id": _TEXT,
            "enabled": _BOOLEAN,
            "active_revision": _NULLABLE_REVISION,
            "rollback_available": _BOOLEAN,
            "doctor_verified": _BOOLEAN,
            "revision_count": _COUNT,
        },
        {
            "version": _NULLABLE_TEXT,
            "ready": _BOOLEAN,
            "reason": _NULLABLE_TEXT,
            "changed": _TEXTS,
            "changed_details": _TEXTS,
            "env": _TEXTS,
            "next_command": _NULLABLE_TEXT,
        },
    )


def _list() -> Schema:
    return _receipt("loopx_extension_state_v0", {"extensions": _rows(_row_of_list())})


def _doctor() -> Schema:
    return _receipt(
        "loopx_extension_doctor_v0",
        {
            "extension_id": _ID,
            "status": {"enum": ["ready", "unhealthy", "probe_required", "disabled"]},
            "available": _BOOLEAN,
            "verified": _BOOLEAN,
            "entrypoint_identity": _NULLABLE_TEXT,
            "failure_kind": {"enum": [*FAILURE_KINDS, None]},
            "external_writes_performed": {"const": False},
        },
        {
            "version": _TEXT,
            "reason": _NULLABLE_TEXT,
            "exit_code": {"type": ["integer", "null"]},
            "signal": _NULLABLE_TEXT,
            "stderr_tail": _NULLABLE_TEXT,
            "containment": {"type": ["object", "null"]},
            "would_refuse": _would_refuse(),
            "at": _TIME,
            "duration_ms": _COUNT,
            "plan": _PLAN,
            "next_command": _NULLABLE_TEXT,
        },
    )


def _operation() -> Schema:
    verbs = ("install", "upgrade", "rollback", "uninstall", "enable", "disable", "export")
    by_verb = (
        (("install", "upgrade", "rollback"), ("version", "revision", "previous_revision", "doctor")),
        (("enable", "disable"), ("active_revision", "would_change")),
        (verbs[:-1], ("extension_id", "enabled")),
        (("export",), ("output", "extensions")),
    )
    receipt = _receipt(
        "loopx_extension_operation_v0",
        {"operation": {"enum": list(verbs)}, "dry_run": _BOOLEAN, "changed": _BOOLEAN},
        {
            "extension_id": _ID,
            "version": _TEXT,
            "revision": _NULLABLE_REVISION,
            "previous_revision": _NULLABLE_REVISION,
            "active_revision": _NULLABLE_REVISION,
            "enabled": {"type": ["boolean", "null"]},
            "would_change": _BOOLEAN,
            "rollback_available": _BOOLEAN,
            "doctor": {"anyOf": [{"type": "null"}, _doctor()]},
            "would_refuse": _would_refuse(),
            "plan": _PLAN,
            "owner": _OWNER,
            "warnings": _rows(_problem()),
            "output": _TEXT,
            "extensions": _TEXTS,
            "at": _TIME,
            "duration_ms": _COUNT,
            "next_command": _NULLABLE_TEXT,
        },
    )
    return {
        **receipt,
        "allOf": [
            {"if": {"properties": {"operation": {"enum": list(some)}}}, "then": {"required": list(fields)}}
            for some, fields in by_verb
        ],
    }


def _run() -> Schema:
    receipt = _receipt(
        "loopx_extension_run_receipt_v0",
        {
            "operation": {"const": "run"},
            "extension_id": _ID,
            "provider_version": _TEXT,
            "revision": _REVISION,
            "protocol": _TEXT,
            "required_permissions": _TEXTS,
            "dry_run": _BOOLEAN,
            "executed": _BOOLEAN,
            "status": {"enum": ["ready", "not_ready", "succeeded", "provider_failed", "invalid_provider_output"]},
            "input_schema_version": _NULLABLE_TEXT,
        },
        {
            "request_sha256": _SHA256,
            "would_refuse": _would_refuse(),
            "exit_code": {"type": ["integer", "null"]},
            "provider_result": {"type": ["object", "null"]},
            "failure_kind": {"enum": [*FAILURE_KINDS, None]},
            "error": _NULLABLE_TEXT,
            "violations": _rows(_violation()),
            "signal": _NULLABLE_TEXT,
            "at": _TIME,
            "run_id": {"type": "string", "pattern": "^[0-9a-f]{24}$"},
            "duration_ms": _COUNT,
            "response_sha256": _SHA256,
            "stderr_tail": _NULLABLE_TEXT,
            "containment": {"type": "object"},
        },
    )
    executed = {"properties": {"executed": {"const": True}}}
    return {**receipt, "if": executed, "then": {"required": ["exit_code", "provider_result"]}}


def _export() -> Schema:
    row = _object(
        {
            "id": _ID,
            "revision": _REVISION,
            "digest": _SHA256,
            "enabled": _BOOLEAN,
            "distribution": {"anyOf": [{"type": "null"}, _object({"name": _TEXT, "version": _TEXT})]},
            "source": {"enum": ["manifest", "discovered"]},
            "manifest_path": _NULLABLE_TEXT,
        }
    )
    return _object({"schema": {"const": "loopx_extension_export_v0"}, "extensions": _rows(row)})


def _restore() -> Schema:
    row = _object(
        {
            "id": _TEXT,
            "revision": _TEXT,
            "status": {
                "enum": [
                    "already_installed",
                    "another_revision_installed",
                    "installed",
                    "refused",
                    "would_install",
                ]
            },
            "code": _NULLABLE_TEXT,
            "reason": _NULLABLE_TEXT,
            "install_package": _NULLABLE_TEXT,
        }
    )
    return _receipt(
        "loopx_extension_restore_v0",
        {"dry_run": _BOOLEAN, "changed": _BOOLEAN, "complete": _BOOLEAN, "extensions": _rows(row)},
    )


def _discovery() -> Schema:
    states = ["available", "installed", "upgrade_available", "ambiguous", "broken", "incompatible", "package_missing"]
    row = _object(
        {
            "id": _NULLABLE_TEXT,
            "state": {"enum": states},
            "code": _NULLABLE_TEXT,
            "reason": _NULLABLE_TEXT,
            "distribution": {"type": ["object", "null"]},
            "location": _TEXT,
            "manifest_path": _NULLABLE_TEXT,
            "version": _NULLABLE_TEXT,
            "revision": _NULLABLE_REVISION,
            "next_command": _NULLABLE_TEXT,
        }
    )
    return _receipt("loopx_extension_discovery_v0", {"extensions": _rows(row), "index": {"type": "object"}})


def _host_doctor() -> Schema:
    row = _object(
        {
            "check": _TEXT,
            "status": {"enum": ["ok", "warning", "error"]},
            "code": _NULLABLE_TEXT,
            "subject": _TEXT,
            "summary": _TEXT,
            "next_command": _NULLABLE_TEXT,
        }
    )
    return _receipt("loopx_doctor_v0", {"platform": _TEXT, "state_file": _TEXT, "checks": _rows(row)})


def _catalog() -> Schema:
    facts = _object(dict.fromkeys(("declared", "installed", "enabled", "ready"), _BOOLEAN), closed=True)
    capability = _object(
        {
            "id": _TEXT,
            "title": _NULLABLE_TEXT,
            "status": _NULLABLE_TEXT,
            "origin": _TEXT,
            "provider_id": _TEXT,
            "visibility": {"const": "public"},
            "provider_state": facts,
            "real_world_anchor": _NULLABLE_TEXT,
            "entry_command": _NULLABLE_TEXT,
            "next_real_step": _NULLABLE_TEXT,
            "implemented_protocol_count": _COUNT,
            "implementation_provider_count": _COUNT,
        },
        {"reason": _NULLABLE_TEXT, "next_command": _NULLABLE_TEXT},
    )
    provider = _object({"id": _TEXT, "origin": {"enum": ["builtin", "extension"]}, **facts["properties"]})
    return _receipt("loopx_capability_catalog_v0", {"capabilities": _rows(capability), "providers": _rows(provider)})


def _capability() -> Schema:
    facts = _object(dict.fromkeys(("declared", "installed", "enabled", "ready"), _BOOLEAN), closed=True)
    capability = _object(
        {"id": _TEXT, "kind": _TEXT, "title": _TEXT, "status": _TEXT, "provider_id": _TEXT, "provider_state": facts},
        {"reason": _NULLABLE_TEXT, "next_command": _NULLABLE_TEXT},
    )
    return _receipt("loopx_capability_detail_v0", {"capability": capability})


def _scaffold() -> Schema:
    file = _object({"path": _TEXT, "status": {"enum": ["created", "would_create"]}}, closed=True)
    return _receipt(
        "loopx_extension_scaffold_v0",
        {
            "operation": {"const": "init"},
            "dry_run": _BOOLEAN,
            "changed": _BOOLEAN,
            "extension_id": _ID,
            "starter_kind": _TEXT,
            "capability_id": _NULLABLE_TEXT,
            "managed_entrypoint": _TEXT,
            "version": _TEXT,
            "destination": _TEXT,
            "module_name": _TEXT,
            "protocol": _TEXT,
            "permissions": _TEXTS,
            "files": _rows(file),
            "next_commands": {"type": "object", "additionalProperties": _TEXT},
        },
        {"plan": _PLAN, "next_command": _NULLABLE_TEXT},
    )


def _history() -> Schema:
    event = _object({"at": _TIME, "operation": _TEXT})
    return _receipt(
        "loopx_extension_history_v0", {"extension_id": _ID, "active_revision": _REVISION, "history": _rows(event)}
    )


def _detail() -> Schema:
    row = _row_of_list()
    revision = _object(
        {"revision": _REVISION, "version": _TEXT},
        {"digest": _SHA256, "installed_at": _NULLABLE_TEXT, "manifest_path": _NULLABLE_TEXT},
    )
    return _receipt(
        "loopx_extension_detail_v0",
        {
            **row["properties"],
            "id": _ID,
            "permissions": _TEXTS,
            "launcher": {"type": ["object", "null"]},
            "proof": {"type": ["object", "null"]},
            "manifest": {"type": "object"},
            "revisions": _rows(revision),
            "history": _rows({"type": "object"}),
        },
    )


def _repair() -> Schema:
    damaged = _object({"id": _NULLABLE_TEXT, "code": {"enum": sorted(CODES)}, "reason": _TEXT}, closed=True)
    return _receipt(
        "loopx_extension_repair_v0",
        {
            "operation": {"const": "repair"},
            "dry_run": _BOOLEAN,
            "changed": _BOOLEAN,
            "would_change": _BOOLEAN,
            "state_file": _TEXT,
            "damaged": _rows(damaged),
            "kept_as": _NULLABLE_TEXT,
        },
        {"plan": _PLAN, "at": _TIME, "next_command": _NULLABLE_TEXT},
    )


def _validation() -> Schema:
    return _receipt(
        "loopx_extension_validation_v0",
        {
            "extension_id": _ID,
            "version": _TEXT,
            "revision": _REVISION,
            "manifest_path": _TEXT,
            "checked": _TEXTS,
            "warnings": _rows(_problem()),
            "advice": _TEXTS,
            "strict": _BOOLEAN,
        },
    )


def _conformance() -> Schema:
    rule = _object(
        {
            "rule": _TEXT,
            "promise": _TEXT,
            "status": {"enum": ["passed", "failed", "skipped", "not_run"]},
            "reason": _NULLABLE_TEXT,
        },
        closed=True,
    )
    return _receipt(
        "loopx_extension_conformance_v0",
        {
            "extension_id": _ID,
            "version": _TEXT,
            "revision": _REVISION,
            "executed": _BOOLEAN,
            "dry_run": _BOOLEAN,
            "rules": _rows(rule),
        },
    )


def _performance() -> Schema:
    number: Schema = {"type": "number"}
    figures = ("bare_median_ms", "median_ms", "p95_ms", "added_median_ms", "ratio_median")
    routes: Schema = {"enum": ["import", "version", "help"]}
    row = _object({"route": routes, **dict.fromkeys(figures, number), "modules": _COUNT})
    target = _object({"target": {"enum": [50, 100, 200]}, "met_by": _rows(routes)})
    return _receipt(
        "loopx_performance_diagnosis_v0",
        {
            "environment": _object({"python": _TEXT, "interpreter": _TEXT, "system": _TEXT, "machine": _TEXT}),
            "pairs": {"type": "integer", "minimum": 1},
            "own_start_ms": {"type": ["number", "null"]},
            "phases_ms": _object(dict.fromkeys(("interpreter", "import", "version", "help"), number)),
            "routes": _rows(row),
            "targets_ms": _rows(target),
        },
    )


def _help() -> Schema:
    return _receipt("loopx_help_v0", {"text": _TEXT})


def _version() -> Schema:
    return _receipt("loopx_version_v0", {"text": _TEXT, "version": _TEXT})


def _completions() -> Schema:
    return _receipt("loopx_completions_v0", {"text": _TEXT, "shell": {"enum": ["bash", "zsh", "fish"]}})


_DOCUMENTS: dict[str, Callable[[], Schema]] = {
    "manifest": _manifest,
    "integration-profile": _profile,
    "state": _state,
    "export": _export,
    "error": _error,
    "list": _list,
    "detail": _detail,
    "history": _history,
    "operation": _operation,
    "doctor": _doctor,
    "run-receipt": _run,
    "restore": _restore,
    "repair": _repair,
    "discovery": _discovery,
    "host-doctor": _host_doctor,
    "capability-catalog": _catalog,
    "capability-detail": _capability,
    "scaffold": _scaffold,
    "validation": _validation,
    "conformance": _conformance,
    "performance-diagnosis": _performance,
    "completions": _completions,
    "help": _help,
    "version": _version,
}
