"""The schemas of a manifest judge its requests and responses, and no schema can hang or reach outside.

Contract section 2; extension-formats, *Third-party schemas*.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.support.cli import Answer, Loopx
from tests.support.levels import LEAVES_MARKS
from tests.support.packages import manifest, needs_strace, offering, traced, write

EXIT_REFUSED = 2
SCHEMA_BYTES = 256 * 1024
PROVIDER = """\
#!/bin/sh
[ "$1" = --doctor ] && exit 0
echo >> "{starts}"
cat "{answer}"
"""
REQUEST = {
    "type": "object",
    "properties": {"who": {"$ref": "types/name.json"}, "next": {"$ref": "#"}},
    "required": ["who"],
    "additionalProperties": False,
}
RESPONSE = {
    "type": "object",
    "properties": {"count": {"$ref": "types/name.json#/$defs/count"}},
    "required": ["count"],
}
NAME = {"type": "string", "maxLength": 5, "$defs": {"count": {"type": "integer", "minimum": 0}}}


class Judged(Loopx):
    """An extension with a request and a response schema in a folder beside its manifest."""

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        self.folder = root / "extensions/judged"
        self.starts, self.answer = root / "starts", root / "answer"
        self.says({"ok": True, "count": 1})
        write(self.folder / "provider", PROVIDER.format(starts=self.starts, answer=self.answer))
        self.manifest = self.folder / "extension.toml"
        names = {"request_schema": "schemas/request.json", "response_schema": "schemas/response.json"}
        write(self.manifest, manifest("judged", entrypoint="./provider", **names))
        self.schema("request.json", REQUEST)
        self.schema("response.json", RESPONSE)
        self.schema("types/name.json", NAME)

    def schema(self, name: str, document: object) -> None:
        text = document if isinstance(document, str) else json.dumps(document)
        write(self.folder / "schemas" / name, text)

    def says(self, document: object) -> None:
        self.answer.write_text(json.dumps(document), "utf-8")

    def installed(self) -> Judged:
        answer = self.install(self.manifest)
        assert answer.status == 0, answer
        return self

    def ask(self, request: object, *flags: str) -> Answer:
        words = ("extension", "run", "judged", "--input-json", "-", *flags)
        return self(*words, stdin=json.dumps(request).encode())


@pytest.fixture
def judged(tmp_path: Path) -> Judged:
    return Judged(tmp_path)


# --- requests and responses -----------------------------------------------------------------------------------------


@LEAVES_MARKS
@pytest.mark.parametrize(
    "request_", [{"who": "me"}, {"who": "me", "next": {"who": "you"}}], ids=["flat", "recursive"]
)
def test_a_request_and_a_response_by_their_schemas_succeed(judged: Judged, request_: object) -> None:
    answer = judged.installed().ask(request_, "--execute")

    assert (answer.status, answer.document["status"]) == (0, "succeeded")


@pytest.mark.parametrize(
    ("request_", "pointer"),
    [
        ({}, ""),
        ({"who": 5}, "/who"),
        ({"who": "longer than five"}, "/who"),
        ({"who": "me", "else": 1}, ""),
        ({"who": "me", "next": {"who": {}}}, "/next/who"),
    ],
    ids=["missing", "type_in_a_sibling", "length_in_a_sibling", "additional", "recursive"],
)
@pytest.mark.parametrize("flags", [(), ("--execute",)], ids=["preview", "execute"])
def test_a_request_that_breaks_its_schema_is_refused_before_anything_starts(
    judged: Judged, request_: object, pointer: str, flags: tuple[str, ...]
) -> None:
    answer = judged.installed().ask(request_, *flags)

    assert (answer.status, answer.code) == (EXIT_REFUSED, "request_schema")
    assert answer.document["violations"][0]["pointer"] == pointer
    assert not judged.starts.exists()


@LEAVES_MARKS
@pytest.mark.parametrize("response", [{"ok": True}, {"ok": True, "count": -1}, {"ok": True, "count": "1"}])
def test_a_response_that_breaks_its_schema_fails_the_run(judged: Judged, response: object) -> None:
    judged.installed().says(response)

    answer = judged.ask({"who": "me"}, "--execute")

    assert answer.status == 1
    assert answer.document["failure_kind"] == "response_schema"
    assert answer.document["violations"] != []


@LEAVES_MARKS
def test_a_format_is_not_asserted(judged: Judged) -> None:
    judged.schema("request.json", {"properties": {"who": {"format": "date"}}})

    assert judged.installed().ask({"who": "no date"}, "--execute").status == 0


def test_at_most_ten_violations_are_listed(judged: Judged) -> None:
    judged.schema("request.json", {"additionalProperties": {"type": "string"}})

    answer = judged.installed().ask({f"k{number}": number for number in range(50)}, "--execute")

    assert len(answer.document["violations"]) == 10


# --- the snapshot ---------------------------------------------------------------------------------------------------


def kept(judged: Judged, document: object) -> Path:
    """Return the copy of a schema that is kept beside the state file."""
    digest = hashlib.sha256(json.dumps(document).encode()).hexdigest()
    return judged.state_file.with_name("state.json.d") / "schemas" / f"{digest}.json"


def test_the_schemas_that_were_trusted_judge_and_not_those_of_today(judged: Judged) -> None:
    judged.installed()
    judged.schema("request.json", {})

    assert judged.ask({"who": 5}, "--execute").code == "request_schema"


@pytest.mark.parametrize("document", [REQUEST, NAME], ids=["root", "sibling"])
@pytest.mark.parametrize(
    "spoil",
    [
        lambda path: path.unlink(),
        lambda path: path.write_bytes(b"{}"),
        lambda path: path.write_bytes(b""),
        lambda path: (path.unlink(), path.mkdir()),
    ],
    ids=["removed", "replaced", "emptied", "directory"],
)
def test_a_kept_schema_that_was_spoilt_stops_the_run(
    judged: Judged, document: object, spoil: Callable[[Path], object]
) -> None:
    judged.installed()
    spoil(kept(judged, document))

    answer = judged.ask({"who": "me"}, "--execute")

    assert (answer.status, answer.code) == (EXIT_REFUSED, "schema_missing")
    assert answer.document["next_command"].startswith("loopx extension uninstall judged")
    assert not judged.starts.exists()


@LEAVES_MARKS
def test_a_schema_that_an_id_makes_absolute_finds_its_siblings(judged: Judged) -> None:
    judged.schema("request.json", {"$id": "https://example.invalid/schemas/request.json", **REQUEST})

    judged.installed()

    assert judged.ask({"who": "me"}, "--execute").status == 0
    assert judged.ask({"who": 5}, "--execute").code == "request_schema"


# --- hostile schemas ------------------------------------------------------------------------------------------------


def twice(levels: int, keyword: str = "allOf", **more: object) -> dict[str, Any]:
    """Return a schema of a few lines that unfolds to two to the power of `levels`."""
    steps = {
        f"l{level}": {keyword: [{"$ref": f"#/$defs/l{level - 1}"}] * 2, **more} for level in range(1, levels + 1)
    }
    return {"$defs": {"l0": {"type": "object"}, **steps}, "$ref": f"#/$defs/l{levels}"}


def hidden(schema: dict[str, Any]) -> dict[str, Any]:
    """Return a schema that holds another in a property called like a keyword that holds no schema."""
    return {"properties": {"default": schema}, "$defs": schema["$defs"]}


def by_anchors(levels: int) -> dict[str, Any]:
    steps = [
        {"$anchor": f"l{level}", "allOf": [{"$ref": f"#l{level - 1}"}] * 2, "unevaluatedProperties": False}
        for level in range(1, levels + 1)
    ]
    return {
        "$defs": {"l0": {"$anchor": "l0"}, **{f"d{n}": step for n, step in enumerate(steps)}},
        "$ref": f"#l{levels}",
    }


def by_identifiers(levels: int) -> dict[str, Any]:
    steps = {
        f"d{level}": {"$id": f"l{level}", "allOf": [{"$ref": f"l{level - 1}"}] * 2, "unevaluatedProperties": False}
        for level in range(1, levels + 1)
    }
    return {"$defs": {"d0": {"$id": "l0"}, **steps}, "$ref": f"l{levels}"}


def chain(length: int) -> dict[str, Any]:
    steps = {f"l{level}": {"$ref": f"#/$defs/l{level - 1}"} for level in range(1, length + 1)}
    return {"$defs": {"l0": {}, **steps}, "$ref": f"#/$defs/l{length}"}


def nested(depth: int) -> dict[str, Any]:
    schema: dict[str, Any] = {}
    for _ in range(depth):
        schema = {"not": schema}
    return schema


HOSTILE: dict[str, tuple[object, str | None]] = {
    "deep": (nested(100), "manifest_file_unreadable"),
    "very_deep": ('{"not":' * 100_000, "manifest_file_unreadable"),
    "no_object": ("[]", "manifest_file_unreadable"),
    "a_key_twice": ('{"type": "object", "type": "string"}', "manifest_file_unreadable"),
    "too_large": (json.dumps({"$comment": "x" * SCHEMA_BYTES}), "manifest_file_unreadable"),
    "no_schema": ({"type": "nonsense"}, "schema_invalid"),
    "other_dialect": ({"$schema": "http://json-schema.org/draft-07/schema#"}, "schema_invalid"),
    "all_of_30_levels": (twice(30), "schema_invalid"),
    "one_of_30_levels": (twice(30, "oneOf"), "schema_invalid"),
    "unevaluated_20_levels": (twice(20, unevaluatedProperties=False), "schema_invalid"),
    "unevaluated_below_default": (hidden(twice(20, unevaluatedProperties=False)), "schema_invalid"),
    "unevaluated_by_anchors": (by_anchors(20), "schema_invalid"),
    "unevaluated_by_identifiers": (by_identifiers(20), None),
    "a_chain_of_4000": (chain(4000), "schema_invalid"),
    "itself": ({"$ref": "#"}, "schema_invalid"),
    "itself_twice": ({"allOf": [{"$ref": "#"}, {"$ref": "#"}]}, "schema_invalid"),
    "each_other": (
        {"$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}, "$ref": "#/$defs/a"},
        "schema_invalid",
    ),
    "nowhere": ({"$ref": "#/$defs/nowhere"}, "schema_invalid"),
    "remote": ({"$ref": "http://127.0.0.1:9/schema.json"}, "manifest_bad_value"),
    "file": ({"$ref": "file:///etc/hostname"}, "manifest_bad_value"),
    "outside": ({"$ref": "../../../outside.json"}, "manifest_bad_value"),
    "identified_elsewhere": ({"$defs": {"a": {"$id": "http://127.0.0.1:9/", "$ref": "x.json"}}}, None),
    "back_reference": ({"properties": {"a": {"pattern": "(a)\\1"}}}, "schema_pattern_unsupported"),
    "look_ahead": ({"properties": {"a": {"pattern": "(?=a)b"}}}, "schema_pattern_unsupported"),
    "look_behind_in_a_key": ({"patternProperties": {"(?<=a)b": {}}}, "schema_pattern_unsupported"),
    "repeated_repetition": ({"pattern": "((a{1000}){1000}){1000}"}, "schema_pattern_unsupported"),
}


@pytest.mark.parametrize(("schema", "code"), HOSTILE.values(), ids=list(HOSTILE))
def test_a_schema_that_cannot_be_applied_is_refused_when_it_is_trusted(
    judged: Judged, schema: object, code: str | None
) -> None:
    judged.schema("request.json", schema)

    answer = judged.install(judged.manifest)

    assert answer.status == EXIT_REFUSED
    assert code in (None, answer.code, *(problem["code"] for problem in answer.document.get("problems", [])))
    assert not judged.state_file.exists()


@pytest.mark.parametrize("name", ["unevaluated_20_levels", "unevaluated_by_anchors", "a_chain_of_4000"])
def test_a_hostile_schema_of_a_package_stops_no_discovery(tmp_path: Path, name: str) -> None:
    """Nobody has trusted that package; it only lies there."""
    loopx = Loopx(tmp_path)
    loopx.env["PYTHONPATH"] = str(tmp_path / "site")
    schema, _ = HOSTILE[name]
    text = manifest("hostile", request_schema="request.json")
    offering(tmp_path / "site", "hostile", text=text, files={"request.json": json.dumps(schema)})

    rows = loopx("extension", "discover").document["extensions"]

    assert [row["state"] for row in rows if row["id"] == "hostile"] == ["broken"]


@needs_strace
@pytest.mark.parametrize("name", ["remote", "file", "identified_elsewhere"])
def test_a_reference_to_elsewhere_is_neither_fetched_nor_read(judged: Judged, name: str) -> None:
    judged.schema("request.json", HOSTILE[name][0])
    words = ("extension", "install", "--manifest", str(judged.manifest), "--execute")

    lines = traced(judged, *words, calls="%network,open,openat", status=EXIT_REFUSED)

    assert [line for line in lines if "socket(" in line or "connect(" in line or "/etc/hostname" in line] == []


def test_a_pattern_that_backtracks_elsewhere_judges_at_once(judged: Judged) -> None:
    judged.schema("request.json", {"properties": {"who": {"pattern": "^(a+)+$"}}})

    answer = judged.installed().ask({"who": "a" * 28 + "!"}, "--execute")

    assert answer.code == "request_schema"


def test_a_schema_of_just_its_bound_judges(judged: Judged) -> None:
    empty = json.dumps({"$comment": "", **REQUEST})
    judged.schema("request.json", json.dumps({"$comment": "x" * (SCHEMA_BYTES - len(empty)), **REQUEST}))

    assert judged.installed().ask({"who": 5}, "--execute").code == "request_schema"


@LEAVES_MARKS
@pytest.mark.parametrize("keyword", ["allOf", "anyOf", "oneOf"])
def test_alternatives_in_thousands_judge(judged: Judged, keyword: str) -> None:
    """A written-out list is large, not hostile."""
    judged.schema("request.json", {keyword: [{"required": [f"k{number}"]} for number in range(4000)]})

    answer = judged.installed().ask({"k1": 1}, "--execute")

    assert answer.status == (EXIT_REFUSED if keyword == "allOf" else 0), answer
