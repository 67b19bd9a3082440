"""The verb `doctor` over ports in memory: a proof is recorded, a failure clears it, nothing else moves."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from typing import Any

import pytest

from loopx_host.cli.render.doctor import to_text as doctor_text
from loopx_host.cli.render.extension_list import to_text as list_text
from loopx_host.core.canonical import canonical_digest
from loopx_host.core.errors import Interrupted, Refused
from loopx_host.lifecycle.extensions.doctor import doctor
from loopx_host.lifecycle.extensions.host_doctor import host_doctor
from loopx_host.lifecycle.extensions.listing import list_extensions
from tests.support.fakes import NOW, PLATFORM, PROGRAM, Script, World, code_of, refusal_of

FAILING = {
    "exit_nonzero": Script(exit_code=7, stdout=b"secret output", stderr=b"why it failed"),
    "signalled": Script(signal="SIGSEGV"),
    "timeout": Script(lasts=True),
    "start_failed": Script(missing=True),
    "response_too_large": Script(stdout=b"x" * 1_000_001),
    "stderr_too_large": Script(stderr=b"x" * 1_000_001),
}


def test_a_preview_starts_nothing_and_writes_nothing() -> None:
    world = World().holding(proof=None)
    before = world.store.data

    block = world.doctor(execute=False)

    assert (block["ok"], block["status"], block["verified"]) == (True, "probe_required", False)
    assert world.processes.launches == []
    assert world.store.data == before


def test_a_success_records_a_proof_for_what_is_there_now() -> None:
    world = World().holding()
    world.packages.programs[PROGRAM] = "second"

    block = world.doctor()

    assert (block["ok"], block["status"], block["verified"]) == (True, "ready", True)
    assert world.run()["executed"] is True
    proof = world.raw()["proof"]
    assert (proof["verified_at"], proof["failure"]) == (NOW, None)
    assert proof["identity"] == world.raw()["doctor_verified_entrypoint_identity"] == block["entrypoint_identity"]


@pytest.mark.parametrize("kind", FAILING)
def test_a_failure_clears_the_proof_and_never_switches_the_revision(kind: str) -> None:
    """doctor_failure_clears_proof (case 59)."""
    world = World(FAILING[kind]).holding()
    before = world.raw()

    block = world.doctor()

    after = world.raw()
    assert (block["ok"], block["status"], block["failure_kind"]) == (False, "unhealthy", kind)
    assert (after["active_revision"], after["enabled"]) == (before["active_revision"], True)
    assert after["revisions"] == before["revisions"]
    assert (after["doctor_verified_revision"], after["doctor_verified_entrypoint_identity"]) == (None, None)
    assert code_of(world.run) == "doctor_required"


@pytest.mark.req("X3")
def test_no_output_of_a_provider_is_stored_but_the_digest_of_its_standard_error() -> None:
    world = World(FAILING["exit_nonzero"]).holding()

    world.doctor()

    assert world.store.data is not None
    assert b"secret output" not in world.store.data
    assert b"why it failed" not in world.store.data
    failure = world.raw()["proof"]["failure"]
    assert failure["stderr_sha256"] == hashlib.sha256(b"why it failed").hexdigest()
    assert (failure["kind"], failure["at"], failure["exit_code"]) == ("exit_nonzero", NOW, 7)


def test_a_doctor_that_changes_its_own_program_proves_nothing() -> None:
    """changed_during_probe (case 71)."""
    world = World().holding()
    world.processes.script = Script(meanwhile=lambda: world.packages.programs.update({PROGRAM: "second"}))

    block = world.doctor()

    assert (block["verified"], block["failure_kind"]) == (False, "changed_during_probe")
    assert code_of(world.run) == "doctor_required"


def test_a_program_that_is_gone_is_refused_and_clears_the_proof() -> None:
    world = World().holding()
    world.packages.programs.clear()

    assert code_of(world.doctor) == "entrypoint_missing"
    assert world.raw()["doctor_verified_revision"] is None
    assert world.processes.launches == []


def test_a_disabled_extension_is_refused_without_a_start() -> None:
    """doctor_disabled (case 61)."""
    world = World().holding(enabled=False)

    with pytest.raises(Refused) as refused:
        world.doctor()

    assert refused.value.code == "extension_disabled"
    assert refused.value.document["doctor"]["status"] == "disabled"  # type: ignore[index]
    assert world.processes.launches == []


def test_an_entry_that_moved_while_the_doctor_ran_is_left_alone() -> None:
    world = World().holding()
    world.store.meanwhile = lambda: void(world.holding(enabled=False))

    assert code_of(world.doctor) == "state_moved"
    assert world.raw()["enabled"] is False
    assert world.raw()["history"] == []


def test_another_entry_that_moved_meanwhile_is_kept() -> None:
    world = World().holding()
    world.store.meanwhile = lambda: void(world.holding("other"))

    world.doctor()

    assert set(world.store.document["extensions"]) == {"probe-me", "other"}


def test_a_doctor_gets_its_own_arguments_time_and_no_input() -> None:
    world = World().holding(runtime='doctor_timeout_seconds = 3\nenv = ["API_BASE"]')

    world.doctor()

    launch = world.processes.launches[0]
    assert (launch.argv, launch.stdin) == ([PROGRAM, "--doctor"], b"")
    assert (launch.limits.timeout_seconds, launch.env_names) == (3, ["API_BASE"])


def test_an_interruption_writes_nothing() -> None:
    world = World(Script(interrupted_by=15)).holding()
    before = world.store.data

    with pytest.raises(Interrupted):
        world.doctor()

    assert world.store.data == before


def test_an_entry_of_a_v0_tool_is_pinned_by_its_first_successful_doctor() -> None:
    raw = World().holding().raw()
    revisions = [{key: value for key, value in raw["revisions"][0].items() if key != "launcher"}]
    world = World().holding(revisions=revisions, proof=None)

    world.doctor()

    assert world.raw()["revisions"][0]["launcher"]["path"] == PROGRAM
    assert world.run()["executed"] is True


def test_the_history_names_the_probe_and_its_failure() -> None:
    world = World(FAILING["exit_nonzero"]).holding()

    world.doctor()

    newest = world.raw()["history"][0]
    assert (newest["operation"], newest["at"], newest["failure_kind"]) == ("doctor", NOW, "exit_nonzero")


def test_the_history_is_bounded() -> None:
    world = World().holding(history=[{"operation": "old"}] * 50)

    world.doctor()

    assert len(world.raw()["history"]) == 50
    assert world.raw()["history"][0]["operation"] == "doctor"


def void(_: object) -> None:
    """Do nothing with a value."""


def test_an_executed_doctor_says_what_it_proved_and_what_had_changed() -> None:
    world = World().holding()
    world.packages.programs[PROGRAM] = "second"
    world.packages.explained = ["provider"]

    block = world.doctor()

    assert block.pop("plan").startswith("sha256:")
    assert block.pop("owner") == {"name": "provider", "version": "1.0"}
    assert block.pop("bound_to")["revision"] == world.entry().active.id
    assert block == {
        "ok": True,
        "schema_version": "loopx_extension_doctor_v0",
        "extension_id": "probe-me",
        "version": "1.0",
        "status": "ready",
        "available": True,
        "verified": True,
        "entrypoint_identity": world.raw()["proof"]["identity"],
        "failure_kind": None,
        "external_writes_performed": False,
        "basis": "declared",
        "reason": None,
        "exit_code": 0,
        "signal": None,
        "stderr_tail": None,
        "read_only": {"enforced": False, "by": None},
        "duration_ms": 7,
        "containment": {"rung": "made-up"},
        "changed": ["launcher"],
        "changed_details": ["provider"],
        "at": NOW,
        "next_command": None,
    }
    event = {"at": NOW, "operation": "doctor", "revision": world.raw()["active_revision"], "failure_kind": None}
    assert world.raw()["history"] == [event]


def test_a_failed_doctor_leads_to_itself() -> None:
    world = World(FAILING["signalled"]).holding()

    block = world.doctor()

    assert block["next_command"] == ("extension", "doctor", "probe-me", "--execute")
    assert (block["signal"], block["exit_code"], block["entrypoint_identity"]) == ("SIGSEGV", None, None)
    assert block["reason"]
    assert world.raw()["proof"]["failure"]["signal"] == "SIGSEGV"


def test_a_preview_suggests_the_doctor_and_shows_what_the_environment_would_refuse() -> None:
    world = World().holding()

    ready = world.doctor(execute=False)
    world.packages.programs.clear()
    missing = world.doctor(execute=False)

    assert ready["next_command"] == missing["next_command"] == ("extension", "doctor", "probe-me", "--execute")
    assert (ready["available"], ready["would_refuse"]) == (True, None)
    assert (missing["available"], missing["would_refuse"]["code"]) == (False, "entrypoint_missing")


def test_a_launcher_that_is_gone_is_refused_with_the_finding_as_evidence() -> None:
    world = World().holding()
    world.packages.programs.clear()

    refusal = refusal_of(world.doctor)

    block = refusal.blocks["doctor"]
    assert isinstance(block, dict)
    assert (block["status"], block["failure_kind"], block["available"]) == ("unhealthy", "entrypoint_missing", False)
    assert block["reason"] == refusal.diagnostic.summary
    assert (block["exit_code"], block["stderr_tail"], block["duration_ms"]) == (None, None, 0)
    assert refusal.diagnostic.next_command == ("extension", "doctor", "probe-me", "--execute")
    failure = world.raw()["proof"]["failure"]
    assert (failure["kind"], failure["exit_code"], failure["stderr_sha256"]) == ("entrypoint_missing", None, None)


def test_a_prerequisite_that_lacks_is_refused_and_leaves_the_proof() -> None:
    """Nothing was started, and nothing is known that was not known before."""
    world = World().holding(runtime='[runtime.requires]\nnode = ">=24"\n')
    before = world.store.data

    assert code_of(world.doctor) == "node_unavailable"
    assert (world.store.data, world.processes.launches) == (before, [])


def test_what_has_no_doctor_or_no_runtime_is_refused() -> None:
    without_doctor = World().holding()
    form = without_doctor.raw()["revisions"][0]["manifest"]
    form["runtime"]["doctor_args"] = []
    edited = canonical_digest(form)[:16]
    revision = {**without_doctor.raw()["revisions"][0], "manifest": form, "revision": edited}

    world = World().holding(active_revision=edited, revisions=[revision])

    assert code_of(world.doctor) == "doctor_not_configured"
    assert world.processes.launches == []


def test_another_plan_is_refused_with_the_present_one_and_its_preview() -> None:
    world = World().holding()
    plan = world.doctor(execute=False)["plan"]

    refusal = refusal_of(lambda: world.change(doctor, plan="sha256:0"))

    assert (refusal.code, refusal.blocks["plan"]) == ("plan_changed", plan)
    assert refusal.diagnostic.next_command == ("extension", "doctor", "probe-me")
    assert world.processes.launches == []


def test_a_failed_doctor_pins_no_entry_of_a_v0_tool() -> None:
    world = World(FAILING["exit_nonzero"]).holding(pinned={"launcher": None})

    world.doctor()

    assert world.raw()["revisions"][0]["launcher"] is None


def test_a_doctor_that_was_held_to_reading_says_by_what() -> None:
    """Contract section 5, doctor: a probe is read-only, and the receipt says where that cannot be enforced."""
    world = World().holding()
    rows = [
        {"limit": "file_writes", "enforced": True, "by": "landlock"},
        {"limit": "file_attributes", "enforced": True, "by": "seccomp"},
        {"limit": "memory", "enforced": True, "by": "rlimit"},
    ]
    world.processes.containment = {"limits": rows}

    held = world.doctor()["read_only"]
    rows[1]["enforced"] = False
    free = world.doctor()["read_only"]

    assert held == {"enforced": True, "by": "landlock, seccomp"}
    assert free == {"enforced": False, "by": None}


# --- the failure before ----------------------------------------------------------------------------------------


def failed() -> World:
    """Return a world whose extension failed its doctor."""
    world = World(Script(exit_code=3, stderr=b"no"))
    world.holding()
    world.doctor()
    return world


FAILURE = {
    "kind": "exit_nonzero",
    "at": NOW,
    "exit_code": 3,
    "signal": None,
    "stderr_sha256": hashlib.sha256(b"no").hexdigest(),
}


@pytest.mark.req("B2")
def test_how_the_last_doctor_failed_is_said_wherever_it_stands_in_the_way() -> None:
    """In the list, the host's doctor, a run and the preview of the doctor, as `show` and `history` tell it."""
    world = failed()

    (row,) = list_extensions(world)["extensions"]
    (checked,) = [one for one in host_doctor(world)["checks"] if one["check"] == "extension"]
    refused = refusal_of(world.run)

    assert (row["reason"], row["last_failure"]) == ("doctor_required", FAILURE)
    assert (checked["code"], "exit_nonzero with status 3" in checked["summary"]) == ("doctor_required", True)
    assert (refused.code, refused.blocks["last_failure"]) == ("doctor_required", FAILURE)
    assert "exit_nonzero with status 3" in refused.diagnostic.summary
    assert world.doctor(execute=False)["last_failure"] == FAILURE
    assert "exit_nonzero" in list_text({"ok": True, "schema_version": "x", "extensions": [row]})
    assert "exit_nonzero" in doctor_text(world.doctor(execute=False))


