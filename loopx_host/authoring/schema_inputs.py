"""JSON Schemas of what loopx reads: manifests, profiles, the state file, exports."""

from __future__ import annotations

from loopx_host.authoring.schema_parts import (
    BOOLEAN,
    ID,
    NULLABLE_REVISION,
    NULLABLE_TEXT,
    REVISION,
    SHA256,
    TEXT,
    TEXTS,
    TIME,
    object_of,
    rows_of,
)
from loopx_host.core.limits import TIMEOUT_MAX_SECONDS
from loopx_host.registry import manifest_rules, surface_rules
from loopx_host.registry.manifest import MANIFEST_SCHEMA
from loopx_host.registry.profile_rules import PROFILE_KEYS, PROFILE_SCHEMA

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Schema = dict[str, Any]


def manifest_schema() -> Schema:
    """Describe extension.toml for editors; the rules that a schema cannot say are checked by `validate`."""
    runtime = object_of(
        {"protocol": {"type": "string", "pattern": "^[a-z][a-z0-9_]{0,63}_v[0-9]+$"}},
        {
            "entrypoint": TEXT,
            "python_module": TEXT,
            "args": TEXTS,
            "doctor_args": TEXTS,
            "required_permissions": TEXTS,
            "timeout_seconds": {"type": "integer", "minimum": 1, "maximum": TIMEOUT_MAX_SECONDS, "default": 30},
            "request_schema": TEXT,
            "response_schema": TEXT,
            "env": TEXTS,
            "requires": {"type": "object", "additionalProperties": TEXT},
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
    provides = object_of(
        {**dict.fromkeys(manifest_rules.PROVIDES_TEXTS, TEXT), "visibility": {"enum": ["public", "internal"]}},
        {**dict.fromkeys(manifest_rules.PROVIDES_PUBLIC, TEXT), "integration_profile": TEXT},
    )
    surface = object_of(
        {**dict.fromkeys(surface_rules.CHECKS, TEXT), "visibility": {"enum": ["public-safe", "owner-only"]}},
        closed=True,
    )
    return {
        **object_of(
            {
                "schema_version": {"const": MANIFEST_SCHEMA},
                "id": ID,
                "version": {"type": "string", "minLength": 1, "maxLength": 64},
                "requires_loopx_api": TEXT,
            },
            {
                "permissions": TEXTS,
                "runtime": runtime,
                "provides": rows_of(provides),
                "implements": rows_of(
                    object_of({"capability_id": TEXT, "protocol": TEXT}, {"integration_profile": TEXT})
                ),
                "presentation_surfaces": rows_of(surface),
                "documentation": object_of(
                    {"source_root": TEXT, "site_root": TEXT, "canonical": TEXT}, {"aliases": TEXTS}
                ),
            },
        ),
        "anyOf": [{"required": [key]} for key in ("runtime", "provides", "implements")],
    }


def profile_schema() -> Schema:
    """Describe: profile."""
    operation = object_of(
        {
            "id": TEXT,
            "effect_class": {"enum": ["read_only", "external_write"]},
            "required_permission": TEXT,
            "request_schema": {},
            "result_schema": {},
        },
        {"todo_contract": object_of({"action_kinds": TEXTS, "target_key_prefixes": TEXTS})},
    )
    fields: Schema = {
        "schema_version": {"const": PROFILE_SCHEMA},
        "capability_id": ID,
        "protocol": TEXT,
        "operations": {"type": "array", "minItems": 1, "maxItems": 32, "items": operation},
    }
    return object_of({key: fields[key] for key in sorted(PROFILE_KEYS)}, closed=True)


def state_schema() -> Schema:
    """Describe: state."""
    revision = object_of(
        {"revision": REVISION, "version": TEXT, "manifest": {"type": "object"}},
        {"digest": SHA256, "manifest_path": TEXT, "installed_at": TIME, "launcher": {"type": ["object", "null"]}},
    )
    entry = object_of(
        {
            "id": ID,
            "enabled": BOOLEAN,
            "active_revision": REVISION,
            "rollback_revision": NULLABLE_REVISION,
            "doctor_verified_revision": NULLABLE_REVISION,
            "doctor_verified_entrypoint_identity": NULLABLE_TEXT,
            "revisions": {"type": "array", "minItems": 1, "items": revision},
        },
        {"proof": {"type": ["object", "null"]}, "history": {"type": "array", "maxItems": 50}},
    )
    return object_of(
        {
            "schema_version": {"const": "loopx_extension_state_v0"},
            "extensions": {"type": "object", "additionalProperties": entry},
        }
    )


def export_schema() -> Schema:
    """Describe: export."""
    row = object_of(
        {
            "id": ID,
            "revision": REVISION,
            "digest": SHA256,
            "enabled": BOOLEAN,
            "distribution": {"anyOf": [{"type": "null"}, object_of({"name": TEXT, "version": TEXT})]},
            "source": {"enum": ["manifest", "discovered"]},
            "manifest_path": NULLABLE_TEXT,
        }
    )
    return object_of({"schema": {"const": "loopx_extension_export_v0"}, "extensions": rows_of(row)})
