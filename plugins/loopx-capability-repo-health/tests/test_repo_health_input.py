"""What `inspect` accepts, and that the schema in the profile says the same."""

from __future__ import annotations

import json
import tomllib
from importlib import import_module, resources
from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some
from loopx_repo_health.facts import read_request
from loopx_repo_health.names import NAME_BYTES, shown

from loopx_host import OperationFailed

PACKAGE = resources.files("loopx_repo_health")
PROFILE = json.loads((PACKAGE / "profile.json").read_text("utf-8"))
MANIFEST = tomllib.loads((PACKAGE / "extension.toml").read_text("utf-8"))
(OPERATION,) = PROFILE["operations"]
V0_RESULT = {
    *("schema_version", "invocation_id", "status", "observations", "domain_state_mutations"),
    *("domain_transition_receipts", "transition_proposals", "effect_receipt", "follow_up"),
}


def schema(name: str) -> Any:
    return json.loads((PACKAGE / f"schemas/{name}.schema.json").read_text("utf-8"))


GOOD: list[dict[str, object]] = [
    {},
    {"now": "2026-01-31T12:00:00Z"},
    {"now": "2026-01-31T12:00:00.123456789+05:30", "large_file_kb": 1},
    {"large_file_kb": 1_048_576},
]
BAD: list[dict[str, object]] = [
    {"more": 1},
    {"now": None},
    {"now": 1},
    {"now": "2026-01-31"},
    {"now": "2026-01-31 12:00:00Z"},
    {"now": "2026-01-31T12:00:00"},
    {"now": "2026-01-31T12:00:00Z\n"},
    {"now": "٢٠٢٦-01-31T12:00:00Z"},
    {"large_file_kb": 0},
    {"large_file_kb": 1_048_577},
    {"large_file_kb": True},
    {"large_file_kb": "1"},
    {"large_file_kb": 1.5},
    {"large_file_kb": None},
]


@pytest.mark.parametrize("request_", GOOD, ids=str)
def test_an_input_of_the_schema_is_accepted(request_: dict[str, object]) -> None:
    jsonschema.validate(request_, OPERATION["request_schema"])

    read_request(request_)


@pytest.mark.parametrize("request_", BAD, ids=str)
def test_an_input_outside_the_schema_is_refused(request_: dict[str, object]) -> None:
    with pytest.raises(OperationFailed) as refused:
        read_request(request_)

    assert refused.value.code == "invalid_input"


@pytest.mark.parametrize(
    "now",
    [
        "2026-02-30T00:00:00Z",
        "0000-01-01T00:00:00Z",
        "2026-01-01T25:00:00Z",
        "0001-01-01T00:00:00+23:59",
        "9999-12-31T23:59:59-23:59",
    ],
)
def test_a_time_no_calendar_holds_is_refused(now: str) -> None:
    with pytest.raises(OperationFailed) as refused:
        read_request({"now": now})

    assert refused.value.code == "invalid_input"


@pytest.mark.parametrize("name", ["publish", "view"])
def test_a_schema_is_one(name: str) -> None:
    jsonschema.Draft202012Validator.check_schema(schema(name))


@pytest.mark.parametrize("name", ["request_schema", "result_schema"])
def test_a_schema_of_the_profile_is_one(name: str) -> None:
    jsonschema.Draft202012Validator.check_schema(OPERATION[name])


def test_the_result_schema_is_that_of_the_whole_answer() -> None:
    assert set(OPERATION["result_schema"]["required"]) == V0_RESULT
    assert set(OPERATION["result_schema"]["properties"]) == V0_RESULT


def test_a_publish_request_takes_the_input_of_the_operation() -> None:
    publish = schema("publish")["properties"]

    assert OPERATION["request_schema"]["properties"].items() <= publish.items()


def test_the_profile_and_the_manifest_name_the_same_things() -> None:
    assert PROFILE["capability_id"] == MANIFEST["provides"][0]["id"]
    assert PROFILE["protocol"] == MANIFEST["runtime"]["protocol"]
    assert OPERATION["required_permission"] in MANIFEST["runtime"]["required_permissions"]


def test_the_validator_of_the_surface_can_be_called() -> None:
    (surface,) = MANIFEST["presentation_surfaces"]
    module, _, name = surface["view_validator"].partition(":")

    assert getattr(import_module(module), name)({}) != []


@settings(max_examples=50, deadline=None, derandomize=True, database=None)
@given(some.binary(min_size=1, max_size=400))
def test_any_name_is_shown_as_one_bounded_printable_line(name: bytes) -> None:
    text = shown(name)

    assert text.isprintable()
    assert len(text.encode()) <= NAME_BYTES


def test_two_names_that_are_shown_whole_are_shown_differently() -> None:
    assert shown(b"\xe9") != shown(b"\\xe9")
