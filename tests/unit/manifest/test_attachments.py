"""Schemas with their siblings and integration profiles: what is read, what is kept, what is refused."""

from __future__ import annotations

import json
from typing import Any

import pytest

from loopx_host.core.errors import Refused
from loopx_host.registry.load import load
from tests.support.manifests import (
    NAME,
    MemoryFolder,
    capability,
    found,
    load_document,
    minimal,
    problems,
    runtime_of,
    sha256,
    to_toml,
)

UNREADABLE, BAD = "manifest_file_unreadable", "manifest_bad_value"
AT = "runtime.request_schema"


def schema(reference: str) -> bytes:
    return json.dumps({"$defs": {"a": {}}, "properties": {"a": {"allOf": [{"$ref": reference}]}}}).encode()


def with_schema(path: str = "request.json") -> dict[str, Any]:
    return minimal(request_schema=path)


def test_a_schema_is_kept_by_its_digest() -> None:
    manifest = load_document(with_schema("schemas/request.json"), {"schemas/request.json": b'{"type": "object"}'})

    digest = sha256(b'{"type": "object"}')
    assert manifest.snapshot == {digest: b'{"type": "object"}'}
    assert runtime_of(manifest)["request_schema"] == {
        "path": "schemas/request.json",
        "sha256": digest,
        "siblings": {},
    }


def test_siblings_are_followed_from_file_to_file_and_kept() -> None:
    files = {
        "schemas/request.json": schema("types/a.json#/$defs/a"),
        "schemas/types/a.json": schema("../b.json"),
        "schemas/b.json": schema("request.json#"),
    }

    manifest = load_document(with_schema("schemas/request.json"), files)

    siblings = runtime_of(manifest)["request_schema"]["siblings"]
    assert siblings == {name: sha256(files[name]) for name in ("schemas/types/a.json", "schemas/b.json")}
    assert manifest.snapshot == {sha256(data): data for data in files.values()}


def test_a_reference_into_the_same_file_needs_no_sibling() -> None:
    manifest = load_document(with_schema(), {"request.json": schema("#/$defs/a")})

    assert runtime_of(manifest)["request_schema"]["siblings"] == {}


def test_the_same_schema_by_another_spelling_is_no_sibling_of_itself() -> None:
    manifest = load_document(with_schema("./request.json"), {"request.json": schema("./request.json")})

    assert runtime_of(manifest)["request_schema"]["siblings"] == {}


@pytest.mark.parametrize(
    "reference",
    [
        *("http://example.org/a.json", "https://example.org/a.json#/x", "file:///etc/passwd", "urn:a:b", "//host/a"),
        *("/etc/passwd", "../a.json", "a/../../b.json", "..", "a\\b.json", "a\x00b.json", "a\nb.json"),
        *("x" * 2000, "a/" * 5000 + "b.json"),
    ],
)
def test_a_reference_out_of_the_package_is_refused(reference: str) -> None:
    assert found(with_schema(), {"request.json": schema(reference)}) == {(BAD, AT)}


def test_a_file_whose_name_begins_with_two_dots_is_inside() -> None:
    manifest = load_document(with_schema(), {"request.json": schema("..a.json"), "..a.json": b"{}"})

    assert set(runtime_of(manifest)["request_schema"]["siblings"]) == {"..a.json"}


@pytest.mark.parametrize(
    "files",
    [
        {},
        {"request.json": b"[]"},
        {"request.json": b'{"a": 1, "a": 2}'},
        {"request.json": b'{"a": NaN}'},
        {"request.json": b"\xff"},
        {"request.json": b'{"a": ' + b"[" * 64 + b"]" * 64 + b"}"},
        {"request.json": b'{"a": "' + b"x" * (256 * 1024) + b'"}'},
        {"request.json": schema("a.json")},
        {"request.json": schema("a.json"), "a.json": b"not JSON"},
    ],
    ids=["missing", "array", "duplicate", "nan", "utf-8", "deep", "large", "sibling missing", "sibling broken"],
)
def test_a_schema_that_cannot_be_used_is_refused(files: dict[str, bytes]) -> None:
    assert found(with_schema(), files) == {(UNREADABLE, AT)}


