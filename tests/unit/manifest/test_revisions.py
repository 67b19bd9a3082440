"""Manifest text → normal form → revision, against recorded vectors and an independent computation."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from loopx_host.registry.load import load
from loopx_host.registry.manifest import Manifest
from tests.support.manifests import (
    NAME,
    MemoryFolder,
    capability,
    documentation,
    expected_form,
    load_bytes,
    load_document,
    load_text,
    minimal,
    revision_of,
    runtime_of,
    sha256,
    to_toml,
)
from tests.support.project_files import ROOT

DATA = ROOT / "tests/data"
V0 = sorted((DATA / "v0").glob("revision-*.toml"))
OWN = sorted(path.parent for path in (DATA / "revisions").glob("*/vector.json"))
STATE = json.loads((DATA / "v0" / "state.json").read_text("utf-8"))
SNAPSHOTS = [row for entry in STATE["extensions"].values() for row in entry["revisions"]]

FULL = {
    **minimal(args=["--fast"], doctor_args=["--doctor"], required_permissions=["notes.read"], timeout_seconds=45),
    "permissions": ["notes.read"],
    "provides": [capability()],
    "implements": [{"capability_id": "other", "protocol": "sample_v0"}],
    "documentation": documentation(aliases=["old.md"]),
}


def vector(path: Path) -> dict[str, Any]:
    read: dict[str, Any] = json.loads(path.read_text("utf-8"))
    return read


def folder(path: Path) -> MemoryFolder:
    files = {str(file.relative_to(path)): file.read_bytes() for file in path.rglob("*") if file.is_file()}
    return MemoryFolder(files)


@pytest.mark.parametrize("path", V0, ids=lambda path: path.stem)
def test_a_v0_manifest_has_its_recorded_normal_form_and_revision(path: Path) -> None:
    recorded = vector(path.with_suffix(".json"))

    manifest = load_bytes(path.read_bytes())

    assert manifest.form == recorded["normal_form"]
    assert manifest.revision == recorded["revision"]


@pytest.mark.parametrize("snapshot", SNAPSHOTS, ids=lambda snapshot: str(snapshot["revision"]))
def test_a_snapshot_in_a_v0_state_file_has_its_recorded_revision(snapshot: dict[str, Any]) -> None:
    assert Manifest(snapshot["manifest"]).revision == snapshot["revision"]


@pytest.mark.parametrize("path", OWN, ids=lambda path: path.name)
def test_a_manifest_beyond_v0_has_its_written_normal_form_and_revision(path: Path) -> None:
    written = vector(path / "vector.json")

    manifest = load(folder(path), NAME)

    assert manifest.form == written["normal_form"]
    assert manifest.revision == written["revision"]


@pytest.mark.parametrize("path", OWN, ids=lambda path: path.name)
def test_the_written_revisions_follow_from_the_words_of_the_contract(path: Path) -> None:
    written = vector(path / "vector.json")

    assert revision_of(written["normal_form"]) == written["revision"]


def test_there_are_vectors_for_every_addition() -> None:
    forms = [vector(path / "vector.json")["normal_form"] for path in OWN]

    runtime_keys = {key for form in forms for key in form["runtime"]}
    capability_keys = [set(row) for form in forms for row in form["capabilities"]]
    assert runtime_keys >= {"request_schema", "response_schema", "env", "requires"}
    assert runtime_keys >= {"doctor_timeout_seconds", "memory_limit_mb", "open_files_limit"}
    assert {"documentation" in keys for keys in capability_keys} == {True, False}
    assert any("integration_profile" in keys for keys in capability_keys)


def test_the_full_digest_begins_with_the_revision() -> None:
    manifest = load_document(FULL)

    assert len(manifest.digest) == 64
    assert manifest.digest[:16] == manifest.revision == revision_of(expected_form(FULL))


# --- what does not change a revision ---------------------------------------------------------------------

TEXT = to_toml(FULL)


@pytest.mark.parametrize(
    "text",
    [
        TEXT.replace("\n", "\r\n"),
        TEXT.replace("\n", '  # a comment with "quotes" and [brackets]\n'),
        TEXT.replace(" = ", "\t=   ").replace("\n", "\n\n   "),
        TEXT.replace('"1.0"', '" 1.0\\t"').replace('"sample_v0"', "' sample_v0'"),
        TEXT.replace('"Notes"', '"""\nNotes"""'),
        TEXT.replace("= 45", "= 0x2d"),
        "x-author = {name = 'A', permissions = []}\nhomepage = 'x'\n" + TEXT,
        to_toml(dict(reversed(FULL.items()))),
    ],
    ids=["crlf", "comments", "space", "stripped", "other quotes", "hexadecimal", "free keys", "order"],
)
def test_what_the_author_may_rewrite_does_not_change_the_revision(text: str) -> None:
    """revision_stable (case 34)"""
    assert text != TEXT
    assert load_text(text).revision == load_text(TEXT).revision


def test_defaults_written_out_do_not_change_the_revision() -> None:
    written = {
        **minimal(args=[], doctor_args=[], required_permissions=[], timeout_seconds=30),
        "permissions": [],
        "provides": [],
        "implements": [],
        "presentation_surfaces": [],
    }

    assert load_document(written).revision == load_document(minimal()).revision


# --- what does ------------------------------------------------------------------------------------------

CHANGES = {
    "id": "sample-b",
    "version": "1.1",
    "requires_loopx_api": "1",
    "permissions[0]": "notes.write",
    "runtime.protocol": "sample_v1",
    "runtime.entrypoint": "sample-b",
    "runtime.args[0]": "--fast ",
    "runtime.doctor_args[0]": "doctor",
    "runtime.required_permissions": [],
    "runtime.timeout_seconds": 46,
    "provides[0].id": "notes-b",
    "provides[0].kind": "note_find",
    "provides[0].title": "notes",
    "provides[0].status": "planned",
    "provides[0].user_value": "Find notes",
    "provides[0].next_real_step": "Install.",
    "provides[0].visibility": "internal",
    "provides[0].real_world_anchor": "notes",
    "provides[0].entry_command": "sample note",
    "implements[0].capability_id": "other-b",
    "documentation.source_root": "doc",
    "documentation.site_root": "site",
    "documentation.canonical": "readme.md",
    "documentation.aliases[0]": "older.md",
}
TOGETHER = {"permissions[0]": "runtime.required_permissions[0]", "runtime.protocol": "implements[0].protocol"}


def places(value: Any, at: str = "") -> Iterator[str]:
    """Yield the pointer of every value of a manifest that is no table."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield from places(item, f"{at}.{key}" if at else key)
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from places(item, f"{at}[{index}]")
    else:
        yield at


