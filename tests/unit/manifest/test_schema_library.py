"""A third party's schema is held to its metaschema by jsonschema, and without it none is trusted (row B16)."""

from __future__ import annotations

import sys
from typing import Any

import jsonschema
import pytest
from jsonschema.exceptions import SchemaError as BadSchema

from loopx_host.registry.schemas import Bundle, SchemaError, check

DIALECT = "https://json-schema.org/draft/2020-12/schema"
WHOLE: list[dict[str, Any]] = [
    {},
    {"$schema": DIALECT, "type": "object", "required": ["a"], "properties": {"a": {"minimum": 0, "maximum": 9.5}}},
    {"enum": [1, "a", None], "const": 1},
    {"type": ["string", "null"], "pattern": "^a+$", "minLength": 1, "maxLength": 9},
    {"type": "array", "prefixItems": [{"type": "integer"}], "items": False, "uniqueItems": True, "contains": {}},
    {"anyOf": [{"type": "string"}, True], "not": {"const": 3}, "if": {}, "then": {}, "else": {}},
    {"$defs": {"a": {"type": "string"}}, "$ref": "#/$defs/a"},
    {"patternProperties": {"^x": True}, "additionalProperties": False, "dependentRequired": {"a": ["b"]}},
]
BROKEN: list[dict[str, Any]] = [
    {"type": "strin"},
    {"type": []},
    {"required": "a"},
    {"required": [1]},
    {"properties": []},
    {"properties": {"a": 1}},
    {"minimum": "0"},
    {"multipleOf": 0},
    {"minLength": -1},
    {"enum": {}},
    {"pattern": 5},
    {"anyOf": []},
    {"items": [{}]},
    {"$defs": {"a": {"type": 1}}},
    {"uniqueItems": "yes"},
    {"additionalProperties": 0},
]


@pytest.mark.req("B16")
@pytest.mark.parametrize("schema", WHOLE, ids=str)
def test_a_schema_by_its_metaschema_is_taken(schema: dict[str, Any]) -> None:
    check(Bundle("a.json", schema, {}))


@pytest.mark.req("B16")
@pytest.mark.parametrize("schema", BROKEN, ids=str)
@pytest.mark.parametrize("where", ["root", "sibling"])
def test_one_that_breaks_its_metaschema_is_refused_by_the_word_of_the_library(
    schema: dict[str, Any], where: str
) -> None:
    bundle = (
        Bundle("a.json", schema, {}) if where == "root" else Bundle("a.json", {"$ref": "b.json"}, {"b.json": schema})
    )
    with pytest.raises(BadSchema) as own:
        jsonschema.Draft202012Validator.check_schema(schema)

    with pytest.raises(SchemaError) as refused:
        check(bundle)

    assert refused.value.code == "schema_invalid"
    assert own.value.message[:40] in str(refused.value)


@pytest.mark.req("B16")
def test_without_the_library_no_schema_is_trusted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "jsonschema", None)

    with pytest.raises(ImportError):
        check(Bundle("a.json", {}, {}))
