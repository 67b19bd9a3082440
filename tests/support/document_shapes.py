"""The TypedDicts of `loopx_host/documents`, read from source: at run time nothing of them is there.

A shape becomes a closed JSON Schema, so that what a verb really prints can be held to it, and what a schema of ours
says can be compared with it. The shape of a document is the last TypedDict of its module.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from loopx_host.documents.catalog import MODULES

ROOT = Path(__file__).parents[2]
DOCUMENTS = "loopx_host.documents"
_ATOMS: dict[str, dict[str, Any]] = {
    "str": {"type": "string"},
    "int": {"type": "integer"},
    "float": {"type": "number"},
    "bool": {"type": "boolean"},
    "object": {},
}


class Field:
    """One key of a shape: its annotation and whether it is always there."""

    def __init__(self, annotation: ast.expr, *, required: bool) -> None:
        self.annotation = annotation
        self.required = required


class Module:
    """The names that mean a type in one module."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.classes: dict[str, ast.ClassDef | ast.Call] = {}
        self.aliases: dict[str, ast.expr] = {}
        self.imported: dict[str, tuple[str, str]] = {}
        self.modules: dict[str, str] = {}
        source = ROOT / f"{name.replace('.', '/')}.py"
        for node in _typing_statements(ast.parse(source.read_text("utf-8"))):
            self._read(node)

    def _read(self, node: ast.stmt) -> None:
        if isinstance(node, ast.ClassDef):
            self.classes[node.name] = node
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            name, value = node.targets[0].id, node.value
            if isinstance(value, ast.Call) and getattr(value.func, "id", "") == "TypedDict":
                self.classes[name] = value
            else:
                self.aliases[name] = value
        elif isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                name = alias.asname or alias.name
                if node.module == DOCUMENTS:
                    self.modules[name] = f"{DOCUMENTS}.{alias.name}"
                elif node.module.startswith("loopx_host."):
                    self.imported[name] = (node.module, alias.name)


def _typing_statements(tree: ast.Module) -> Iterator[ast.stmt]:
    for node in tree.body:
        if isinstance(node, ast.If) and getattr(node.test, "id", "") == "TYPE_CHECKING":
            yield from node.body


@functools.cache
def module(name: str) -> Module:
    """Return what stands below TYPE_CHECKING in a module of loopx."""
    return Module(name)


def shape_of(name: str) -> tuple[str, str] | None:
    """Return (module, class) of the shape of a document, None for one that nothing here builds or takes apart."""
    where = f"{DOCUMENTS}.{MODULES[name]}"
    shapes = list(module(where).classes)
    return (where, shapes[-1]) if shapes else None


def fields(where: str, name: str) -> dict[str, Field]:
    """Return the keys of one TypedDict, inherited ones first."""
    if name not in module(where).classes:
        return fields(*module(where).imported[name])
    node = module(where).classes[name]
    if isinstance(node, ast.Call):
        table = node.args[1]
        assert isinstance(table, ast.Dict)
        return {
            str(key.value): Field(value, required=True)
            for key, value in zip(table.keys, table.values, strict=True)
            if isinstance(key, ast.Constant)
        }
    made: dict[str, Field] = {}
    for base in node.bases:
        if isinstance(base, ast.Name) and base.id != "TypedDict":
            made |= fields(where, base.id)
    total = not any(keyword.arg == "total" for keyword in node.keywords)
    for statement in node.body:
        if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
            optional = _subscripted(statement.annotation, "NotRequired")
            made[statement.target.id] = Field(optional or statement.annotation, required=total and optional is None)
    return made


def closed_schema(where: str, name: str) -> dict[str, Any]:
    """Return the JSON Schema that accepts exactly what a TypedDict allows; a command is written out by then."""
    table = fields(where, name)
    home = where if name in module(where).classes else module(where).imported[name][0]
    return {
        "type": "object",
        "required": [key for key, field in table.items() if field.required],
        "properties": {key: schema_of(_home(home, name, key), field.annotation) for key, field in table.items()},
        "additionalProperties": False,
    }


def _home(where: str, name: str, key: str) -> str:
    """Return the module whose names the annotation of a key uses: that of the class which declares it."""
    node = module(where).classes[name]
    if isinstance(node, ast.Call) or any(
        isinstance(one, ast.AnnAssign) and getattr(one.target, "id", "") == key for one in node.body
    ):
        return where
    for base in node.bases:
        if isinstance(base, ast.Name) and base.id != "TypedDict":
            below = where, base.id
            if base.id not in module(where).classes:
                below = module(where).imported[base.id]
            if key in fields(*below):
                return _home(*below, key)
    raise AssertionError(f"{name} has no {key}")