def change(document: dict[str, Any], pointer: str, value: object) -> None:
    *path, last = pointer.replace("[", ".[").split(".")
    node: Any = document
    for name in path:
        node = node[int(name[1:-1]) if name.startswith("[") else name]
    node[int(last[1:-1]) if last.startswith("[") else last] = value


def test_every_value_of_the_full_manifest_has_a_change() -> None:
    fixed = {"schema_version", *TOGETHER.values()}

    assert {pointer for pointer in places(FULL) if pointer not in fixed} == {
        pointer for pointer in CHANGES if pointer != "runtime.required_permissions"
    }


@pytest.mark.parametrize("pointer", CHANGES)
def test_any_changed_value_changes_the_revision(pointer: str) -> None:
    """revision_stable (case 34)"""
    changed = copy.deepcopy(FULL)
    change(changed, pointer, CHANGES[pointer])
    if pointer in TOGETHER:
        change(changed, TOGETHER[pointer], CHANGES[pointer])

    assert load_document(changed).revision != load_document(FULL).revision


@pytest.mark.parametrize(
    ("key", "one", "other"),
    [
        ("env", ["A"], ["B"]),
        ("env", [], None),
        ("requires", {"node": ">=22"}, {"node": ">=23"}),
        ("doctor_timeout_seconds", 5, 6),
        ("doctor_timeout_seconds", 30, None),
        ("memory_limit_mb", 64, 65),
        ("open_files_limit", 64, 65),
        ("open_files_limit", 1024, None),
    ],
)
def test_an_addition_enters_the_revision_only_when_it_is_there(key: str, one: object, other: object) -> None:
    with_one = minimal(**{key: one})
    with_other = minimal() if other is None else minimal(**{key: other})

    assert runtime_of(load_document(with_one))[key] == one
    assert load_document(with_one).revision != load_document(with_other).revision


def test_the_order_of_a_list_is_part_of_the_revision() -> None:
    one, other = (load_document({**minimal(), "permissions": tokens}) for tokens in (["a", "b"], ["b", "a"]))

    assert one.revision != other.revision


def test_a_changed_schema_file_is_a_new_revision() -> None:
    document = minimal(request_schema="request.json")

    one, other = (load_document(document, {"request.json": data}) for data in (b"{}", b"{ }"))

    assert runtime_of(one)["request_schema"]["sha256"] == sha256(b"{}")
    assert one.revision != other.revision


def test_a_changed_sibling_of_a_schema_is_a_new_revision() -> None:
    document, root = minimal(response_schema="root.json"), b'{"$ref": "types.json#/a"}'

    one, other = (
        load_document(document, {"root.json": root, "types.json": data}) for data in (b'{"a": true}', b'{"a": {}}')
    )

    assert runtime_of(one)["response_schema"]["siblings"] == {"types.json": sha256(b'{"a": true}')}
    assert one.revision != other.revision


def test_a_changed_profile_is_a_new_revision_and_its_white_space_is_not() -> None:
    profile = {
        "schema_version": "loopx_external_domain_capability_profile_v1",
        "capability_id": "notes",
        "protocol": "sample_v0",
        "operations": [
            {
                "id": "find",
                "effect_class": "read_only",
                "required_permission": "notes.read",
                "request_schema": {},
                "result_schema": {},
            }
        ],
    }
    provided = [capability(integration_profile="profile.json")]
    document = {**minimal(), "permissions": ["notes.read"], "provides": provided}
    spaced, other = json.dumps(profile, indent=4), json.dumps({**profile, "protocol": "sample_v1"})

    revisions = [
        load_document(document, {"profile.json": text.encode()}).revision
        for text in (json.dumps(profile), spaced, other)
    ]

    assert revisions[0] == revisions[1] != revisions[2]
