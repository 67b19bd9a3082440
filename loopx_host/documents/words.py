"""The words that the schemas of our documents are made of; loaded for a schema, never to build a document."""

from __future__ import annotations

from loopx_host.core.codes import CODES, FAILURE_KINDS, PROBLEM_CODES
from loopx_host.documents.parts import UNOWNED

TYPE_CHECKING = False
if TYPE_CHECKING:
    Schema = dict[str, object]

DIALECT = "https://json-schema.org/draft/2020-12/schema"
TEXT: Schema = {"type": "string"}
NULLABLE_TEXT: Schema = {"type": ["string", "null"]}
BOOLEAN: Schema = {"type": "boolean"}
NULLABLE_INTEGER: Schema = {"type": ["integer", "null"]}
COUNT: Schema = {"type": "integer", "minimum": 0}
TEXTS: Schema = {"type": "array", "items": TEXT}
OBJECT: Schema = {"type": "object"}
NULLABLE_OBJECT: Schema = {"type": ["object", "null"]}
ID: Schema = {"type": "string", "pattern": "^[a-z][a-z0-9]*(-[a-z0-9]+)*$", "maxLength": 48}
REVISION: Schema = {"type": "string", "pattern": "^[0-9a-f]{16}$"}
NULLABLE_REVISION: Schema = {"type": ["string", "null"], "pattern": "^[0-9a-f]{16}$"}
SHA256: Schema = {"type": "string", "pattern": "^[0-9a-f]{64}$"}
NULLABLE_SHA256: Schema = {"type": ["string", "null"], "pattern": "^[0-9a-f]{64}$"}
DIGEST: Schema = {"type": "string", "pattern": "^sha256:[0-9a-f]{64}$"}
RUN_ID: Schema = {"type": "string", "pattern": "^[0-9a-f]{24}$"}
TIME: Schema = {"type": "string", "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z$"}


def object_of(required: Schema, optional: Schema | None = None, *, closed: bool = False) -> Schema:
    """Return the schema of an object with these properties."""
    made: Schema = {"type": "object", "required": sorted(required), "properties": {**required, **(optional or {})}}
    return {**made, "additionalProperties": False} if closed else made


def rows_of(row: Schema) -> Schema:
    """Return the schema of an array of `row`."""
    return {"type": "array", "items": row}


def nullable(schema: Schema) -> Schema:
    """Return the schema of a value that follows `schema`, or of null."""
    return {"anyOf": [{"type": "null"}, schema]}


def receipt_of(schema_version: str, required: Schema, optional: Schema | None = None) -> Schema:
    """Return the schema of a receipt: `ok`, its own `schema_version`, and these properties."""
    return object_of({"ok": BOOLEAN, "schema_version": {"const": schema_version}, **required}, optional)


ANY_CODE: Schema = {"enum": sorted(CODES)}
FAILURE_KIND: Schema = {"enum": [*FAILURE_KINDS, None]}
OWNER: Schema = {
    "anyOf": [
        {"const": UNOWNED},
        {"type": "object", "required": ["name", "version"], "properties": {"name": TEXT, "version": TEXT}},
    ]
}
DISTRIBUTION = nullable(object_of({"name": TEXT, "version": TEXT}))
OTHER_CODE = nullable(
    object_of(
        {"installed": DISTRIBUTION, "proved": DISTRIBUTION, "install_package": NULLABLE_TEXT},
        closed=True,
    )
)
FACTS = object_of(dict.fromkeys(("declared", "installed", "enabled", "ready"), BOOLEAN), closed=True)
PROBLEM = object_of(
    {
        "code": {"enum": sorted((*PROBLEM_CODES, "entrypoint_version_differs", "entrypoint_unowned"))},
        "pointer": TEXT,
        "line": {"type": ["integer", "null"], "minimum": 1},
        "summary": TEXT,
        "nearest": NULLABLE_TEXT,
    },
    closed=True,
)
VIOLATION = object_of({"pointer": TEXT, "message": TEXT}, closed=True)
WOULD_REFUSE = nullable(
    object_of({"code": ANY_CODE, "error": TEXT, "hint": NULLABLE_TEXT, "next_command": NULLABLE_TEXT})
)
