"""A view that is made for a goal: the same law as for a governed call, and no other way to open a reference."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from loopx_host.documents import effects
from loopx_host.documents.sections_view import ID as SECTIONS_VIEW
from loopx_host.lifecycle.goals.envelope import ENVELOPE_KEY, check_envelope, expected_by_provider
from tests.support.capabilities import EXTERNAL_WRITE, operation, profile, provides
from tests.support.fakes import World, code_of, refusal_of
from tests.support.publications import SURFACE, answer, file_of

PERMISSIONS = 'permissions = ["fs.read:repo", "fs.read:notes", "fs.write:repo", "note.read"]'
PLUGINS = {"plugins": [{"name": "probe-me", "value": "made_up.plugin"}]}
READS_NOTES = operation("list", permission="fs.read:notes")
WRITES = operation("send", permission="fs.write:repo", effect=EXTERNAL_WRITE)
FOR_GOAL: dict[str, Any] = {"goal_id": "g1", "references": {"repo": "here"}}


def world(*operations: dict[str, Any], bound: tuple[str, ...] = ("inspect",)) -> World:
    """Return a world with one ready provider that has a surface; goal g1 is bound to some of its operations."""
    made = World(answer())
    surface = SURFACE.format(schema=SECTIONS_VIEW, visibility="public-safe")
    files = {"profile.json": profile(*(operations or (operation(), READS_NOTES, WRITES)))}
    made.holding(top=PERMISSIONS, runtime=provides() + surface, files=files, pinned=PLUGINS)
    if bound:
        made.bind(operations=list(bound))
    made.plugins.called.clear()
    made.plugins.asked.clear()
    return made


def refused(made: World, call: Callable[[], object]) -> str:
    code = code_of(call)
    assert (made.processes.launches, made.projections.published) == ([], {})
    return code


@pytest.mark.req("X10")
@pytest.mark.parametrize("execute", [True, False], ids=["executed", "preview"])
def test_a_reference_without_a_goal_is_refused_and_leads_to_the_capability_to_bind(execute: bool) -> None:
    made = world()

    said = refusal_of(lambda: made.publish(references={"repo": "here"}, execute=execute))

    assert (said.code, said.diagnostic.next_command) == ("goal_required", ("capability", "show", "weather"))
    assert (made.processes.launches, made.plugins.called) == ([], [])


@pytest.mark.req("X10")
@pytest.mark.parametrize("execute", [True, False], ids=["executed", "preview"])
@pytest.mark.parametrize(
    ("code", "bound", "asked"),
    [
        ("binding_missing", (), FOR_GOAL),
        ("binding_missing", ("inspect",), {**FOR_GOAL, "goal_id": "g2"}),
        ("operation_not_bound", ("list",), FOR_GOAL),
        ("reference_invalid", ("inspect",), {"goal_id": "g1", "references": {"other": "here"}}),
        ("reference_invalid", ("inspect",), {"goal_id": "g1", "references": {"repo": "a", "notes": "b"}}),
        ("reference_invalid", ("inspect",), {"goal_id": "g1"}),
    ],
)
def test_what_no_bound_operation_opens_is_refused(
    code: str, bound: tuple[str, ...], asked: dict[str, Any], execute: bool
) -> None:
    made = world(bound=bound)

    assert refused(made, lambda: made.publish(**asked, execute=execute)) == code


@pytest.mark.req("X10")
def test_an_operation_that_writes_opens_nothing_for_a_view() -> None:
    made = world(operation("inspect", permission="note.read"), WRITES, bound=("inspect", "send"))

    assert refused(made, lambda: made.publish(**FOR_GOAL)) == "reference_invalid"


@pytest.mark.req("X10")
@pytest.mark.parametrize("execute", [True, False], ids=["executed", "preview"])
def test_a_drifted_binding_opens_nothing(execute: bool) -> None:
    made = world()
    document = json.loads(made.bindings.data or b"")
    document["bindings"][0]["provider"]["profile_digest"] = "sha256:" + "0" * 64
    made.bindings.data = json.dumps(document).encode()

    assert refused(made, lambda: made.publish(**FOR_GOAL, execute=execute)) == "binding_drift"


@pytest.mark.req("X10")
def test_a_view_for_a_goal_is_a_governed_call_of_the_operation_that_opens_its_reference() -> None:
    made = world()

    receipt = made.publish(request=b'{"publish": "board"}', **FOR_GOAL)

    launch = made.processes.launches[0]
    request = json.loads(launch.stdin)
    told = {name: value for name, value in launch.env_set.items() if name.startswith("LOOPX_EXPECTED_")}
    check_envelope(request[ENVELOPE_KEY], expected_by_provider(request, "probe-me", told))
    assert (request["surface"], request["input"], request["operation"]) == ("board", {"publish": "board"}, "inspect")
    assert request["context_refs"] == [{"name": "repo", "kind": "path", "path": "/made/up/here"}]
    assert request[ENVELOPE_KEY]["action"] == "capability.publish:weather.inspect"
    assert request[ENVELOPE_KEY]["scope"]["surface"] == "board"
    assert (launch.grants.permissions, launch.grants.references) == (["fs.read:repo"], {"repo": "/made/up/here"})
    assert receipt["goal_binding"]["goal_id"] == "g1"
    assert receipt["goal_binding"]["operation"] == "inspect"
    assert receipt["effects"] == {**effects.of_nothing(), "provider_invoked": True, "loopx_state_written": True} | {
        "basis": "declared"
    }
    assert file_of(made)["payload"]


@pytest.mark.req("X10")
def test_the_domain_check_is_asked_and_may_deny_or_shorten() -> None:
    made = world()
    made.plugins.answers = [{"deny": "not today"}]
    assert refused(made, lambda: made.publish(**FOR_GOAL)) == "domain_check_denied"
    assert made.plugins.called == [("probe-me", "loopx_check_invocation")]
    assert made.plugins.asked[0]["request"]["surface"] == "board"

    made.plugins.answers = [{"timeout_seconds": 3}]
    made.publish(**FOR_GOAL)

    assert made.processes.launches[0].limits.timeout_seconds == 3


@pytest.mark.req("X10", "M071")
@pytest.mark.parametrize(
    ("widened", "code"),
    [
        ({"input": {"publish": "board", "more": 1}}, "envelope_invalid"),
        ({"context_refs": []}, "envelope_invalid"),
        ({"goal_id": "g2"}, "envelope_invalid"),
        (None, "binding_missing"),
    ],
    ids=["input", "references", "goal", "unbound"],
)
def test_what_changed_while_the_domain_check_was_asked_is_not_published(
    widened: dict[str, Any] | None, code: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = world()

    def checking(_activation: object, _hook: str, arguments: dict[str, Any]) -> list[Any]:
        if widened is None:
            made.bindings.data = None
        else:
            arguments["request"].update(widened)
        return []

    monkeypatch.setattr(made.plugins, "call", checking)

    assert refused(made, lambda: made.publish(**FOR_GOAL)) == code


@pytest.mark.req("X10")
def test_an_earlier_state_with_a_read_that_may_write_publishes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as earlier:  # a release that took such profiles, and bound them
        earlier.setattr("loopx_host.registry.profile_rules.may_write", lambda _: False)
        earlier.setattr("loopx_host.lifecycle.goals.capability_providers.may_write", lambda _: False)
        made = world(operation(permission="fs.write:repo"))

    assert refused(made, lambda: made.publish(**FOR_GOAL)) == "effect_contradicted"


@pytest.mark.req("X10", "X2")
def test_a_plan_binds_the_binding_that_a_view_is_made_under() -> None:
    made = world()
    plan = made.publish(**FOR_GOAL, execute=False)["plan"]
    made.bind(operations=["inspect", "list"])

    assert refused(made, lambda: made.publish(**FOR_GOAL, plan=plan)) == "plan_changed"


def test_a_preview_starts_nothing() -> None:
    made = world()

    receipt = made.publish(**FOR_GOAL, execute=False)

    assert (receipt["status"], receipt["effects"]) == ("ready", effects.of_nothing())
    assert (made.processes.launches, made.plugins.called, made.projections.published) == ([], [], {})


@pytest.mark.parametrize("execute", [True, False], ids=["executed", "preview"])
@pytest.mark.parametrize("asked", [FOR_GOAL, {"references": {"repo": "here"}}], ids=["goal", "no goal"])
def test_a_bare_host_publishes_nothing_for_a_goal(asked: dict[str, Any], execute: bool) -> None:
    made = world()
    made.is_off = True

    assert refused(made, lambda: made.publish(execute=execute, **asked)) == "extensions_off"