def schema_of(where: str, annotation: ast.expr) -> dict[str, Any]:
    """Return the JSON Schema of one annotation as it stands in module `where`."""
    if isinstance(annotation, ast.BinOp):
        return {"anyOf": [schema_of(where, annotation.left), schema_of(where, annotation.right)]}
    if isinstance(annotation, ast.Constant) and annotation.value is None:
        return {"type": "null"}
    if isinstance(annotation, ast.Subscript):
        return _subscript_schema(where, annotation)
    if isinstance(annotation, ast.Attribute) and isinstance(annotation.value, ast.Name):
        return closed_schema(module(where).modules[annotation.value.id], annotation.attr)
    assert isinstance(annotation, ast.Name), ast.dump(annotation)
    if annotation.id in _ATOMS:
        return _ATOMS[annotation.id]
    return _named_schema(where, annotation.id)


def _named_schema(where: str, name: str) -> dict[str, Any]:
    here = module(where)
    if name in here.aliases:
        return schema_of(where, here.aliases[name])
    if name in here.classes:
        return closed_schema(where, name)
    return _named_schema(*here.imported[name])


def _subscript_schema(where: str, annotation: ast.Subscript) -> dict[str, Any]:
    generic, of = getattr(annotation.value, "id", ""), annotation.slice
    if generic == "list":
        return {"type": "array", "items": schema_of(where, of)}
    if generic == "dict" and isinstance(of, ast.Tuple):
        return {"type": "object", "additionalProperties": schema_of(where, of.elts[1])}
    if generic == "Literal" and isinstance(of, ast.Constant):
        return {"const": of.value}
    assert generic == "tuple", ast.dump(annotation)
    return {"not": {}}  # a command in parts, which no printed document holds


def _subscripted(annotation: ast.expr, name: str) -> ast.expr | None:
    if isinstance(annotation, ast.Subscript) and getattr(annotation.value, "id", "") == name:
        return annotation.slice
    return None


def types_of(schema: dict[str, Any]) -> set[str]:
    """Return the JSON types that a schema lets through; one without words lets all of them."""
    if "anyOf" in schema:
        return {kind for one in schema["anyOf"] for kind in types_of(one)}
    if "not" in schema:
        return set()
    if "const" in schema:
        return {_type_name(schema["const"])}
    if "enum" in schema:
        return {_type_name(value) for value in schema["enum"]}
    named = schema.get("type")
    if named is None:
        return {"null", "boolean", "integer", "number", "string", "array", "object"}
    kinds = {named} if isinstance(named, str) else set(named)
    return kinds | {"integer"} if "number" in kinds else kinds


def _type_name(value: object) -> str:
    if value is None:
        return "null"
    return {bool: "boolean", int: "integer", str: "string"}[type(value)]


def disagreements(shape: dict[str, Any], schema: dict[str, Any], at: str = "$") -> Iterator[str]:
    """Return where a published schema and the shape of what is built do not fit: keys, what is required, types.

    A schema may be looser than a shape, for v0 wrote less, and name fewer keys; it may not require or name a key that
    the shape lacks, nor refuse a type that the shape allows. An `object` in a shape is JSON that nobody looks into.
    """
    if shape:
        refused = types_of(shape) - types_of(schema)
        if refused:
            yield f"{at}: {', '.join(sorted(refused))} is built, and the schema refuses it"
    for published in _parts(schema, "properties"):
        for built in _parts(shape, "properties"):
            yield from _keys(built, published, at)
    for published in _parts(schema, "items"):
        for built in _parts(shape, "items"):
            yield from disagreements(built["items"], published["items"], f"{at}[]")
    for published in _parts(schema, "additionalProperties"):
        for built in _parts(shape, "additionalProperties"):
            yield from disagreements(built["additionalProperties"], published["additionalProperties"], f"{at}.*")


def _keys(built: dict[str, Any], published: dict[str, Any], at: str) -> Iterator[str]:
    known, named = built["properties"], published["properties"]
    for key in sorted(named.keys() - known.keys()):
        yield f"{at}.{key}: the schema names it, and nothing builds it"
    for key in sorted(known.keys() & set(published["required"]) - set(built["required"])):
        yield f"{at}.{key}: the schema requires it, and it may be left out"
    for key in sorted(named.keys() & known.keys()):
        yield from disagreements(known[key], named[key], f"{at}.{key}")


def _parts(schema: dict[str, Any], key: str) -> list[dict[str, Any]]:
    """Return the alternatives of a schema in which `key` is a schema, or a table of them."""
    if "anyOf" in schema:
        return [part for one in schema["anyOf"] for part in _parts(one, key)]
    return [schema] if isinstance(schema.get(key), dict) else []
