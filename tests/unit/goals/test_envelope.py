"""The execution envelope is exactly that of its call: types count, nothing may be added, left out or changed."""

from __future__ import annotations

import copy
import json
from functools import partial
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopx_host.core.errors import Refused
from loopx_host.core.limits import SCOPE_BYTES
from loopx_host.lifecycle.goals.envelope import (
    ENVELOPE_KEY,
    check_envelope,
    envelope_for,
    expectation,
    expected_by_provider,
    make_envelope,
    request_digest,
    scope_of,
)
from tests.support.fakes import code_of

REVISION = "0123456789abcdef"
REQUEST: dict[str, Any] = {
    "schema_version": "loopx_external_domain_capability_request_v1",
    "invocation_id": "capability-0123456789abcdef01234567",
    "goal_id": "g1",
    "capability_id": "weather",
    "operation": "inspect",
    "protocol": "test_v0",
    "input": {"limit": 1, "deep": True, "ratio": 1.0, "names": ["a"]},
    "context_refs": [{"name": "repo", "kind": "path", "path": "/made/up"}],
}
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text("ab1é"),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("ab", max_size=2), inner, max_size=3),
    max_leaves=6,
)


def envelope(request: dict[str, Any] = REQUEST) -> Any:
    return envelope_for(request, "probe-me", REVISION)


def sealed(**fields: Any) -> dict[str, Any]:
    return {**REQUEST, ENVELOPE_KEY: envelope(), **fields}


def seen(request: dict[str, Any], told: dict[str, str] | None = None, extension_id: str = "probe-me") -> str | None:
    """Return how the provider `extension_id` refuses a request; `told` are its variables, those of REQUEST else."""
    environment = expectation(REQUEST, "probe-me", REVISION) if told is None else told

    def look() -> None:
        check_envelope(request[ENVELOPE_KEY], expected_by_provider(request, extension_id, environment))

    try:
        look()
    except Refused as refused:
        return refused.code
    return None


def typed(value: object) -> str:
    """Return a text that tells every two JSON values apart, types included."""
    return json.dumps(value, sort_keys=True)


