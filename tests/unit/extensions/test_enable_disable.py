"""The verbs `enable`, `disable`, `uninstall` and `history` over ports in memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from loopx_host.core.limits import SYSTEM_PATH
from loopx_host.lifecycle.extensions.candidate import Candidate
from loopx_host.lifecycle.extensions.disable import disable
from loopx_host.lifecycle.extensions.enable import enable
from loopx_host.lifecycle.extensions.history import history
from loopx_host.lifecycle.extensions.plan import plan_digest
from loopx_host.lifecycle.extensions.requests import ChangeRequest
from loopx_host.lifecycle.extensions.uninstall import uninstall
from tests.support.fakes import NOW, PLATFORM, PROGRAM, Script, World, code_of, refusal_of

Verb = Callable[[ChangeRequest, Any], Any]
VERBS: dict[str, Verb] = {
    "enable": enable,
    "disable": disable,
    "uninstall": uninstall,
}


def held(**entry: Any) -> World:
    """Return a world with one extension, and its revision in `revision`."""
    return World().holding(**entry)


def revision(world: World) -> str:
    return str(world.raw()["active_revision"])


# --- enable --------------------------------------------------------------------------------------------------


def test_enabling_probes_and_then_sets_the_bit() -> None:
    world = held(enabled=False, proof=None)

    receipt = world.change(enable)

    raw = world.raw()
    assert receipt.pop("plan").startswith("sha256:")
    assert (receipt["doctor"]["status"], receipt["doctor"]["version"]) == ("ready", "1.0")
    assert receipt == {
        "ok": True,
        "schema_version": "loopx_extension_operation_v0",
        "operation": "enable",
        "dry_run": False,
        "changed": True,
        "would_change": True,
        "extension_id": "probe-me",
        "enabled": True,
        "active_revision": revision(world),
        "doctor": receipt["doctor"],
        "at": NOW,
        "duration_ms": 7,
    }
    assert (raw["enabled"], raw["proof"]["verified_at"], raw["proof"]["platform"]) == (True, NOW, PLATFORM)
    assert raw["history"] == [{"at": NOW, "operation": "enable", "revision": revision(world), "failure_kind": None}]
    assert [launch.argv for launch in world.processes.launches] == [[PROGRAM, "--doctor"]]


def test_enabling_what_is_enabled_probes_it_again_and_changes_no_bit() -> None:
    world = held()
    world.packages.programs[PROGRAM] = "second"

    receipt = world.change(enable)

    assert (receipt["changed"], receipt["would_change"], receipt["enabled"]) == (False, False, True)
    assert len(world.processes.launches) == 1
    assert world.run()["executed"] is True


@pytest.mark.parametrize("enabled", [True, False])
def test_a_failed_enable_clears_the_proof_and_leaves_the_bit(enabled: bool) -> None:
    """Contract section 5, enable: failure clears the proof and stays disabled."""
    world = held(enabled=enabled)
    world.processes.script = Script(exit_code=3)

    refusal = refusal_of(lambda: world.change(enable))

    raw = world.raw()
    assert refusal.code == "doctor_failed"
    assert refusal.diagnostic.next_command == ("extension", "enable", "probe-me", "--execute")
    assert isinstance(refusal.blocks["doctor"], dict)
    assert refusal.blocks["doctor"]["failure_kind"] == "exit_nonzero"
    assert (raw["enabled"], raw["doctor_verified_revision"]) == (enabled, None)
    assert raw["proof"]["failure"]["kind"] == raw["history"][0]["failure_kind"] == "exit_nonzero"


def test_a_preview_of_enabling_starts_nothing() -> None:
    world = held(enabled=False)
    before = world.store.data

    preview = world.change(enable, execute=False)

    assert (world.processes.launches, world.store.data) == ([], before)
    assert (preview["dry_run"], preview["changed"], preview["would_change"]) == (True, False, True)
    assert (preview["enabled"], preview["would_refuse"]) == (False, None)
    assert (preview["doctor"]["status"], preview["doctor"]["available"]) == ("probe_required", True)
    assert preview["next_command"] == ("extension", "enable", "probe-me", "--execute")
    assert world.change(enable, plan=preview["plan"])["changed"] is True


def test_a_preview_of_enabling_what_is_enabled_shows_it_enabled() -> None:
    preview = held().change(enable, execute=False)

    assert (preview["enabled"], preview["would_change"]) == (True, False)


def test_a_launcher_that_is_gone_is_shown_by_a_preview_and_refused_when_executed() -> None:
    world = held(enabled=False)
    world.packages.programs.clear()
    before = world.store.data

    preview = world.change(enable, execute=False)
    refusal = refusal_of(lambda: world.change(enable))

    assert preview["would_refuse"]["code"] == refusal.code == "entrypoint_missing"
    assert preview["doctor"]["available"] is False
    assert refusal.blocks["searched"] == [PROGRAM]
    assert world.store.data == before


def test_an_entry_of_a_v0_tool_is_pinned_when_enabling_proves_it() -> None:
    world = held(enabled=False, pinned={"launcher": None})

    world.change(enable)

    (kept,) = world.raw()["revisions"]
    assert kept["launcher"] == {"kind": "entrypoint", "path": PROGRAM}
    assert kept["search_path"] == [*SYSTEM_PATH]


def test_an_entry_of_a_v0_tool_stays_without_a_pin_when_enabling_fails() -> None:
    world = held(enabled=False, pinned={"launcher": None})
    world.processes.script = Script(exit_code=3)

    assert code_of(lambda: world.change(enable)) == "doctor_failed"
    assert world.raw()["revisions"][0]["launcher"] is None


def test_a_pin_is_used_and_not_moved_by_enabling() -> None:
    world = held(enabled=False)
    world.packages.bin = "/made/up/elsewhere"
    world.packages.programs["/made/up/elsewhere/provider"] = "first"

    world.change(enable)

    assert world.processes.launches[0].argv[0] == PROGRAM
    assert world.raw()["revisions"][0]["launcher"]["path"] == PROGRAM


# --- disable -------------------------------------------------------------------------------------------------


def test_disabling_clears_the_bit_and_nothing_else() -> None:
    world = held()
    before = world.raw()

    receipt = world.change(disable)

    event = {"at": NOW, "operation": "disable", "revision": revision(world)}
    assert receipt.pop("plan").startswith("sha256:")
    assert receipt == {
        "ok": True,
        "schema_version": "loopx_extension_operation_v0",
        "operation": "disable",
        "dry_run": False,
        "changed": True,
        "would_change": True,
        "extension_id": "probe-me",
        "enabled": False,
        "active_revision": revision(world),
        "at": NOW,
    }
    assert world.raw() == {**before, "enabled": False, "history": [event]}


def test_disabling_twice_changes_nothing_the_second_time() -> None:
    world = held(enabled=False)
    before = world.store.data

    receipt = world.change(disable)

    assert (receipt["changed"], receipt["would_change"], receipt["enabled"]) == (False, False, False)
    assert receipt["at"] == NOW
    assert world.store.data == before


def test_a_preview_of_disabling_changes_nothing() -> None:
    world = held()
    before = world.store.data

    preview = world.change(disable, execute=False)

    assert (preview["dry_run"], preview["changed"], preview["would_change"]) == (True, False, True)
    assert preview["enabled"] is True
    assert preview["next_command"] == ("extension", "disable", "probe-me", "--execute")
    assert world.store.data == before
    assert world.change(disable, plan=preview["plan"])["changed"] is True


def test_disabling_needs_no_program() -> None:
    world = held()
    world.packages.programs.clear()

    assert world.change(disable)["changed"] is True


# --- uninstall and history -----------------------------------------------------------------------------------


def test_uninstalling_takes_entry_projections_and_unused_schemas_away() -> None:
    world = held().holding("other")
    world.store.schemas = {"0" * 64: b"{}"}
    world.projections.published = {("probe-me", "board"): b"{}", ("other", "board"): b"{}"}
    gone = revision(world)

    receipt = world.change(uninstall)

    assert receipt.pop("plan").startswith("sha256:")
    assert receipt == {
        "ok": True,
        "schema_version": "loopx_extension_operation_v0",
        "operation": "uninstall",
        "dry_run": False,
        "changed": True,
        "extension_id": "probe-me",
        "version": "1.0",
        "revision": None,
        "previous_revision": gone,
        "enabled": None,
        "doctor": None,
        "rollback_available": False,
        "revisions": [gone],
        "at": NOW,
    }
    assert list(world.store.document["extensions"]) == ["other"]
    assert list(world.projections.published) == [("other", "board")]
    assert world.store.schemas == {}


def test_a_preview_of_uninstalling_changes_nothing() -> None:
    world = held()
    world.projections.published = {("probe-me", "board"): b"{}"}
    before = world.store.data

    preview = world.change(uninstall, execute=False)

    assert (preview["dry_run"], preview["changed"], preview["revision"]) == (True, False, revision(world))
    assert preview["next_command"] == ("extension", "uninstall", "probe-me", "--execute")
    assert (world.store.data, len(world.projections.published)) == (before, 1)
    assert world.change(uninstall, plan=preview["plan"])["changed"] is True


def test_history_is_what_was_done_newest_first() -> None:
    world = held()
    world.change(disable)
    world.change(enable)

    document = history("probe-me", world)

    assert document == {
        "ok": True,
        "schema_version": "loopx_extension_history_v0",
        "extension_id": "probe-me",
        "active_revision": revision(world),
        "history": world.raw()["history"],
    }
    assert [event["operation"] for event in document["history"]] == ["enable", "disable"]


def test_the_history_of_what_is_not_installed_is_refused() -> None:
    assert code_of(lambda: history("probe-me", World())) == "extension_not_installed"


# --- all of them ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("execute", [True, False], ids=["executed", "preview"])
def test_what_is_not_installed_is_refused(verb: str, execute: bool) -> None:
    refusal = refusal_of(lambda: World().change(VERBS[verb], execute=execute))

    assert (refusal.code, refusal.diagnostic.next_command) == ("extension_not_installed", ("extension", "list"))


@pytest.mark.parametrize("verb", VERBS)
def test_a_bad_entry_is_refused_and_leads_to_repair(verb: str) -> None:
    world = held(enabled=1)

    refusal = refusal_of(lambda: world.change(VERBS[verb]))

    assert refusal.code == "state_entry_invalid"
    assert refusal.diagnostic.next_command == ("extension", "repair", "--execute")


@pytest.mark.parametrize("verb", VERBS)
def test_another_plan_is_refused_with_the_present_one_and_its_preview(verb: str) -> None:
    world = held()
    before = world.store.data
    plan = world.change(VERBS[verb], execute=False)["plan"]

    refusal = refusal_of(lambda: world.change(VERBS[verb], plan="sha256:0"))

    assert (refusal.code, refusal.blocks["plan"]) == ("plan_changed", plan)
    assert refusal.diagnostic.next_command == ("extension", verb, "probe-me")
    assert world.store.data == before


def test_no_two_of_them_have_the_same_plan() -> None:
    assert len({held().change(verb, execute=False)["plan"] for verb in VERBS.values()}) == len(VERBS)


@pytest.mark.parametrize("verb", VERBS)
def test_an_entry_that_moved_meanwhile_is_left_alone(verb: str) -> None:
    world = held()
    world.store.meanwhile = lambda: world.holding(history=[{"at": NOW}])

    assert code_of(lambda: world.change(VERBS[verb])) == "state_moved"
    assert world.raw()["history"] == [{"at": NOW}]


def test_the_plan_of_enabling_binds_the_revision_that_it_leads_to() -> None:
    """Extension-formats, *Plan digest*: to_revision is the manifest that is active afterwards."""
    world = held(enabled=False)
    entry, programs = world.entry(), world.packages
    runtime = entry.manifest.runtime
    assert runtime is not None
    candidate = Candidate.pinned(entry, runtime, programs)

    preview = world.change(enable, execute=False)

    assert preview["plan"] == plan_digest("enable", "probe-me", entry, to=entry.manifest, candidate=candidate)


def test_a_doctor_that_failed_tells_what_was_started() -> None:
    program = held(enabled=False)
    module = held(enabled=False, module="provider.cli")
    for world in (program, module):
        world.processes.script = Script(exit_code=3)

    said = [refusal_of(lambda: program.change(enable)), refusal_of(lambda: module.change(enable))]

    assert [one.diagnostic.subject for one in said] == ["probe-me", "probe-me"]
    assert [f"{PROGRAM} -m provider.cli" in one.diagnostic.summary for one in said] == [False, True]
    assert all(PROGRAM in one.diagnostic.summary for one in said)


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("enabled", [True, False])
def test_of_two_commands_that_do_the_same_at_once_both_succeed_and_one_says_that_it_changed(
    verb: str, enabled: bool
) -> None:
    alone, world = held(enabled=enabled), held(enabled=enabled)
    alone.change(VERBS[verb])
    receipts: list[Any] = []
    world.store.meanwhile = lambda: receipts.append(world.change(VERBS[verb]))

    receipts.append(world.change(VERBS[verb]))

    changes = verb == "uninstall" or enabled == (verb == "disable")
    assert [receipt["changed"] for receipt in receipts if receipt["changed"]] == [True] * changes
    assert {receipt["extension_id"] for receipt in receipts} == {"probe-me"}
    assert world.store.document == alone.store.document