def test_a_schema_of_256_kib_loads() -> None:
    data = b'{"a": "' + b"x" * (256 * 1024 - 9) + b'"}'
    assert len(data) == 256 * 1024

    manifest = load_document(with_schema(), {"request.json": data})

    assert manifest.snapshot == {sha256(data): data}


def chain(length: int) -> dict[str, bytes]:
    files = {f"{number}.json": schema(f"{number + 1}.json") for number in range(length)}
    return {**files, "request.json": schema("0.json"), f"{length}.json": b"{}"}


def test_a_schema_reaches_at_most_32_siblings() -> None:
    manifest = load_document(with_schema(), chain(31))

    assert len(runtime_of(manifest)["request_schema"]["siblings"]) == 32
    assert found(with_schema(), chain(32)) == {(BAD, AT)}


@pytest.mark.parametrize("path", ["/etc/passwd", "../a.json", "a//b.json", "a\\b.json", "c:/a.json", "a" * 1025, ""])
def test_a_schema_path_that_leads_away_is_refused(path: str) -> None:
    assert found(with_schema(path)) == {(BAD, AT)}


@pytest.mark.parametrize("links", [{"request.json": "/etc/passwd"}, {"request.json": "../elsewhere.json"}])
def test_a_schema_link_that_leads_outside_is_refused(links: dict[str, str]) -> None:
    folder = MemoryFolder({NAME: to_toml(with_schema()).encode()}, links=links)

    with pytest.raises(Refused) as caught:
        load(folder, NAME)

    rows = caught.value.document["problems"]
    assert isinstance(rows, list)
    assert [(row["code"], row["pointer"]) for row in rows] == [(UNREADABLE, AT)]


def test_problems_of_both_schemas_are_in_one_report() -> None:
    rows = problems(minimal(request_schema="a.json", response_schema="b.json"), {"b.json": b"[]"})

    assert {(row["pointer"], row["line"] is not None) for row in rows} == {
        ("runtime.request_schema", True),
        ("runtime.response_schema", True),
    }


# --- integration profiles --------------------------------------------------------------------------------

PROFILE = {
    "schema_version": "loopx_external_domain_capability_profile_v1",
    "capability_id": "notes",
    "protocol": "sample_v0",
    "operations": [
        {
            "id": "read",
            "effect_class": "read_only",
            "required_permission": "notes.read",
            "request_schema": {"type": "object"},
            "result_schema": {"type": "object"},
        }
    ],
}
WITH_PROFILE = {
    **minimal(),
    "permissions": ["notes.read"],
    "provides": [capability(integration_profile="profile.json")],
}
PROFILE_AT = "provides[0].integration_profile"


def test_a_profile_enters_with_the_digest_of_its_canonical_form() -> None:
    canonical = json.dumps(PROFILE, sort_keys=True, separators=(",", ":")).encode()

    manifest = load_document(WITH_PROFILE, {"profile.json": json.dumps(PROFILE, indent=3).encode()})

    assert manifest.capabilities[0]["integration_profile"]["digest"] == f"sha256:{sha256(canonical)}"


@pytest.mark.parametrize(
    "change",
    [
        {"schema_version": "loopx_external_domain_capability_profile_v0"},
        {"schema_version": "loopx_external_domain_capability_profile_v2"},
        {"capability_id": "other"},
        {"capability_id": 1},
        {"extra": 1},
    ],
)
def test_a_profile_with_another_shape_is_refused(change: dict[str, object]) -> None:
    files = {"profile.json": json.dumps({**PROFILE, **change}).encode()}

    assert found(WITH_PROFILE, files) == {(BAD, PROFILE_AT)}


