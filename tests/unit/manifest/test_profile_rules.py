"""Integration profiles: which operations, with which effect, behind which permission, for which todo."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest

from loopx_host.core.errors import Refused
from loopx_host.registry.load import load
from loopx_host.registry.schemas import Bundle
from tests.support.manifests import (
    NAME,
    MemoryFolder,
    capability,
    found,
    load_document,
    minimal,
    problems,
    to_toml,
    without,
)

AT = "provides[0].integration_profile"
BAD = {("manifest_bad_value", AT)}
Row = dict[str, Any]


def read_only(**keys: object) -> Row:
    return {
        "id": "read",
        "effect_class": "read_only",
        "required_permission": "notes.read",
        "request_schema": {"type": "object"},
        "result_schema": {"type": "object"},
        **keys,
    }


def external_write(**keys: object) -> Row:
    contract = {"action_kinds": ["notes.send"], "target_key_prefixes": ["notes:outbox/"]}
    return {**read_only(id="send", effect_class="external_write"), "todo_contract": contract, **keys}


def profile(*operations: object, **keys: object) -> bytes:
    document = {
        "schema_version": "loopx_external_domain_capability_profile_v1",
        "capability_id": "notes",
        "protocol": "sample_v0",
        "operations": list(operations) or [read_only()],
        **keys,
    }
    return json.dumps(document).encode()


DOCUMENT = {
    **minimal(),
    "permissions": ["notes.read"],
    "provides": [capability(integration_profile="profile.json")],
}


def refused(*operations: object, **keys: object) -> set[tuple[str, str]]:
    return found(DOCUMENT, {"profile.json": profile(*operations, **keys)})


# --- what loads ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("operation", [read_only(), external_write(), read_only(id="fix-2.list_all")])
def test_a_whole_operation_is_taken(operation: Row) -> None:
    manifest = load_document(DOCUMENT, {"profile.json": profile(operation)})

    assert manifest.capabilities[0]["integration_profile"]["document"]["operations"] == [operation]


def test_32_operations_are_taken_and_33_are_not() -> None:
    rows = [read_only(id=f"read-{number}") for number in range(33)]

    manifest = load_document(DOCUMENT, {"profile.json": profile(*rows[:32])})

    assert len(manifest.capabilities[0]["integration_profile"]["document"]["operations"]) == 32
    assert refused(*rows) == BAD


def test_a_profile_may_be_that_of_another_protocol() -> None:
    """The contract of a capability that only others implement names the protocol they speak."""
    manifest = load_document(DOCUMENT, {"profile.json": profile(protocol="other_v0")})

    assert manifest.capabilities[0]["integration_profile"]["document"]["protocol"] == "other_v0"


# --- what does not ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("operations", [[], {}, None, "read", 1])
def test_a_profile_without_a_list_of_operations_is_refused(operations: object) -> None:
    assert refused(operations=operations) == BAD


@pytest.mark.parametrize("row", [None, "read", 1, [], {}])
def test_an_operation_that_is_no_operation_is_refused(row: object) -> None:
    assert refused(row) == BAD


@pytest.mark.parametrize("key", read_only())
def test_an_incomplete_operation_is_refused(key: str) -> None:
    assert refused(without(read_only(), key)) == BAD


def test_an_operation_with_an_extra_key_is_refused() -> None:
    assert refused(read_only(timeout=3)) == BAD


@pytest.mark.parametrize("effect", ["read", "write", "READ_ONLY", None, True, ["read_only"], {}])
def test_another_effect_class_is_refused(effect: object) -> None:
    assert refused(read_only(effect_class=effect)) == BAD


@pytest.mark.parametrize("name", ["", "Read", "read notes", "-read", "read-", "x" * 65, None, 1])
def test_an_id_that_is_no_token_is_refused(name: object) -> None:
    assert refused(read_only(id=name)) == BAD


def test_two_operations_with_one_id_are_refused() -> None:
    assert refused(read_only(), external_write(id="read")) == BAD


@pytest.mark.parametrize("permission", ["notes.write", "", None, ["notes.read"], "NOTES.READ"])
def test_a_permission_that_the_manifest_does_not_declare_is_refused(permission: object) -> None:
    assert refused(read_only(required_permission=permission)) == BAD


@pytest.mark.parametrize("protocol", ["sample", "", None, 1])
def test_a_protocol_without_a_version_is_refused(protocol: object) -> None:
    assert refused(protocol=protocol) == BAD


# --- the todo contract -----------------------------------------------------------------------------------


def test_an_external_write_without_a_todo_contract_is_refused() -> None:
    """profile_todo_contract (case 32)"""
    assert refused(without(external_write(), "todo_contract")) == BAD


def test_a_read_with_a_todo_contract_is_refused() -> None:
    """profile_todo_contract (case 32)"""
    assert refused(read_only(todo_contract=external_write()["todo_contract"])) == BAD


@pytest.mark.parametrize("key", ["action_kinds", "target_key_prefixes"])
@pytest.mark.parametrize(
    "tokens", [[], "notes.send", None, [""], ["a b"], [1], [None], ["x" * 129], ["same", "same"], {}, [["a"]]]
)
def test_a_todo_contract_without_tokens_is_refused(key: str, tokens: object) -> None:
    """profile_todo_contract (case 32)"""
    contract = {**external_write()["todo_contract"], key: tokens}

    assert refused(external_write(todo_contract=contract)) == BAD


@pytest.mark.parametrize("change", [{"action_kinds": None}, {"extra": ["x"]}], ids=["missing", "extra"])
def test_a_todo_contract_with_other_keys_is_refused(change: Row) -> None:
    """profile_todo_contract (case 32)"""
    contract = {**external_write()["todo_contract"], **change}
    kept = {key: value for key, value in contract.items() if value is not None}

    assert refused(external_write(todo_contract=kept)) == BAD


@pytest.mark.parametrize("contract", [None, [], "notes.send", True])
def test_a_todo_contract_that_is_no_object_is_refused(contract: object) -> None:
    """profile_todo_contract (case 32)"""
    assert refused(external_write(todo_contract=contract)) == BAD


# --- schemas ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("key", ["request_schema", "result_schema"])
@pytest.mark.parametrize("schema", [None, True, "schema.json", [], 1])
def test_a_schema_that_is_no_object_is_refused(key: str, schema: object) -> None:
    assert refused(read_only(**{key: schema})) == BAD


@pytest.mark.parametrize("key", ["request_schema", "result_schema"])
@pytest.mark.parametrize(
    ("code", "schema"),
    [
        ("schema_invalid", {"type": "objekt"}),
        ("schema_invalid", {"properties": []}),
        ("schema_invalid", {"$schema": "http://json-schema.org/draft-07/schema#"}),
        ("schema_invalid", {"$ref": "other.json"}),
        ("schema_invalid", {"$ref": "https://example.org/a.json"}),
        ("schema_invalid", {"$ref": "#"}),
        ("schema_pattern_unsupported", {"pattern": "(?=a)"}),
    ],
)
def test_a_schema_that_could_judge_nothing_is_refused(key: str, code: str, schema: Row) -> None:
    assert refused(read_only(**{key: schema})) == {(code, AT)}


def test_every_schema_goes_to_the_check_that_the_host_was_given() -> None:
    seen: list[tuple[str, Row]] = []

    def check(bundle: Bundle) -> None:
        seen.append((bundle.path, bundle.root))
        assert bundle.siblings == {}

    folder = MemoryFolder({NAME: to_toml(DOCUMENT).encode(), "profile.json": profile(read_only(), external_write())})
    load(folder, NAME, check)

    assert sorted(path for path, _ in seen) == [
        *("read.request_schema", "read.result_schema", "send.request_schema", "send.result_schema"),
    ]
    assert all(root == {"type": "object"} for _, root in seen)


def test_what_is_misshapen_is_not_judged_as_a_schema() -> None:
    asked: list[str] = []
    folder = MemoryFolder({NAME: to_toml(DOCUMENT).encode(), "profile.json": profile(read_only(id="A"))})

    with pytest.raises(Refused):
        load(folder, NAME, lambda bundle: asked.append(bundle.path))

    assert asked == []


def test_every_fault_of_a_profile_is_in_the_report() -> None:
    first, second = read_only(id="A", required_permission="other"), without(external_write(), "todo_contract")

    rows = problems(DOCUMENT, {"profile.json": profile(first, second, protocol="x")})

    assert len(rows) == 4
    assert {row["line"] for row in rows} != {None}


def test_a_fault_changes_nothing_of_the_document() -> None:
    row = external_write()
    before = copy.deepcopy(row)

    load_document(DOCUMENT, {"profile.json": profile(row)})

    assert row == before


READING = ("fs.read:out", "fs.read:write", "notes.read", "net.connect", "rewrites.read")
WRITING = ("fs.write:out", "fs.write", "external_write", "notes.write", "notes.write:inbox", "notes.bulk_write")


@pytest.mark.req("X10")
@pytest.mark.parametrize("token", READING)
def test_what_only_reads_asks_for_a_permission_that_does(token: str) -> None:
    load_document(
        {**DOCUMENT, "permissions": [token]}, {"profile.json": profile(read_only(required_permission=token))}
    )


@pytest.mark.req("X10")
@pytest.mark.parametrize("token", WRITING)
def test_what_only_reads_asks_for_no_permission_that_writes_however_it_is_spelt(token: str) -> None:
    files = {"profile.json": profile(read_only(required_permission=token))}

    assert found({**DOCUMENT, "permissions": [token]}, files) == BAD