def test_a_failure_that_a_later_proof_or_another_revision_left_behind_is_not_said() -> None:
    world = failed()
    world.processes.script = Script()
    world.doctor()

    (row,) = list_extensions(world)["extensions"]

    assert (row["ready"], row["last_failure"]) == (True, None)
    assert failed().entry().failure is not None
    world = failed()
    document = world.store.document
    document["extensions"]["probe-me"]["proof"]["revision"] = "0" * 16
    world.store.data = json.dumps(document).encode()
    assert world.entry().failure is None


@pytest.mark.parametrize(
    "change",
    [{"kind": None}, {"kind": []}, {"at": 1}, {"exit_code": True}, {"exit_code": "3"}, {"signal": 9}],
    ids=str,
)
def test_a_failure_of_another_shape_is_none(change: dict[str, Any]) -> None:
    world = failed()
    document = world.store.document
    document["extensions"]["probe-me"]["proof"]["failure"] |= change
    world.store.data = json.dumps(document).encode()

    assert world.entry().failure is None
    assert code_of(world.run) == "doctor_required"


# --- what a proof holds for ------------------------------------------------------------------------------------

MOVES: dict[str, Callable[[World], object]] = {
    "host_api": lambda world: edit_proof(world, host_api=2),
    "platform": lambda world: setattr(world.packages, "machine", "another-machine"),
    "interpreter": lambda world: setattr(world.packages, "interpreter", "another python"),
    "launcher": lambda world: world.packages.programs.update({PROGRAM: "second"}),
}