V0_OPERATION = {
    "id": "read",
    "effect_class": "read_only",
    "required_permission": "notes.read",
    "request_schema": "notes_request_v0",
    "result_schema": "notes_result_v0",
}
V0_PROFILE = {
    "schema_version": "loopx_external_domain_capability_profile_v0",
    "capability_id": "notes",
    "protocol": "sample_v0",
    "operations": [V0_OPERATION],
}


@pytest.mark.parametrize(
    "change",
    [
        {},
        {"required_permission": "acme.notes.read"},
        {"required_permission": "Acme/Notes#Write"},
        {"request_schema": "x" * 128},
    ],
)
def test_a_v0_profile_is_taken_as_it_is_written_whatever_its_domain_calls_permission(change: dict[str, str]) -> None:
    profile = {**V0_PROFILE, "operations": [{**V0_OPERATION, **change}]}
    canonical = json.dumps(profile, sort_keys=True, separators=(",", ":")).encode()

    manifest = load_document(WITH_PROFILE, {"profile.json": json.dumps(profile).encode()})

    kept = manifest.capabilities[0]["integration_profile"]
    assert (kept["document"], kept["digest"]) == (profile, f"sha256:{sha256(canonical)}")


@pytest.mark.parametrize(
    "change",
    [
        {"request_schema": {"type": "object"}},
        {"result_schema": {"type": "object"}},
        {"request_schema": ""},
        {"request_schema": "x" * 129},
        {"request_schema": "two words"},
        {"result_schema": None},
        {"required_permission": "fs.read:notes"},
        {"required_permission": "fs.write:notes"},
        {"required_permission": "net.connect"},
        {"required_permission": ""},
        {"required_permission": 1},
        {"also": 1},
    ],
    ids=str,
)
def test_under_the_id_of_v0_stands_the_form_of_v0_and_no_other(change: dict[str, object]) -> None:
    profile = {**V0_PROFILE, "operations": [{**V0_OPERATION, **change}]}

    assert found(WITH_PROFILE, {"profile.json": json.dumps(profile).encode()}) == {(BAD, PROFILE_AT)}


@pytest.mark.parametrize("key", ["request_schema", "result_schema"])
def test_under_our_id_a_token_is_no_schema(key: str) -> None:
    profile = {
        **PROFILE,
        "operations": [{**V0_OPERATION, "request_schema": {}, "result_schema": {}, key: "notes_v0"}],
    }

    assert found(WITH_PROFILE, {"profile.json": json.dumps(profile).encode()}) == {(BAD, PROFILE_AT)}


@pytest.mark.parametrize("key", PROFILE)
def test_an_incomplete_profile_is_refused(key: str) -> None:
    rest = {name: value for name, value in PROFILE.items() if name != key}

    assert found(WITH_PROFILE, {"profile.json": json.dumps(rest).encode()}) == {(BAD, PROFILE_AT)}


def test_a_profile_is_read_up_to_64_kib() -> None:
    text = json.dumps(PROFILE).encode()
    largest = text + b" " * (64 * 1024 - len(text))

    assert load_document(WITH_PROFILE, {"profile.json": largest}).capabilities
    assert found(WITH_PROFILE, {"profile.json": largest + b" "}) == {(UNREADABLE, PROFILE_AT)}


def test_a_profile_with_a_repeated_key_is_refused() -> None:
    text = json.dumps(PROFILE).encode().replace(b"{", b'{"protocol": "sample_v0", ', 1)

    assert found(WITH_PROFILE, {"profile.json": text}) == {(UNREADABLE, PROFILE_AT)}


@pytest.mark.parametrize("path", ["/etc/passwd", "../profile.json", ""])
def test_a_profile_path_that_leads_away_is_refused(path: str) -> None:
    document = {**minimal(), "provides": [capability(integration_profile=path)]}

    assert found(document) == {(BAD, PROFILE_AT)}
