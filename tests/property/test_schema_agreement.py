"""Two judges of JSON Schemas agree: the one that checks our documents and the one that judges third parties'.

Extension-formats, *Third-party schemas*: patterns and formats are left out.
"""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from loopx_host.registry.schemas import Bundle, check, validator, violations

NAMES = st.sampled_from(["a", "b", "c", "é", "a/b", "~", ""])
TEXTS = st.text(st.characters(codec="utf-8"), max_size=6)
NUMBERS = st.integers(-5, 5) | st.sampled_from([-0.0, 0.5, 1.0, 2.5, 2**53, -(2**63), 1e100])
SCALARS = st.none() | st.booleans() | NUMBERS | TEXTS
INSTANCES: st.SearchStrategy[Any] = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(NAMES, inner, max_size=4),
    max_leaves=8,
)
TYPES = st.sampled_from(["null", "boolean", "integer", "number", "string", "array", "object"])
BOUNDS = st.integers(0, 4)
DEFINITIONS = ("first", "second")


def schemas_of(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Return schemas made of a few keywords over smaller ones."""
    lists = st.lists(inner, min_size=1, max_size=3)
    keywords: dict[str, st.SearchStrategy[Any]] = {
        "type": TYPES | st.lists(TYPES, min_size=1, max_size=3, unique=True),
        "enum": st.lists(INSTANCES, min_size=1, max_size=3, unique_by=repr),
        "const": INSTANCES,
        "properties": st.dictionaries(NAMES, inner, max_size=3),
        "required": st.lists(NAMES, max_size=2, unique=True),
        "additionalProperties": inner,
        "propertyNames": inner,
        "dependentRequired": st.dictionaries(NAMES, st.lists(NAMES, max_size=2, unique=True), max_size=2),
        "items": inner,
        "prefixItems": lists,
        "contains": inner,
        **dict.fromkeys(("minItems", "maxItems", "minLength", "maxLength", "minProperties", "maxProperties"), BOUNDS),
        **dict.fromkeys(("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"), NUMBERS),
        **dict.fromkeys(("allOf", "anyOf", "oneOf"), lists),
        **dict.fromkeys(("not", "if", "then", "else"), inner),
    }
    return st.lists(st.sampled_from(sorted(keywords)), min_size=1, max_size=3, unique=True).flatmap(
        lambda names: st.fixed_dictionaries({name: keywords[name] for name in names})
    )


LEAVES = st.booleans() | TYPES.map(lambda name: {"type": name}) | INSTANCES.map(lambda value: {"const": value})
SMALL: st.SearchStrategy[Any] = st.recursive(LEAVES, schemas_of, max_leaves=4)
REFERENCES = st.sampled_from(DEFINITIONS).map(lambda name: {"$ref": f"#/$defs/{name}"})
SCHEMAS: st.SearchStrategy[Any] = st.recursive(LEAVES | REFERENCES, schemas_of, max_leaves=8)


@st.composite
def documents(draw: st.DrawFn) -> dict[str, Any]:
    """Return a schema file whose references lead to its own definitions."""
    made: dict[str, Any] = {"$defs": {name: draw(SMALL) for name in DEFINITIONS}, "allOf": [draw(SCHEMAS)]}
    return made


@given(documents(), st.lists(INSTANCES, min_size=1, max_size=5))
def test_both_judges_find_the_same_instances_valid(schema: dict[str, Any], instances: list[Any]) -> None:
    bundle = Bundle("schema.json", schema, {})
    check(bundle)
    judge, reference = validator(bundle), Draft202012Validator(schema)

    for instance in instances:
        assert (violations(judge, instance) == []) is reference.is_valid(instance)
