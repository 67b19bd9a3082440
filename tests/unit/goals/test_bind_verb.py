"""The verbs `capability bind` and `unbind` over ports in memory: who is bound, what is compared, what is written."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from loopx_host.core.errors import Refused, refusal
from loopx_host.lifecycle.goals.bindings import Bindings, binding_digest
from tests.support.capabilities import EXTERNAL_WRITE, IMPLEMENTS, operation, profile, provides
from tests.support.fakes import World, code_of, refusal_of

if TYPE_CHECKING:
    from loopx_host.documents.binding import Binding

PERMISSIONS = 'permissions = ["fs.read:repo"]'
PLUGINS = {"plugins": [{"name": "probe-me", "value": "made_up.plugin"}]}
CONTRACTS = "loopx_capability_contracts"


def world(
    *operations: dict[str, Any], extension_id: str = "probe-me", made: World | None = None, **rest: Any
) -> World:
    """Return a world with one ready provider of the capability `weather`."""
    files = {"profile.json": profile(*operations)}
    settings = {"top": PERMISSIONS, "runtime": provides(), "files": files, **rest}
    return (made or World()).holding(extension_id, **settings)


def implemented_by(*ids: str) -> World:
    """Return a world where one extension declares the capability and others implement it too."""
    made = world()
    for one in ids:
        made.holding(one, top=PERMISSIONS, runtime=IMPLEMENTS.format(id="weather"))
    return made


def found(made: World) -> Binding | None:
    return Bindings.parse(made.bindings.data, "").find("g1", "weather")


def contract(**fields: Any) -> list[dict[str, Any]]:
    rows = [{key: one for key, one in operation().items() if key != "required_permission"}]
    return [{"id": "weather", "title": "Weather", "operations": rows, **fields}]


def test_a_preview_writes_nothing_and_asks_no_package() -> None:
    """bind_preview_execute_repeat (case 112)"""
    made = world(pinned=PLUGINS)

    receipt = made.bind(execute=False)

    assert (receipt["status"], receipt["changed"], receipt["dry_run"]) == ("ready", False, True)
    command = ("capability", "bind", "weather", "--goal-id", "g1", "--operation", "inspect")
    assert receipt["next_command"] == (*command, "--execute")
    assert made.bindings.data is None
    assert made.plugins.called == []


def test_a_binding_pins_revision_and_profile_of_the_provider() -> None:
    """bind_preview_execute_repeat (case 112)"""
    made = world()
    entry = made.entry()

    receipt = made.bind()

    assert receipt["status"] == "written"
    assert receipt["binding"] == found(made)
    assert receipt["binding"]["provider"] == {
        "extension_id": "probe-me",
        "revision": entry.active.id,
        "profile_digest": entry.manifest.capabilities[0]["integration_profile"]["digest"],
    }
    assert receipt["binding_digest"] == binding_digest(receipt["binding"])
    assert (receipt["turn_required"], receipt["quota_spent"]) == (False, False)


def test_binding_again_changes_nothing_and_asks_no_package() -> None:
    """bind_preview_execute_repeat (case 112)"""
    made = world()
    made.bind()
    before = made.bindings.data

    receipt = made.bind()

    assert (receipt["status"], receipt["changed"]) == ("no_change", False)
    assert (receipt["next_command"], made.bind(execute=False)["next_command"]) == (None, None)
    assert made.bindings.data == before


def test_binding_to_another_set_of_operations_replaces_the_binding() -> None:
    made = world(operation("inspect"), operation("list"))
    made.bind()

    made.bind(operations=["list", "inspect"])

    bound = found(made)
    assert bound is not None
    assert bound["operations"] == ["inspect", "list"]


def test_the_plan_of_a_preview_is_that_of_its_execution_and_of_no_other() -> None:
    made = world(operation("inspect"), operation("list"))
    plan = made.bind(execute=False)["plan"]
    other = made.bind(operations=["list"], execute=False)["plan"]

    refused = code_of(lambda: made.bind(plan=other))
    receipt = made.bind(plan=plan)

    assert refused == "plan_changed"
    assert receipt["status"] == "written"


@pytest.mark.req("M051")
@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"enabled": False}, "extension_disabled"),
        ({"doctor_verified_revision": None, "doctor_verified_entrypoint_identity": None}, "doctor_required"),
    ],
    ids=["disabled", "never proved"],
)
def test_a_provider_that_is_not_ready_is_not_bound_and_the_reason_is_said(change: dict[str, Any], code: str) -> None:
    made = world(**change)

    with pytest.raises(Refused) as caught:
        made.bind()

    assert caught.value.code == "capability_unavailable"
    assert caught.value.blocks["reason"] == code
    assert caught.value.diagnostic.next_command is not None
    assert made.bindings.data is None


def test_what_nobody_serves_is_unavailable_and_leads_to_the_list() -> None:
    with pytest.raises(Refused) as caught:
        World().bind()

    assert caught.value.code == "capability_unavailable"
    assert caught.value.diagnostic.next_command == ("capability", "list")


def test_a_capability_without_a_profile_cannot_be_bound() -> None:
    made = World().holding(top=PERMISSIONS, runtime=provides(profile=False))

    assert code_of(made.bind) == "capability_unavailable"


def test_two_ready_providers_are_ambiguous_until_one_is_named() -> None:
    """resolve_ambiguous (case 111)"""
    made = implemented_by("other")

    refused = refusal_of(made.bind)
    receipt = made.bind(provider_id="other")

    assert refused.code == "capability_ambiguous"
    assert refused.diagnostic.next_command == ("extension", "disable", "probe-me", "--execute")
    assert receipt["binding"]["provider"]["extension_id"] == "other"


def test_of_two_providers_the_one_that_is_not_disabled_is_taken() -> None:
    """resolve_ambiguous (case 111)"""
    made = world()
    made.holding("other", top=PERMISSIONS, runtime=IMPLEMENTS.format(id="weather"), enabled=False)

    receipt = made.bind()

    assert receipt["binding"]["provider"]["extension_id"] == "probe-me"


def test_one_that_implements_another_protocol_is_no_provider() -> None:
    made = World().holding(
        "owner", top=PERMISSIONS, runtime=provides(), files={"profile.json": profile(protocol="other_v0")}
    )
    made.holding("other", top=PERMISSIONS, runtime=IMPLEMENTS.format(id="weather"))

    assert code_of(lambda: made.bind(provider_id="other")) == "capability_unavailable"


@pytest.mark.req("X17")
def test_a_command_that_no_package_carries_serves_no_capability() -> None:
    made = world()
    made.packages.is_owned = False

    assert code_of(made.bind) == "provider_unowned"
    assert made.bindings.data is None


def test_an_operation_that_the_profile_has_not_is_refused() -> None:
    made = world()

    assert code_of(lambda: made.bind(operations=["inspect", "destroy"])) == "operation_unknown"


@pytest.mark.parametrize("goal", ["g", "g" * 128, "9.a-b_c"])
def test_a_goal_id_may_be_as_long_as_it_may(goal: str) -> None:
    assert world().bind(goal_id=goal, execute=False)["goal_id"] == goal


@pytest.mark.parametrize("goal", ["", "-g", "g\n1", "\x1b[31m", "g\udcff", "\u202eg", "g" * 129], ids=ascii)
@pytest.mark.parametrize("execute", [False, True])
def test_a_goal_id_that_is_no_line_of_plain_text_is_refused(goal: str, execute: bool) -> None:
    made = world()

    assert code_of(lambda: made.bind(goal_id=goal, execute=execute)) == "goal_invalid"
    assert made.bindings.data is None


@pytest.mark.req("M047")
@pytest.mark.parametrize(
    "answers",
    [[], [[]], [contract()], [contract(id="other", operations=[])], [[], contract()]],
    ids=["none", "empty", "the same", "of another capability", "two hooks"],
)
def test_a_contract_that_agrees_or_says_nothing_lets_the_binding_be(answers: list[Any]) -> None:
    made = world(pinned=PLUGINS)
    made.plugins.answers = answers

    receipt = made.bind()

    assert receipt["status"] == "written"
    assert made.plugins.called == [("probe-me", CONTRACTS)]


@pytest.mark.parametrize(
    "operations",
    [[], [{"id": "list", "effect_class": "read_only"}], [{"id": "inspect", "effect_class": EXTERNAL_WRITE}]],
    ids=["none of them", "another", "another effect"],
)
def test_a_provider_that_departs_from_its_contract_is_not_bound(operations: list[Any]) -> None:
    made = world(pinned=PLUGINS)
    made.plugins.answers = [contract(operations=operations)]

    assert code_of(made.bind) == "contract_mismatch"
    assert made.bindings.data is None


@pytest.mark.parametrize(
    "answers",
    [[None], [{}], [[None]], [[{"id": "weather"}]], [contract(operations=None)], [contract(operations=[1])],
     [contract(operations=[{}])], [contract(operations=[{"id": []}])], [contract(id=[])]],
    ids=range(9),
)  # fmt: skip
def test_an_answer_that_is_no_contract_is_refused(answers: list[Any]) -> None:
    made = world(pinned=PLUGINS)
    made.plugins.answers = answers

    said = refusal_of(made.bind)

    assert (said.code, said.diagnostic.subject) == ("plugin_hook_failed", "probe-me")
    assert said.diagnostic.next_command == ("extension", "disable", "probe-me", "--execute")
    assert made.bindings.data is None


@pytest.mark.req("X15")
def test_a_package_whose_hook_fails_is_not_bound() -> None:
    made = world(pinned=PLUGINS)
    made.plugins.refusal = refusal("plugin_hook_failed", "probe-me", "it raised", hint="", next_command=("x",))

    assert code_of(made.bind) == "plugin_hook_failed"
    assert made.bindings.data is None


def test_unbinding_previews_then_takes_one_binding_away() -> None:
    made = world()
    made.bind()
    made.bind(goal_id="g2")

    preview = made.unbind(execute=False)
    before = found(made)
    receipt = made.unbind(plan=preview["plan"])

    assert (preview["status"], before is not None) == ("ready", True)
    assert receipt["status"] == "removed"
    assert found(made) is None
    assert Bindings.parse(made.bindings.data, "").find("g2", "weather") is not None


def test_unbinding_needs_neither_provider_nor_package() -> None:
    made = world()
    made.bind()
    made.store.data = None
    made.packages.programs.clear()

    assert made.unbind()["status"] == "removed"


@pytest.mark.parametrize("execute", [False, True])
def test_unbinding_what_is_not_bound_is_refused(execute: bool) -> None:
    assert code_of(lambda: world().unbind(execute=execute)) == "binding_missing"


def test_a_goal_that_is_not_bound_to_an_operation_is_led_to_the_binding_of_just_that() -> None:
    said = refusal_of(lambda: world().invoke())

    command = ("capability", "bind", "weather", "--goal-id", "g1", "--operation", "inspect")
    assert (said.code, said.diagnostic.next_command) == ("binding_missing", command)
