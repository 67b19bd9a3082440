"""`capability invoke` and the package's own check: it narrows or denies, and never widens."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest

from loopx_host.core.errors import Refused, refusal
from loopx_host.lifecycle.goals.envelope import ENVELOPE_KEY, make_envelope
from loopx_host.lifecycle.goals.governed_call import sealed_request
from tests.support.fakes import World, code_of
from tests.support.invocations import answering, world


def refused_before_a_start(made: World, call: Callable[[], object]) -> str:
    code = code_of(call)
    assert made.processes.launches == []
    return code


@pytest.fixture
def envelopes(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The actions of the envelopes that were made."""
    made: list[str] = []

    def noted(request: dict[str, Any], **settings: Any) -> dict[str, Any]:
        made.append(settings["action"])
        return dict(make_envelope(request, **settings))

    monkeypatch.setattr("loopx_host.lifecycle.goals.envelope.make_envelope", noted)
    return made


@pytest.mark.req("X10")
def test_an_envelope_is_made_for_a_call_that_nobody_denies(envelopes: list[str]) -> None:
    answering(world()).invoke()

    assert set(envelopes) == {"capability.invoke:weather.inspect"}


@pytest.mark.req("X10", "M032")
def test_a_denial_leaves_neither_envelope_nor_start(envelopes: list[str]) -> None:
    made = world()
    made.plugins.answers = [{"deny": "not \x1b[31mnow"}]

    with pytest.raises(Refused) as caught:
        made.invoke()

    assert caught.value.code == "domain_check_denied"
    assert "\x1b" not in caught.value.diagnostic.summary
    assert (envelopes, made.processes.launches) == ([], [])


@pytest.mark.req("X10", "M071")
@pytest.mark.parametrize(
    "change",
    [
        {"input": {"more": 1}},
        {"goal_id": "g2"},
        {"operation": "erase"},
        {"context_refs": []},
        {"agent": "a1"},
        {"invocation_id": "capability-" + "0" * 24},
    ],
    ids=str,
)
def test_a_request_that_is_not_the_one_derived_anew_is_not_sent(
    change: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    made = answering(world())

    def widening(_activation: object, _hook: str, arguments: dict[str, Any]) -> list[Any]:
        arguments["request"].update(change)
        return []

    monkeypatch.setattr(made.plugins, "call", widening)

    assert refused_before_a_start(made, made.invoke) == "envelope_invalid"


@pytest.mark.req("X10", "M071")
@pytest.mark.parametrize(
    "change", [{"scope": {"goal_id": "g2"}}, {"action": "capability.invoke:weather.other"}, {"request_digest": "x"}]
)
def test_an_envelope_that_is_not_the_one_derived_anew_is_not_sent(
    change: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    made = answering(world())

    def sealed(call: Any, request: Any) -> dict[str, Any]:
        whole = {**sealed_request(call, request)}
        return {**whole, ENVELOPE_KEY: {**whole[ENVELOPE_KEY], **change}}  # type: ignore[dict-item]

    monkeypatch.setattr("loopx_host.lifecycle.goals.invoke.sealed_request", sealed)

    assert refused_before_a_start(made, made.invoke) == "envelope_invalid"


@pytest.mark.req("X10")
def test_one_denial_among_several_answers_denies() -> None:
    made = world()
    made.plugins.answers = [{"timeout_seconds": 5}, {"deny": "no"}]

    assert refused_before_a_start(made, made.invoke) == "domain_check_denied"


@pytest.mark.req("X10", "M032")
@pytest.mark.parametrize(
    "answer",
    [
        True,
        "allow",
        [],
        {},
        {"allow": True},
        {"deny": None},
        {"deny": True},
        {"deny": "no", "timeout_seconds": 1},
        {"timeout_seconds": 0},
        {"timeout_seconds": -1},
        {"timeout_seconds": True},
        {"timeout_seconds": "5"},
        {"timeout_seconds": None},
        {"timeout_seconds": math.nan},
        {"timeout_seconds": 5, "scope": {}},
        {"permissions": ["net.connect"]},
        {"request": {}},
        {"execution_envelope": {}},
    ],
    ids=str,
)
def test_an_answer_that_does_more_than_narrow_is_refused(answer: object, envelopes: list[str]) -> None:
    made = world()
    made.plugins.answers = [answer]

    assert refused_before_a_start(made, made.invoke) == "plugin_hook_failed"
    assert envelopes == []


@pytest.mark.req("X10")
def test_a_domain_check_that_fails_is_a_refusal(envelopes: list[str]) -> None:
    made = world()
    made.plugins.refusal = refusal("plugin_hook_failed", "probe-me", "it raised", hint="", next_command=("x",))

    assert refused_before_a_start(made, made.invoke) == "plugin_hook_failed"
    assert envelopes == []


@pytest.mark.req("M032")
@pytest.mark.parametrize(
    ("answers", "seconds"),
    [
        ([], 20.0),
        ([{"timeout_seconds": 5}], 5.0),
        ([{"timeout_seconds": 0.5}], 0.5),
        ([{"timeout_seconds": 7}, {"timeout_seconds": 3}], 3.0),
        ([{"timeout_seconds": 21}], 20.0),
        ([{"timeout_seconds": 10**400}], 20.0),
        ([{"timeout_seconds": math.inf}], 20.0),
    ],
    ids=["none", "shorter", "a fraction", "the shortest", "longer", "a huge number", "no end"],
)
def test_a_domain_check_shortens_the_time_and_never_lengthens_it(answers: list[Any], seconds: float) -> None:
    made = answering(world())
    made.plugins.answers = answers

    made.invoke()

    (launch,) = made.processes.launches
    assert launch.limits.timeout_seconds == seconds


def test_without_activated_hooks_no_package_is_asked() -> None:
    made = answering(world(pinned={}))

    made.invoke()

    assert made.plugins.called == []
