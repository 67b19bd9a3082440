"""`capability invoke` over ports in memory: what is decided before anything is started."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopx_host.core.strict_json import parse_object
from loopx_host.lifecycle.goals.envelope import ENVELOPE_KEY, check_envelope, expected_by_provider, request_digest
from loopx_host.registry.schemas import SchemaError
from tests.support.capabilities import EXTERNAL_WRITE, IMPLEMENTS, effects, operation, profile, provides, result
from tests.support.fakes import NOW, World, code_of, refusal_of
from tests.support.invocations import PERMISSIONS, PLUGINS, answering, world

INPUTS = st.dictionaries(st.text("ab"), st.none() | st.booleans() | st.integers() | st.text("ab"), max_size=3)


def refused_before_a_start(made: World, call: Callable[[], object]) -> str:
    code = code_of(call)
    assert made.processes.launches == []
    return code


def test_a_preview_names_the_call_and_starts_nothing() -> None:
    made = world()

    receipt = made.invoke(execute=False)

    assert (receipt["status"], receipt["would_refuse"], receipt["executed"]) == ("ready", None, False)
    assert receipt["effects"] == effects(invoked=False, basis="enforced")
    assert (made.processes.launches, made.plugins.called) == ([], [])


def test_a_clean_result_is_passed_on_with_the_v0_receipt() -> None:
    made = answering(world())

    receipt = made.invoke()

    assert (receipt["ok"], receipt["status"], receipt["at"]) == (True, "succeeded", NOW)
    assert receipt["provider_result"] == result(receipt["invocation_id"])
    assert receipt["effects"] == effects()
    assert (receipt["effect_class"], receipt["context_ref_count"]) == ("read_only", 1)
    assert receipt["goal_binding"]["goal_id"] == "g1"
    assert receipt["goal_binding"]["turn_required"] is False


def test_the_provider_is_given_the_request_its_envelope_and_the_one_reference() -> None:
    made = answering(world())

    made.invoke(request=b'{"limit": 1}')

    (launch,) = made.processes.launches
    request: dict[str, Any] = parse_object(launch.stdin)
    assert {key: value for key, value in request.items() if key != ENVELOPE_KEY} == {
        "schema_version": "loopx_external_domain_capability_request_v1",
        "invocation_id": request["invocation_id"],
        "goal_id": "g1",
        "capability_id": "weather",
        "operation": "inspect",
        "protocol": "test_v0",
        "input": {"limit": 1},
        "context_refs": [{"name": "repo", "kind": "path", "path": "/made/up/here"}],
    }
    assert request[ENVELOPE_KEY] == {
        "schema_version": "loopx_extension_execution_envelope_v0",
        "action": "capability.invoke:weather.inspect",
        "scope": {"goal_id": "g1", "capability_id": "weather", "operation": "inspect", "references": ["repo"]},
        "extension": {"id": "probe-me", "revision": made.entry().active.id},
        "request_digest": f"sha256:{request_digest(request)}",
    }
    assert {name: value for name, value in launch.env_set.items() if name.startswith("LOOPX_")} == {
        "LOOPX_EXPECTED_ID": "probe-me",
        "LOOPX_EXPECTED_REVISION": made.entry().active.id,
        "LOOPX_EXPECTED_REQUEST_SHA256": request_digest(request),
    }
    check_envelope(request[ENVELOPE_KEY], expected_by_provider(request, "probe-me", launch.env_set))


def test_a_profile_that_an_earlier_release_kept_under_the_id_of_v0_is_called_as_before(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The form tells which it is, not the id: those releases knew one form and gave it this id."""
    kept = "loopx_external_domain_capability_profile_v0"
    with monkeypatch.context() as earlier:
        earlier.setattr("loopx_host.registry.profile_rules.ID", kept)
        earlier.setattr("loopx_host.documents.integration_profile_v0.ID", "not known yet")
        earlier.setattr("tests.support.capabilities.PROFILE_SCHEMA", kept)
        made = world()
    stored = made.entry().manifest.capabilities[0]["integration_profile"]["document"]

    receipt = answering(made).invoke()

    assert (stored["schema_version"], receipt["status"]) == (kept, "succeeded")
    sent = json.loads(made.processes.launches[-1].stdin)
    assert (sent["schema_version"], sent["input"]) == ("loopx_external_domain_capability_request_v1", {})


