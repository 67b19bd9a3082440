"""A document has one module: its shape, as a type checker sees it, and its schema, as a reader gets it, agree."""

from __future__ import annotations

import ast
import copy
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from loopx_host.documents.catalog import MODULES, document
from tests.support.document_shapes import closed_schema, disagreements, fields, shape_of

PACKAGE = Path(__file__).parents[3] / "loopx_host"
SHARED = {"__init__", "catalog", "effects", "parts", "words"}
SHAPES = {name: place for name in MODULES if (place := shape_of(name)) is not None}


def shape(name: str) -> dict[str, Any]:
    return closed_schema(*SHAPES[name])


def published(name: str) -> dict[str, Any]:
    schema: dict[str, Any] = document(name).schema()
    return schema


def test_every_module_of_documents_is_in_the_catalogue_once() -> None:
    modules = {path.stem for path in (PACKAGE / "documents").glob("*.py")}

    assert sorted(MODULES.values()) == sorted(modules - SHARED)


def test_what_only_people_write_is_all_that_has_no_shape() -> None:
    assert set(MODULES) - set(SHAPES) == {"manifest"}


@pytest.mark.parametrize("name", SHAPES)
def test_a_schema_agrees_with_the_shape_of_its_document(name: str) -> None:
    assert list(disagreements(shape(name), published(name))) == []


@pytest.mark.parametrize("name", SHAPES)
def test_a_key_that_the_shape_does_not_have_is_seen_in_the_schema(name: str) -> None:
    schema = copy.deepcopy(published(name))
    schema["properties"]["unheard_of"] = {}

    assert list(disagreements(shape(name), schema)) == ["$.unheard_of: the schema names it, and nothing builds it"]


@pytest.mark.parametrize("name", SHAPES)
def test_a_key_that_the_schema_requires_and_the_shape_does_not_is_seen(name: str) -> None:
    built = shape(name)
    key = published(name)["required"][-1]
    built["required"].remove(key)

    assert list(disagreements(built, published(name))) == [f"$.{key}: the schema requires it, and it may be left out"]


@pytest.mark.parametrize("name", SHAPES)
def test_another_type_of_a_key_is_seen(name: str) -> None:
    schema = copy.deepcopy(published(name))
    key = schema["required"][-1]
    schema["properties"][key] = {"type": "no type of JSON"}

    assert [said.partition(":")[0] for said in disagreements(shape(name), schema)] == [f"$.{key}"]


@pytest.mark.parametrize(
    ("name", "place"),
    [
        ("list", ("extensions", "items")),
        ("operation", ("doctor", "anyOf", 1)),
        ("state", ("extensions", "additionalProperties", "properties", "revisions", "items")),
        ("invocation", ("provider",)),
        ("error", ("doctor",)),
    ],
    ids=lambda value: value if isinstance(value, str) else ".".join(map(str, value)),
)
def test_a_disagreement_further_in_is_seen(name: str, place: tuple[str | int, ...]) -> None:
    schema = copy.deepcopy(published(name))
    inner: Any = schema["properties"]
    for step in place:
        inner = inner[step]
    inner["properties"]["unheard_of"] = {}

    found = list(disagreements(shape(name), schema))

    assert len(found) == 1
    assert "unheard_of" in found[0]


NAMED_BY_A_PROFILE = ("governed-request-v0", "governed-result-v0")


@pytest.mark.parametrize("name", SHAPES)
def test_a_document_says_what_it_is(name: str) -> None:
    """Under `schema_version`, or `schema` as v0 has it in two; a normal form never had an id.

    What a v0 provider reads and answers says the tokens that its profile gives them.
    """
    keys = {"schema_version", "schema"} & set(fields(*SHAPES[name]))
    identified = hasattr(document(name), "ID")

    assert bool(keys) == (identified or name in NAMED_BY_A_PROFILE)
    assert identified or name in {"normal-form", *NAMED_BY_A_PROFILE}


def test_a_document_is_found_by_its_id_and_no_id_is_that_of_another() -> None:
    ids: dict[str, list[str]] = {}
    for name in MODULES:
        if hasattr(document(name), "ID"):
            ids.setdefault(document(name).ID, []).append(name)

    assert [names for names in ids.values() if len(names) > 1] == [["state", "list"]]  # as v0 has it


def test_the_id_of_a_document_is_written_once_in_the_whole_host() -> None:
    ids = {document(name).ID for name in MODULES if hasattr(document(name), "ID")}
    strings = [
        (node.value, str(source.relative_to(PACKAGE)))
        for source in sorted(PACKAGE.rglob("*.py"))
        for node in ast.walk(ast.parse(source.read_text("utf-8")))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    ]

    written = {one: [where for text, where in strings if one in text] for one in ids}

    assert {one: places for one, places in written.items() if len(places) != 1} == {}


def test_no_document_costs_a_route_more_than_its_own_module() -> None:
    """Shapes are for type checkers: building a document imports neither `typing` nor the words of schemas."""
    code = """
import sys
before = set(sys.modules)
from loopx_host.documents.catalog import MODULES, document
for name in MODULES:
    document(name)
print(sorted(name for name in set(sys.modules) - before if not name.startswith("loopx_host")))
print("loopx_host.documents.words" in sys.modules)
"""
    ended = subprocess.run(
        [sys.executable, "-S", "-c", code], capture_output=True, text=True, check=True, cwd=PACKAGE.parent
    )

    assert ended.stdout.splitlines() == ["['__future__']", "False"]


def blocks_of_refusals() -> set[str]:
    """Return the names of the evidence that loopx puts into its refusals."""
    calls = [
        node
        for source in PACKAGE.rglob("*.py")
        for node in ast.walk(ast.parse(source.read_text("utf-8")))
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "refusal"
    ]
    return {str(keyword.arg) for call in calls for keyword in call.keywords if keyword.arg is not None}


def test_the_shape_of_a_refusal_has_all_the_evidence_that_a_refusal_may_bring() -> None:
    known = set(fields(*SHAPES["error"]))

    assert len(blocks_of_refusals()) > 20
    assert blocks_of_refusals() - known == set()
