"""Where in a document a schema says something: the places at which a broken document has to be seen."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from jsonschema import Draft202012Validator

Schema = dict[str, Any]
Path = tuple[str | int, ...]


def required_places(schema: Schema, instance: object, at: Path = ()) -> Iterator[Path]:
    """Return the path of every key that the schema requires of this very instance, at any depth."""
    for branch in _branches(schema, instance):
        if isinstance(instance, dict):
            yield from ((*at, key) for key in branch.get("required", ()))
        for key, below in _below(branch, instance):
            yield from required_places(below, _item(instance, key), (*at, key))


def typed_places(schema: Schema, instance: object, at: Path = ()) -> Iterator[Path]:
    """Return the path of every value of this instance of which the schema says anything."""
    for branch in _branches(schema, instance):
        if at and branch:
            yield at
        for key, below in _below(branch, instance):
            yield from typed_places(below, _item(instance, key), (*at, key))


def without(instance: Any, path: Path) -> Any:
    """Return a copy of the instance that lacks the key at a path."""
    key, *rest = path
    if rest:
        return _with(instance, key, without(instance[key], tuple(rest)))
    return {name: value for name, value in instance.items() if name != key}


def of_another_type(instance: Any, path: Path) -> Any:
    """Return a copy of the instance with a value of another type at a path."""
    key, *rest = path
    if rest:
        return _with(instance, key, of_another_type(instance[key], tuple(rest)))
    return _with(instance, key, 1.5 if isinstance(instance[key], list) else [{"of": "another type"}])


def _with(instance: Any, key: str | int, value: object) -> Any:
    if isinstance(instance, dict):
        return {**instance, key: value}
    return [value if index == key else one for index, one in enumerate(instance)]


def _branches(schema: Schema, instance: object) -> Iterator[Schema]:
    """Return the parts of a schema that apply to an instance."""
    if "anyOf" in schema and "properties" not in schema:
        for one in schema["anyOf"]:
            if Draft202012Validator(one).is_valid(instance):
                yield from _branches(one, instance)
        return
    yield schema
    for part in (schema, *schema.get("allOf", ())):
        if "if" in part and Draft202012Validator(part["if"]).is_valid(instance):
            yield part["then"]


def _below(schema: Schema, instance: object) -> Iterator[tuple[str | int, Schema]]:
    """Return the keys of an instance that have a schema of their own; of an array the first row speaks for all."""
    if isinstance(instance, dict):
        others = schema.get("additionalProperties")
        for key in instance:
            if key in schema.get("properties", {}):
                yield key, schema["properties"][key]
            elif isinstance(others, dict):
                yield key, others
    elif isinstance(instance, list) and instance and "items" in schema:
        yield 0, schema["items"]


def _item(instance: Any, key: str | int) -> object:
    return instance[key]