@pytest.mark.req("M071")
def test_only_what_the_operation_asks_for_is_granted_whatever_the_manifest_declares() -> None:
    made = answering(world())

    made.invoke()

    (launch,) = made.processes.launches
    assert launch.grants is not None
    assert (launch.grants.permissions, launch.grants.references) == (["fs.read:repo"], {"repo": "/made/up/here"})


@given(INPUTS, INPUTS)
def test_the_invocation_id_says_which_call_it_is(first: dict[str, Any], second: dict[str, Any]) -> None:
    """invoke_deterministic_id (case 115)"""
    made = world()

    ids = [made.invoke(request=json.dumps(one).encode(), execute=False)["invocation_id"] for one in (first, second)]

    same = json.dumps(first, sort_keys=True) == json.dumps(second, sort_keys=True)
    assert (ids[0] == ids[1]) == same
    assert ids[0].startswith("capability-")
    assert len(ids[0]) == len("capability-") + 24


def test_another_binding_operation_or_reference_is_another_invocation() -> None:
    """invoke_deterministic_id (case 115)"""
    made = world(operation("inspect"), operation("list"))
    made.bind(goal_id="g2", operations=["inspect", "list"])

    def name(of: World = made, **settings: Any) -> str:
        return str(of.invoke(execute=False, **settings)["invocation_id"])

    narrower = world(operation("inspect"), operation("list"))
    narrower.bind(operations=["inspect"])
    ids = [
        name(),
        name(goal_id="g2"),
        name(operation_id="list"),
        name(references={"repo": "there"}),
        name(narrower),
    ]
    assert len(set(ids)) == len(ids)
    assert ids[0] == name(world(operation("inspect"), operation("list")))


@pytest.mark.parametrize(
    ("settings", "code"),
    [
        ({"goal_id": "g2"}, "binding_missing"),
        ({"capability_id": "other"}, "binding_missing"),
        ({"operation_id": "list"}, "operation_not_bound"),
        ({"operation_id": "unheard-of"}, "operation_unknown"),
    ],
    ids=["wrong goal", "wrong capability", "not enabled", "unknown"],
)
@pytest.mark.parametrize("execute", [False, True])
@pytest.mark.req("M071")
def test_what_the_goal_is_not_bound_to_is_refused(settings: dict[str, Any], code: str, execute: bool) -> None:
    """invoke_operation_not_enabled / wrong goal / wrong capability (case 114)"""
    made = world(operation("inspect"), operation("list"))
    made.bind(operations=["inspect"])

    assert refused_before_a_start(made, lambda: made.invoke(**settings, execute=execute)) == code


@pytest.mark.req("M071")
@pytest.mark.parametrize("execute", [False, True])
@pytest.mark.parametrize("moved", ["revision", "profile", "operation", "gone"])
def test_a_provider_that_moved_since_the_binding_is_refused(moved: str, execute: bool) -> None:
    """invoke_drift (case 113)"""
    made = world()
    if moved == "revision":
        made.holding(top=PERMISSIONS, runtime=provides(title="New"), files={"profile.json": profile()})
    elif moved == "profile":
        made.holding("other", top=PERMISSIONS, runtime=IMPLEMENTS.format(id="weather"))
        made.bind(provider_id="other")
        files = {"profile.json": profile(operation("inspect"), operation("list"))}
        made.holding(top=PERMISSIONS, runtime=provides(), files=files)
    elif moved == "operation":
        made.holding(top=PERMISSIONS, runtime=provides(), files={"profile.json": profile(operation("list"))})
    else:
        made.store.data = None

    assert refused_before_a_start(made, lambda: made.invoke(execute=execute)) == "binding_drift"


@pytest.mark.req("M051")
@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"enabled": False}, "extension_disabled"),
        ({"doctor_verified_revision": None, "doctor_verified_entrypoint_identity": None}, "doctor_required"),
    ],
    ids=["disabled", "never proved"],
)
def test_a_bound_provider_that_is_off_fails_closed_with_the_reason(change: dict[str, Any], code: str) -> None:
    made = world()
    made.holding(top=PERMISSIONS, runtime=provides(), files={"profile.json": profile()}, pinned=PLUGINS, **change)

    assert refused_before_a_start(made, made.invoke) == code


