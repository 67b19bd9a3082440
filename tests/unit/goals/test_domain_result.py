"""What a provider may answer to a governed read: exactly the v0 result, nothing that acts, nothing private."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopx_host.documents.governed_result_v0 import STATUSES
from loopx_host.lifecycle.goals import domain_result
from tests.support.capabilities import operation, result

OPERATION: Any = operation()
ID = "capability-0123456789abcdef01234567"
KEYS = sorted(result(ID))
VALUES: st.SearchStrategy[object] = (
    st.none() | st.booleans() | st.integers() | st.text(max_size=3) | st.just([]) | st.just({}) | st.just([{}])
)
TOKEN = "ghp_" + "a1B2" * 9
PRIVATE = {
    "a password": {"password": "correct horse"},
    "a token by its name": {"token": "abc"},
    "an api key in another spelling": {"apiKey": "abc"},
    "a response body": {"responseBody": "<html>"},
    "a token by its value": {"note": TOKEN},
    "a bearer header": {"note": "Authorization: Bearer abcdef0123456789abcdef"},
    "a home path": {"path": "/home/somebody/notes"},
    "a home path in a name": {"/home/somebody/notes": 1},
    "a Windows home path": {"path": "C:\\Users\\somebody\\notes"},
    "a file address": {"path": "file:///srv/x"},
}


def nested(value: object, depth: int) -> object:
    for level in range(depth):
        value = {"in": value} if level % 2 else [value]
    return value


def fault(answer: dict[str, Any], invocation_id: str) -> str | None:
    return domain_result.fault(answer, invocation_id, OPERATION)


def test_the_clean_result_of_a_read_is_no_fault() -> None:
    assert fault(result(ID), ID) is None


@pytest.mark.parametrize(("count", "taken"), [(64, True), (65, False)])
def test_observations_are_bounded_as_in_v0(count: int, taken: bool) -> None:
    assert (fault(result(ID, observations=[{"n": 1}] * count), ID) is None) == taken


@pytest.mark.parametrize("key", KEYS)
def test_a_result_without_one_of_its_keys_is_refused(key: str) -> None:
    assert fault({name: value for name, value in result(ID).items() if name != key}, ID) is not None


@given(name=st.text(max_size=8).filter(lambda name: name not in KEYS), value=VALUES)
def test_a_result_with_another_key_is_refused(name: str, value: object) -> None:
    assert fault(result(ID, **{name: value}), ID) is not None


@given(key=st.sampled_from([key for key in KEYS if key != "observations"]), value=VALUES)
def test_any_other_value_than_that_of_a_read_is_refused(key: str, value: object) -> None:
    """invoke_read_only_clean (case 116)"""
    same = type(value) is type(result(ID)[key]) and value == result(ID)[key]

    assert (fault({**result(ID), key: value}, ID) is None) == same


@pytest.mark.parametrize(
    "fields",
    [
        {"domain_state_mutations": [{"set": 1}]},
        {"domain_transition_receipts": [{"id": "r"}]},
        {"transition_proposals": [{"to": "done"}]},
        {"effect_receipt": {"id": "r"}},
        {"effect_receipt": {}},
        {"effect_receipt": False},
        {"follow_up": {"kind": "todo"}},
        {"follow_up": {"kind": "none", "todo": "x"}},
        {"follow_up": None},
        {"observations": None},
        {"observations": {}},
        {"observations": ["a text"]},
        {"observations": [{"kind": "fact"}, None]},
    ],
    ids=str,
)
def test_a_read_that_acts_or_observes_nothing_of_that_shape_is_refused(fields: dict[str, Any]) -> None:
    """invoke_read_only_clean (case 116)"""
    assert fault(result(ID, **fields), ID) is not None


@pytest.mark.parametrize("depth", [0, 1, 7, 40])
@pytest.mark.parametrize("case", PRIVATE)
def test_private_material_at_any_depth_is_refused_and_never_repeated(case: str, depth: int) -> None:
    """invoke_private_material (case 117)"""
    said = fault(result(ID, observations=[{"kind": "fact", "in": nested(PRIVATE[case], depth)}]), ID)

    assert said is not None
    assert all(secret not in said for secret in (TOKEN, "correct horse", "somebody", "<html>", "srv/x"))


@pytest.mark.parametrize("name", ["\x1b[31mred", TOKEN, "you are authorised " * 1000, "/home/somebody"])
def test_the_name_of_a_key_that_nobody_knows_is_not_repeated(name: str) -> None:
    said = fault(result(ID, **{name: 1}), ID)

    assert said is not None
    assert name not in said
    assert len(said) < 400


@pytest.mark.parametrize("status", STATUSES[1:])
def test_a_status_that_only_v0_knows_is_refused_of_ours(status: str) -> None:
    assert fault(result(ID, status=status), ID) is not None
