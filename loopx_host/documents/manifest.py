"""`extension.toml` as its author writes it; the keys of every table, which the rules and editors both read."""

from __future__ import annotations

from loopx_host.core.limits import TIMEOUT_MAX_SECONDS

ID = "loopx_extension_manifest_v0"
PROVIDES_TEXTS = ("id", "kind", "title", "status", "user_value", "next_real_step", "visibility")
PROVIDES_PUBLIC = ("real_world_anchor", "entry_command")  # only a public capability needs them
SURFACE_KEYS = (
    *("id", "kind", "title", "view_schema", "view_validator", "visibility"),
    *("empty_state_title", "empty_state_detail"),
)
# key of [runtime]: (least, most); seconds, MiB, descriptors
BOUNDED_INTEGERS = {
    "doctor_timeout_seconds": (1, TIMEOUT_MAX_SECONDS),
    "memory_limit_mb": (16, 1_048_576),
    "open_files_limit": (16, 65_536),
}


def schema() -> dict[str, object]:
    """Return the JSON Schema of a manifest, for editors; the rules that it cannot say are checked by `validate`."""
    from loopx_host.documents import words

    return {
        **words.object_of(
            {
                "schema_version": {"const": ID},
                "id": words.ID,
                "version": {"type": "string", "minLength": 1, "maxLength": 64},
                "requires_loopx_api": words.TEXT,
            },
            {
                "permissions": words.TEXTS,
                "runtime": _runtime(),
                "provides": words.rows_of(_provides()),
                "implements": words.rows_of(
                    words.object_of(
                        {"capability_id": words.TEXT, "protocol": words.TEXT}, {"integration_profile": words.TEXT}
                    )
                ),
                "presentation_surfaces": words.rows_of(_surface()),
                "documentation": words.object_of(
                    {"source_root": words.TEXT, "site_root": words.TEXT, "canonical": words.TEXT},
                    {"aliases": words.TEXTS},
                ),
            },
        ),
        "anyOf": [{"required": [key]} for key in ("runtime", "provides", "implements")],
    }


def _runtime() -> dict[str, object]:
    from loopx_host.documents import words

    table = words.object_of(
        {"protocol": {"type": "string", "pattern": "^[a-z][a-z0-9_]{0,63}_v[0-9]+$"}},
        {
            "entrypoint": words.TEXT,
            "python_module": words.TEXT,
            "args": words.TEXTS,
            "doctor_args": words.TEXTS,
            "required_permissions": words.TEXTS,
            "timeout_seconds": {"type": "integer", "minimum": 1, "maximum": TIMEOUT_MAX_SECONDS, "default": 30},
            "request_schema": words.TEXT,
            "response_schema": words.TEXT,
            "env": words.TEXTS,
            "requires": {"type": "object", "additionalProperties": words.TEXT},
            **{
                key: {"type": "integer", "minimum": least, "maximum": most}
                for key, (least, most) in BOUNDED_INTEGERS.items()
            },
        },
    )
    return {
        **table,
        "oneOf": [{"required": ["entrypoint"]}, {"required": ["python_module"]}],
        "patternProperties": {"^x-": {}},
        "additionalProperties": False,
    }


def _provides() -> dict[str, object]:
    from loopx_host.documents import words

    return words.object_of(
        {**dict.fromkeys(PROVIDES_TEXTS, words.TEXT), "visibility": {"enum": ["public", "internal"]}},
        {**dict.fromkeys(PROVIDES_PUBLIC, words.TEXT), "integration_profile": words.TEXT},
    )


def _surface() -> dict[str, object]:
    from loopx_host.documents import words

    texts = dict.fromkeys(SURFACE_KEYS, words.TEXT)
    return words.object_of({**texts, "visibility": {"enum": ["public-safe", "owner-only"]}}, closed=True)
