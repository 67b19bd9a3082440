"""The words that the schemas of our documents are made of."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Schema = dict[str, Any]

DIALECT = "https://json-schema.org/draft/2020-12/schema"
TEXT: Schema = {"type": "string"}
NULLABLE_TEXT: Schema = {"type": ["string", "null"]}
BOOLEAN: Schema = {"type": "boolean"}
COUNT: Schema = {"type": "integer", "minimum": 0}
TEXTS: Schema = {"type": "array", "items": TEXT}
ID: Schema = {"type": "string", "pattern": "^[a-z][a-z0-9]*(-[a-z0-9]+)*$", "maxLength": 48}
REVISION: Schema = {"type": "string", "pattern": "^[0-9a-f]{16}$"}
NULLABLE_REVISION: Schema = {"type": ["string", "null"], "pattern": "^[0-9a-f]{16}$"}
SHA256: Schema = {"type": "string", "pattern": "^[0-9a-f]{64}$"}
PLAN: Schema = {"type": "string", "pattern": "^sha256:[0-9a-f]{64}$"}
TIME: Schema = {"type": "string", "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z$"}
OWNER: Schema = {
    "anyOf": [
        {"const": "unowned"},
        {"type": "object", "required": ["name", "version"], "properties": {"name": TEXT, "version": TEXT}},
    ]
}


def object_of(required: Schema, optional: Schema | None = None, *, closed: bool = False) -> Schema:
    """Return the schema of an object with these properties."""
    made: Schema = {"type": "object", "required": sorted(required), "properties": {**required, **(optional or {})}}
    return {**made, "additionalProperties": False} if closed else made


def rows_of(row: Schema) -> Schema:
    """Return the schema of an array of `row`."""
    return {"type": "array", "items": row}


def receipt_of(schema_version: str, required: Schema, optional: Schema | None = None) -> Schema:
    """Return the schema of a receipt: `ok`, its own `schema_version`, and these properties."""
    return object_of({"ok": BOOLEAN, "schema_version": {"const": schema_version}, **required}, optional)