def edit_proof(world: World, **fields: object) -> None:
    document = world.store.document
    document["extensions"]["probe-me"]["proof"] |= fields
    world.store.data = json.dumps(document).encode()


@pytest.mark.req("B2")
def test_a_receipt_says_what_its_proof_holds_for_and_that_of_a_failure_says_none() -> None:
    world = World().holding()

    receipt, failure = world.doctor(), failed().doctor()

    assert receipt["bound_to"] == {
        "revision": world.entry().active.id,
        "identity": world.raw()["proof"]["identity"],
        "host_api": 1,
        "platform": PLATFORM,
    }
    assert (receipt["at"], failure["bound_to"]) == (NOW, None)


@pytest.mark.req("B2")
@pytest.mark.parametrize("moved", MOVES)
def test_what_moved_since_the_proof_is_named_wherever_it_stands_in_the_way(moved: str) -> None:
    world = World().holding()
    MOVES[moved](world)

    (row,) = list_extensions(world)["extensions"]
    (checked,) = [one for one in host_doctor(world)["checks"] if one["check"] == "extension"]
    refused = refusal_of(world.run)

    assert (row["reason"], row["changed"]) == ("readiness_stale", [moved])
    assert (checked["code"], moved in checked["summary"]) == ("readiness_stale", True)
    assert (refused.code, refused.blocks["changed"]) == ("readiness_stale", [moved])
    assert world.doctor()["changed"] == [moved]
    assert list_extensions(world)["extensions"][0]["ready"] is True


@pytest.mark.req("B2")
def test_a_proof_of_another_revision_is_none() -> None:
    world = World().holding(doctor_verified_revision="0" * 16)
    edit_proof(world, revision="0" * 16)

    assert code_of(world.run) == "doctor_required"