def places(value: object, at: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    """Return the path of every value inside `value`."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path for key, child in inner for path in [(*at, key), *places(child, (*at, key))]]


def changed(value: dict[str, Any], path: tuple[str | int, ...], new: object) -> dict[str, Any]:
    made = copy.deepcopy(value)
    inner: Any = made
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = new
    return made


def at(value: object, path: tuple[str | int, ...]) -> object:
    for key in path:
        value = value[key]  # type: ignore[index]
    return value


def test_the_envelope_of_a_call_holds_exactly_the_contract_s_keys() -> None:
    made = envelope()

    assert set(made) == {"schema_version", "action", "scope", "extension", "request_digest"}
    assert made["schema_version"] == "loopx_extension_execution_envelope_v0"
    assert made["action"] == "capability.invoke:weather.inspect"
    assert made["scope"] == {
        "goal_id": "g1",
        "capability_id": "weather",
        "operation": "inspect",
        "references": ["repo"],
    }
    assert made["extension"] == {"id": "probe-me", "revision": REVISION}
    assert made["request_digest"] == f"sha256:{request_digest(REQUEST)}"


def test_the_envelope_of_this_call_passes_host_and_provider() -> None:
    check_envelope(envelope(), envelope())
    assert seen(sealed()) is None


@pytest.mark.req("X10")
@given(data=st.data())
def test_any_change_of_any_field_is_refused(data: st.DataObject) -> None:
    """envelope_exact (case 120)"""
    made = envelope()
    path = data.draw(st.sampled_from(places(made)))
    new = data.draw(JSON.filter(lambda value: typed(value) != typed(at(made, path))))

    assert code_of(lambda: check_envelope(changed(made, path, new), made)) == "envelope_invalid"


@pytest.mark.req("X10")
@given(name=st.text(max_size=12), value=JSON)
def test_an_extra_key_anywhere_is_refused(name: str, value: object) -> None:
    made = envelope()
    wider = [{**made, part: {**made[part], name: value}} for part in ("scope", "extension")]

    if name not in made:
        assert code_of(lambda: check_envelope({**made, name: value}, made)) == "envelope_invalid"
    for one in [one for one in wider if typed(one) != typed(made)]:
        assert code_of(partial(check_envelope, one, made)) == "envelope_invalid"


@pytest.mark.req("X10")
@pytest.mark.parametrize("key", sorted(envelope()))
def test_a_missing_key_is_refused(key: str) -> None:
    made = envelope()

    assert code_of(lambda: check_envelope({k: v for k, v in made.items() if k != key}, made)) == "envelope_invalid"


@pytest.mark.req("X10")
@pytest.mark.parametrize("given", [None, True, [], "envelope", 1, {}], ids=str)
def test_what_is_no_envelope_is_refused(given: object) -> None:
    assert code_of(lambda: check_envelope(given, envelope())) == "envelope_invalid"


@pytest.mark.req("X10")
@pytest.mark.parametrize("values", [(True, 1), (1, 1.0), (True, 1.0), (False, 0), (0, 0.0)], ids=str)
def test_true_is_not_one_and_one_is_not_one_point_nought(values: tuple[object, object]) -> None:
    expected: Any = {**envelope(), "scope": {"goal_id": "g1", "limit": values[0]}}
    given: Any = {**envelope(), "scope": {"goal_id": "g1", "limit": values[1]}}

    assert code_of(lambda: check_envelope(given, expected)) == "envelope_invalid"
    assert code_of(lambda: check_envelope(expected, given)) == "envelope_invalid"


@pytest.mark.req("X10", "M071")
@given(data=st.data())
def test_any_change_of_any_value_of_the_request_is_seen_by_the_provider(data: st.DataObject) -> None:
    path = data.draw(st.sampled_from(places(REQUEST)))
    new = data.draw(JSON.filter(lambda value: typed(value) != typed(at(REQUEST, path))))
    request = {**changed(REQUEST, path, new), ENVELOPE_KEY: envelope()}

    told_of_it = expectation(request, "probe-me", REVISION)

    assert seen(request) == "envelope_invalid"
    assert seen(request, told_of_it) == "envelope_invalid"


@pytest.mark.req("X10")
@pytest.mark.parametrize("other", ["probe-me-too", "", "loopx-core"])
def test_the_envelope_of_another_extension_is_refused_by_the_provider(other: str) -> None:
    assert seen(sealed(), extension_id=other) == "envelope_invalid"
    assert seen(sealed(), expectation(REQUEST, other, REVISION), other) == "envelope_invalid"


@pytest.mark.req("X10")
@pytest.mark.parametrize("revision", [None, True, 1, ["0123456789abcdef"], "fedcba9876543210"], ids=str)
def test_a_revision_that_is_not_the_host_s_is_refused_by_the_provider(revision: object) -> None:
    request = sealed(**{ENVELOPE_KEY: {**envelope(), "extension": {"id": "probe-me", "revision": revision}}})

    assert seen(request) == "envelope_invalid"


@pytest.mark.req("X10")
@pytest.mark.parametrize("name", sorted(expectation(REQUEST, "probe-me", REVISION)))
@pytest.mark.parametrize("value", [None, "", "other", "fedcba9876543210", "0" * 64], ids=str)
def test_a_provider_that_is_not_told_this_call_refuses_it(name: str, value: str | None) -> None:
    told = expectation(REQUEST, "probe-me", REVISION)
    del told[name]

    assert seen(sealed(), told if value is None else {**told, name: value}) == "envelope_invalid"


@pytest.mark.req("X10", "M071")
@pytest.mark.parametrize("key", ["agent", "workspace", "delivery"])
def test_what_a_turn_is_for_stands_in_the_scope_and_cannot_be_widened(key: str) -> None:
    asked = {**REQUEST, key: "one"}
    made, told = envelope(asked), expectation(asked, "probe-me", REVISION)
    wider = {**made, "scope": {**made["scope"], key: "two"}}
    unsaid = {**made, "scope": scope_of(REQUEST)}
    added = {**envelope(), "scope": {**scope_of(REQUEST), key: "one"}}

    assert made["scope"] == {**scope_of(REQUEST), key: "one"}
    assert seen({**asked, ENVELOPE_KEY: made}, told) is None
    assert seen({**asked, ENVELOPE_KEY: wider}, told) == "envelope_invalid"
    assert seen({**asked, ENVELOPE_KEY: unsaid}, told) == "envelope_invalid"
    assert seen(sealed(**{ENVELOPE_KEY: added})) == "envelope_invalid"


@pytest.mark.req("X10")
@pytest.mark.parametrize(
    ("action", "taken"),
    [
        ("a", True),
        ("a" * 128, True),
        ("a" * 129, False),
        ("", False),
        ("1a", False),
        ("A", False),
        ("a\n", False),
        ("a b", False),
        ("aé", False),
        ("a_.:-9", True),
    ],
)
def test_an_action_is_bounded_as_the_contract_says(action: str, taken: bool) -> None:
    def make() -> object:
        scope: Any = {"goal_id": "g1"}
        return make_envelope(REQUEST, action=action, scope=scope, extension_id="probe-me", revision=REVISION)

    if taken:
        make()
    else:
        assert code_of(make) == "envelope_invalid"


@given(first=JSON, second=JSON)
def test_two_requests_have_one_digest_only_when_they_are_the_same(first: object, second: object) -> None:
    digests = [request_digest({**REQUEST, "input": value}) for value in (first, second)]

    assert (digests[0] == digests[1]) == (typed(first) == typed(second))


def test_the_digest_leaves_out_the_envelope_and_nothing_else() -> None:
    assert request_digest(sealed()) == request_digest(REQUEST)


@pytest.mark.parametrize(("over", "refused"), [(0, False), (1, True)])
def test_a_scope_is_bounded_in_canonical_bytes(over: int, refused: bool) -> None:
    scope: Any = {"goal_id": ""}
    scope["goal_id"] = "g" * (SCOPE_BYTES - len('{"goal_id":""}') + over)

    def make() -> object:
        return make_envelope(REQUEST, action="a", scope=scope, extension_id="probe-me", revision=REVISION)

    if refused:
        assert code_of(make) == "envelope_invalid"
    else:
        make()