@pytest.mark.req("M051")
def test_a_provider_whose_code_changed_is_stale() -> None:
    made = world()
    made.packages.programs["/made/up/bin/provider"] = "second"

    assert refused_before_a_start(made, made.invoke) == "readiness_stale"


@pytest.mark.req("X17")
def test_a_command_that_no_package_carries_any_more_is_refused() -> None:
    made = world()
    made.packages.is_owned = False

    assert refused_before_a_start(made, made.invoke) == "provider_unowned"


@pytest.mark.req("X10")
@pytest.mark.parametrize("execute", [False, True])
def test_what_writes_to_the_outside_never_runs_directly(execute: bool) -> None:
    """invoke_external_write_direct (case 118)"""
    made = world(operation("send", effect=EXTERNAL_WRITE))

    code = refused_before_a_start(made, lambda: made.invoke(operation_id="send", execute=execute))

    assert code == "operations_unavailable"
    assert made.plugins.called == []


@pytest.mark.parametrize("references", [{}, {"repo": "here", "more": "there"}, {"other": "here"}, {"repo": "gone"}])
@pytest.mark.req("M071")
def test_references_are_exactly_those_of_the_operation(references: dict[str, str]) -> None:
    made = world()

    assert refused_before_a_start(made, lambda: made.invoke(references=references)) == "reference_invalid"


def test_an_operation_whose_permission_names_no_reference_takes_none() -> None:
    made = world(operation(permission="note.read"))

    assert refused_before_a_start(made, made.invoke) == "reference_invalid"
    assert made.invoke(references={}, execute=False)["context_ref_count"] == 0


@pytest.mark.parametrize(("pointer", "shown"), [("/limit", " /limit: "), ("", " /: ")], ids=["inside", "the whole"])
@pytest.mark.parametrize("execute", [False, True])
def test_an_input_that_breaks_its_schema_is_refused_with_where(execute: bool, pointer: str, shown: str) -> None:
    made = world()
    made.judging.verdict = [{"pointer": pointer, "message": "is not a number"}]

    said = refusal_of(lambda: made.invoke(execute=execute))

    assert (said.code, said.blocks["violations"]) == ("request_schema", made.judging.verdict)
    assert shown in said.diagnostic.summary
    assert made.processes.launches == []


def test_an_input_that_cannot_be_judged_is_refused() -> None:
    made = world()
    made.judging.verdict = None

    assert refused_before_a_start(made, made.invoke) == "request_schema"


def test_an_input_whose_schema_cannot_be_used_is_refused_and_the_row_says_of_the_whole() -> None:
    made = world()
    made.judging.error = SchemaError("profile.json", "it refers to what is not there")

    said = refusal_of(lambda: made.invoke(execute=False))

    (row,) = cast("list[dict[str, str]]", said.blocks["violations"])
    assert (said.code, row["pointer"]) == ("request_schema", "")
    assert "it refers to what is not there" in row["message"]


@pytest.mark.req("X10")
def test_the_domain_check_is_asked_about_the_request_before_there_is_an_envelope() -> None:
    made = answering(world())

    made.invoke()

    (asked,) = made.plugins.asked
    assert made.plugins.called == [("probe-me", "loopx_check_invocation")]
    assert ENVELOPE_KEY not in asked["request"]
    assert asked["request"]["operation"] == "inspect"


@pytest.mark.req("X10")
def test_an_earlier_state_with_a_read_that_may_write_binds_and_calls_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    writing = operation(permission="fs.write:repo")
    with monkeypatch.context() as earlier:  # a release that took such profiles, and bound them
        earlier.setattr("loopx_host.registry.profile_rules.may_write", lambda _: False)
        earlier.setattr("loopx_host.lifecycle.goals.capability_providers.may_write", lambda _: False)
        made = world(writing)

    assert refused_before_a_start(made, made.invoke) == "effect_contradicted"
    assert refused_before_a_start(made, lambda: made.bind(goal_id="g2")) == "effect_contradicted"
