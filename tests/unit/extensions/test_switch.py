"""The verbs `upgrade` and `rollback` over ports in memory: probe first, one write, and what a failure leaves."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import pytest

from loopx_host.cli.render.operation import to_text
from loopx_host.lifecycle.extensions.disable import disable
from loopx_host.lifecycle.extensions.identity import ENTRYPOINT, Launcher
from loopx_host.lifecycle.extensions.install import install
from loopx_host.lifecycle.extensions.requests import RollbackRequest
from loopx_host.lifecycle.extensions.rollback import rollback
from loopx_host.lifecycle.extensions.upgrade import upgrade
from tests.support.fakes import NOW, PLATFORM, PROGRAM, Script, World, code_of, refusal_of, timeless
from tests.support.manifests import NEW_CAPABILITY

OTHER_PROGRAM = "/made/up/elsewhere/provider"
FAILS = Script(exit_code=3)
NET = 'permissions = ["net.connect"]'


def installed(*versions: str, **settings: Any) -> World:
    """Return a world where an extension was installed in the first version and upgraded to each other."""
    world = World()
    world.trust(install, world.sources.put(versions[0], **settings))
    for version in versions[1:]:
        world.trust(upgrade, world.sources.put(version, **settings))
    world.processes.launches.clear()
    return world


def revision(version: str, **settings: Any) -> str:
    return World().sources.put(version, **settings).manifest.revision


def back(world: World, **settings: Any) -> Any:
    return rollback(RollbackRequest("probe-me", **{"execute": True, **settings}), world)


# --- upgrade -------------------------------------------------------------------------------------------------


def test_an_upgrade_says_what_it_changed_and_what_it_left() -> None:
    world = installed("1.0")
    source = world.sources.put("2.0", runtime='env = ["TOKEN"]')

    receipt = world.trust(upgrade, source)

    assert receipt.pop("plan").startswith("sha256:")
    assert receipt.pop("doctor")["status"] == "ready"
    assert receipt == {
        "ok": True,
        "schema_version": "loopx_extension_operation_v0",
        "operation": "upgrade",
        "dry_run": False,
        "changed": True,
        "extension_id": "probe-me",
        "version": "2.0",
        "revision": source.manifest.revision,
        "previous_revision": revision("1.0"),
        "enabled": True,
        "rollback_available": True,
        "launcher": {"kind": "entrypoint", "path": PROGRAM},
        "owner": {"name": "provider", "version": "1.0"},
        "changes": {
            "version": {"from": "1.0", "to": "2.0"},
            "permissions": {"added": [], "removed": []},
            "runtime": {"env": {"from": None, "to": ["TOKEN"]}},
        },
        "manifest_path": source.path,
        "warnings": receipt["warnings"],
        "at": NOW,
        "duration_ms": 7,
    }
    # The launcher is the one of version 1.0 still.
    assert [row["code"] for row in receipt["warnings"]] == ["entrypoint_version_differs"]


def test_an_upgrade_makes_the_new_revision_active_and_keeps_the_old_one_as_the_way_back() -> None:
    world = installed("1.0")
    before = world.raw()
    world.packages.programs[PROGRAM] = "second"
    source = world.sources.put("2.0", runtime='request_schema = "r.json"', files={"r.json": "{}"})

    world.trust(upgrade, source)

    after = world.raw()
    new = after["revisions"][1]
    assert (after["active_revision"], after["rollback_revision"]) == (source.manifest.revision, revision("1.0"))
    assert after["revisions"][0] == before["revisions"][0]
    assert (new["version"], new["manifest_path"], new["source"]) == ("2.0", source.path, "manifest")
    assert (new["installed_at"], new["launcher"]) == (NOW, {"kind": "entrypoint", "path": PROGRAM})
    assert new["proved_identity"] == after["proof"]["identity"] == after["doctor_verified_entrypoint_identity"]
    assert (after["proof"]["revision"], after["proof"]["platform"]) == (source.manifest.revision, PLATFORM)
    assert after["proof"]["verified_at"] == NOW
    assert after["history"][0] == {
        "at": NOW,
        "operation": "upgrade",
        "revision": source.manifest.revision,
        "version": "2.0",
        "previous_revision": revision("1.0"),
    }
    assert list(world.store.schemas.values()) == [b"{}"]
    assert world.run()["executed"] is True


def test_a_preview_of_an_upgrade_starts_nothing_and_suggests_the_command_that_does_it() -> None:
    world = installed("1.0")
    before = world.store.data
    source = world.sources.put("2.0")

    preview = world.trust(upgrade, source, execute=False)

    assert (world.processes.launches, world.store.data) == ([], before)
    assert (preview["dry_run"], preview["changed"], preview["enabled"]) == (True, False, None)
    assert (preview["doctor"]["status"], preview["doctor"]["available"]) == ("probe_required", True)
    assert (preview["rollback_available"], preview["would_refuse"]) == (False, None)
    assert preview["next_command"] == ("extension", "upgrade", "--manifest", source.path, "--execute")
    assert "at" not in preview
    assert world.trust(upgrade, source, plan=preview["plan"])["changed"] is True


def test_a_preview_of_a_second_upgrade_says_that_there_is_a_way_back() -> None:
    world = installed("1.0", "2.0")

    assert world.trust(upgrade, world.sources.put("3.0"), execute=False)["rollback_available"] is True


def test_a_preview_shows_a_launcher_that_is_not_there_and_pins_nothing() -> None:
    world = installed("1.0")
    world.packages.programs.clear()

    preview = world.trust(upgrade, world.sources.put("2.0"), execute=False)

    assert preview["would_refuse"]["code"] == "entrypoint_missing"
    assert (preview["doctor"]["available"], preview["launcher"], preview["owner"]) == (False, None, "unowned")


def test_upgrading_what_is_not_installed_is_refused() -> None:
    world = World()

    assert code_of(lambda: world.trust(upgrade, world.sources.put())) == "extension_not_installed"


def test_the_active_revision_again_is_refused_and_leads_to_the_doctor() -> None:
    world = installed("1.0")

    refusal = refusal_of(lambda: world.trust(upgrade, world.sources.put("1.0")))

    assert refusal.code == "same_revision"
    assert refusal.diagnostic.next_command == ("extension", "doctor", "probe-me", "--execute")


def test_the_active_revision_without_a_launcher_is_the_same_revision_still() -> None:
    world = installed("1.0")
    world.packages.programs.clear()

    assert code_of(lambda: world.trust(upgrade, world.sources.put("1.0"))) == "same_revision"


def moved_launcher(world: World) -> None:
    world.packages.bin = "/made/up/elsewhere"
    world.packages.programs[OTHER_PROGRAM] = "first"


def another_hook(world: World) -> None:
    world.packages.advertised = {"plugins": {"probe-me": "made_up.hooks"}}


def another_command(world: World) -> None:
    world.packages.advertised = {"commands": {"roar": "made_up:roar"}}


@pytest.mark.parametrize("move", [moved_launcher, another_hook, another_command])
def test_the_same_revision_with_other_pins_is_pinned_anew_and_stays_its_own_way_back(move: Any) -> None:
    """Extension-formats, *Pins move when asked*."""
    world = installed("1.0", "2.0")
    move(world)

    receipt = world.trust(upgrade, world.sources.put("2.0"))

    after = world.raw()
    assert receipt["previous_revision"] == receipt["revision"] == after["active_revision"] == revision("2.0")
    assert after["rollback_revision"] == revision("1.0")
    assert [one["revision"] for one in after["revisions"]] == [revision("1.0"), revision("2.0")]
    now = {key: after["revisions"][1][key] for key in ("plugins", "commands")}
    assert (after["revisions"][1]["launcher"]["path"] == OTHER_PROGRAM) == (move is moved_launcher)
    assert now == world.packages.entry_points(Launcher(ENTRYPOINT, PROGRAM), "probe-me")


@pytest.mark.parametrize("move", [another_hook, another_command])
def test_the_same_revision_with_the_same_pins_is_refused(move: Any) -> None:
    world = World()
    move(world)
    world.trust(install, world.sources.put("1.0"))

    assert code_of(lambda: world.trust(upgrade, world.sources.put("1.0"))) == "same_revision"


def test_more_permissions_are_refused_until_they_are_accepted() -> None:
    world = installed("1.0")
    source = world.sources.put("2.0", top=NET)

    refusal = refusal_of(lambda: world.trust(upgrade, source))
    preview = world.trust(upgrade, source, accept_permissions=True, execute=False)

    wanted = ("extension", "upgrade", "--manifest", source.path, "--accept-permissions", "--execute")
    assert (refusal.code, refusal.blocks["permissions_added"]) == ("permissions_grow", ["net.connect"])
    assert refusal.diagnostic.next_command == preview["next_command"] == wanted
    assert preview["changes"]["permissions"] == {"added": ["net.connect"], "removed": []}
    assert world.processes.launches == []
    assert world.trust(upgrade, source, accept_permissions=True)["changed"] is True


def test_accepting_permissions_where_none_is_added_leaves_the_command_as_it_is() -> None:
    world = installed("1.0", top=NET)
    source = world.sources.put("2.0")

    preview = world.trust(upgrade, source, accept_permissions=True, execute=False)

    assert preview["next_command"] == ("extension", "upgrade", "--manifest", source.path, "--execute")


def test_a_plan_binds_an_upgrade_and_leads_to_its_preview() -> None:
    world = installed("1.0")
    source = world.sources.put("2.0", top=NET)
    plan = world.trust(upgrade, source, accept_permissions=True, execute=False)["plan"]

    refusal = refusal_of(lambda: world.trust(upgrade, source, accept_permissions=True, plan="sha256:0"))

    assert (refusal.code, refusal.blocks["plan"]) == ("plan_changed", plan)
    wanted = ("extension", "upgrade", "--manifest", source.path, "--accept-permissions")
    assert refusal.diagnostic.next_command == wanted


def test_an_id_leads_to_the_manifest_that_is_upgraded_to() -> None:
    world = installed("1.0")
    source = world.sources.put("2.0")
    world.discovery.rows = [world.discovery.row("probe-me", manifest_path=source.path)]

    preview = world.trust(upgrade, extension_id="probe-me", execute=False)
    world.trust(upgrade, extension_id="probe-me")

    assert preview["next_command"] == ("extension", "upgrade", "probe-me", "--execute")
    assert world.raw()["revisions"][1]["source"] == "discovered"


def test_an_ambiguous_id_leads_to_the_upgrade_with_one_manifest() -> None:
    world = installed("1.0")
    world.discovery.rows = [world.discovery.row("probe-me", manifest_path="/a.toml") for _ in range(2)]

    refusal = refusal_of(lambda: world.trust(upgrade, extension_id="probe-me"))

    assert refusal.diagnostic.next_command == ("extension", "upgrade", "--manifest", "/a.toml")


def test_a_capability_of_another_extension_is_refused_before_anything_starts() -> None:
    world = installed("1.0").holding("other", runtime=NEW_CAPABILITY)
    source = world.sources.put("2.0", runtime=NEW_CAPABILITY)

    assert code_of(lambda: world.trust(upgrade, source)) == "capability_duplicate"
    assert world.processes.launches == []


def test_the_own_capability_of_the_earlier_revision_is_no_clash() -> None:
    world = installed("1.0", runtime=NEW_CAPABILITY)

    assert world.trust(upgrade, world.sources.put("2.0", runtime=NEW_CAPABILITY))["changed"] is True


@pytest.mark.parametrize("switch", ["upgrade", "rollback"])
def test_a_disabled_extension_is_switched_and_stays_disabled(switch: str) -> None:
    world = installed("1.0", "2.0")
    world.change(disable)

    receipt = back(world) if switch == "rollback" else world.trust(upgrade, world.sources.put("3.0"))

    assert (receipt["enabled"], world.raw()["enabled"]) == (False, False)
    assert world.raw()["proof"]["verified_at"] == NOW


def test_five_revisions_are_kept_the_newest_and_the_way_back() -> None:
    """Contract section 5: retention."""
    versions = [f"{number}.0" for number in range(1, 8)]
    world = installed(*versions)

    kept = [one["version"] for one in world.raw()["revisions"]]

    assert kept == versions[2:]


def test_the_way_back_is_kept_however_old_it_is() -> None:
    world = installed("1.0", "2.0", "3.0", "4.0", "5.0")
    back(world, to=revision("1.0"))
    world.trust(upgrade, world.sources.put("6.0"))

    kept = {one["version"] for one in world.raw()["revisions"]}

    assert (len(kept), {"1.0", "6.0"} <= kept) == (5, True)
    assert world.raw()["rollback_revision"] == revision("1.0")


# --- rollback ------------------------------------------------------------------------------------------------


def test_a_rollback_proves_the_kept_revision_and_swaps() -> None:
    world = installed("1.0", "2.0")

    receipt = back(world)

    after = world.raw()
    assert (receipt["operation"], receipt["version"], receipt["changed"]) == ("rollback", "1.0", True)
    assert (receipt["revision"], receipt["previous_revision"]) == (revision("1.0"), revision("2.0"))
    assert receipt["changes"]["version"] == {"from": "2.0", "to": "1.0"}
    assert (receipt["enabled"], receipt["rollback_available"]) == (True, True)
    assert (after["active_revision"], after["rollback_revision"]) == (revision("1.0"), revision("2.0"))
    assert after["proof"]["revision"] == revision("1.0")
    assert after["history"][0]["operation"] == "rollback"
    assert after["history"][0]["previous_revision"] == revision("2.0")
    assert len(world.processes.launches) == 1


def test_a_rollback_onto_the_code_that_was_proved_says_so() -> None:
    assert back(installed("1.0", "2.0"))["code_changed"] is False


def test_a_rollback_onto_other_code_than_was_proved_says_so() -> None:
    """Extension-formats, *Rollback*."""
    world = installed("1.0", "2.0")
    world.packages.programs[PROGRAM] = "second"

    assert back(world)["code_changed"] is True


OWNERS: list[Any] = [{"name": "provider", "version": version} for version in ("1.0", "2.0")]


def replaced(world: World) -> World:
    """Replace the code, as installing the package of another version does."""
    world.packages.programs[PROGRAM] = "second"
    world.packages.package = OWNERS[1]
    return world


@pytest.mark.req("X12")
@pytest.mark.parametrize("execute", [False, True])
def test_a_rollback_names_the_code_that_is_installed_and_what_brings_the_proved_one_back(execute: bool) -> None:
    receipt = back(replaced(installed("1.0", "2.0")), execute=execute)

    assert receipt["other_code"] == {
        "installed": OWNERS[1],
        "proved": OWNERS[0],
        "install_package": "pip install provider==1.0",
    }
    first = to_text(receipt).splitlines()[0]
    assert all(word in first for word in ("provider 2.0", "provider 1.0", "pip install provider==1.0"))


@pytest.mark.req("X12")
def test_a_rollback_onto_the_code_that_was_proved_names_no_other() -> None:
    assert back(installed("1.0", "2.0"))["other_code"] is None


@pytest.mark.req("X12")
def test_a_failed_upgrade_says_in_its_sentence_that_the_code_is_another() -> None:
    world = replaced(installed("1.0"))
    world.processes.script = Script(exit_code=1)

    refused = refusal_of(lambda: world.trust(upgrade, world.sources.put("2.0")))

    assert refused.blocks["other_code"] == {
        "installed": OWNERS[1],
        "proved": OWNERS[0],
        "install_package": "pip install provider==1.0",
    }
    assert "pip install provider==1.0" in refused.diagnostic.summary


def test_a_failed_upgrade_onto_unchanged_code_says_nothing_of_it() -> None:
    world = installed("1.0")
    world.processes.script = Script(exit_code=1)

    refused = refusal_of(lambda: world.trust(upgrade, world.sources.put("2.0")))

    assert "other_code" not in refused.blocks


def test_a_rollback_to_a_revision_that_was_never_proved_here_says_nothing_of_its_code() -> None:
    world = installed("1.0", "2.0")
    edited = world.store.document
    del edited["extensions"]["probe-me"]["revisions"][0]["proved_identity"]
    world.holding(**edited["extensions"]["probe-me"])

    assert "code_changed" not in back(world)


def test_an_upgrade_says_nothing_of_changed_code() -> None:
    """Also to a revision that was proved before: only a rollback promises to go back."""
    world = installed("1.0", "2.0")
    back(world)
    world.packages.programs[PROGRAM] = "second"

    assert "code_changed" not in world.trust(upgrade, world.sources.put("2.0"))


def test_a_rollback_resolves_the_launcher_anew() -> None:
    world = installed("1.0", "2.0")
    moved_launcher(world)
    another_command(world)

    back(world)

    active = world.raw()["revisions"][-1]
    assert (active["revision"], active["launcher"]["path"]) == (revision("1.0"), OTHER_PROGRAM)
    assert active["commands"] == [{"name": "roar", "value": "made_up:roar"}]


@pytest.mark.parametrize(
    ("to", "command"),
    [(None, ("extension", "rollback", "probe-me")), ("1.0", ("extension", "rollback", "probe-me", "--to"))],
)
def test_a_preview_of_a_rollback_suggests_the_command_that_does_it(to: str | None, command: tuple[str, ...]) -> None:
    world = installed("1.0", "2.0")
    before = world.store.data
    target = (revision(to),) if to else ()

    preview = back(world, execute=False, to=revision(to) if to else None)

    assert preview["next_command"] == (*command, *target, "--execute")
    assert (world.store.data, world.processes.launches) == (before, [])
    assert (preview["dry_run"], preview["enabled"], preview["would_refuse"]) == (True, None, None)
    assert back(world, plan=preview["plan"], to=revision(to) if to else None)["changed"] is True


def test_a_rollback_reaches_any_kept_revision() -> None:
    world = installed("1.0", "2.0", "3.0")

    assert back(world, to=revision("1.0"))["version"] == "1.0"
    assert world.raw()["rollback_revision"] == revision("3.0")


@pytest.mark.parametrize(
    ("code", "versions", "to"),
    [
        ("rollback_unavailable", ["1.0"], None),
        ("revision_unknown", ["1.0", "2.0"], "0123456789abcdef"),
        ("same_revision", ["1.0", "2.0"], revision("2.0")),
    ],
)
def test_a_rollback_that_leads_nowhere_is_refused_and_shows_what_is_kept(
    code: str, versions: list[str], to: str | None
) -> None:
    world = installed(*versions)

    refusal = refusal_of(lambda: back(world, to=to))

    assert (refusal.code, refusal.diagnostic.next_command) == (code, ("extension", "show", "probe-me"))
    assert world.processes.launches == []


def test_a_rollback_of_what_is_not_installed_is_refused() -> None:
    assert code_of(lambda: back(World())) == "extension_not_installed"


def test_a_rollback_to_a_capability_that_another_declares_by_now_is_refused() -> None:
    world = World()
    world.trust(install, world.sources.put("1.0", runtime=NEW_CAPABILITY))
    world.trust(upgrade, world.sources.put("2.0"))
    world.holding("other", runtime=NEW_CAPABILITY)
    world.processes.launches.clear()

    assert code_of(lambda: back(world)) == "capability_duplicate"
    assert world.processes.launches == []


def test_a_rollback_without_a_launcher_is_shown_by_a_preview_and_refused_when_executed() -> None:
    world = installed("1.0", "2.0")
    world.packages.programs.clear()

    preview = back(world, execute=False)
    refusal = refusal_of(lambda: back(world))

    assert preview["would_refuse"]["code"] == refusal.code == "entrypoint_missing"
    assert preview["launcher"] is None


@pytest.mark.parametrize("verb", ["upgrade", "rollback"])
def test_the_plan_of_a_switch_is_made_of_what_decides_it(verb: str) -> None:
    """Extension-formats, *Plan digest*, computed here from its words."""
    world = World()
    world.trust(install, world.sources.put("1.0", top=NET, runtime='env = ["TOKEN"]\nmemory_limit_mb = 64'))
    world.trust(upgrade, world.sources.put("2.0"))
    target = world.sources.put("1.0", top=NET, runtime='env = ["TOKEN"]\nmemory_limit_mb = 64')
    plan = {
        "schema": "loopx_extension_plan_v0",
        "verb": verb,
        "extension_id": "probe-me",
        "state": timeless(world.raw()),
        "to_revision": target.manifest.digest,
        "launcher": {"path": PROGRAM, "sha256": ""},
        "identity": world.packages.identify(Launcher(ENTRYPOINT, PROGRAM)).digest,  # type: ignore[union-attr]
        "argv": [PROGRAM, "--serve"],
        "env": ["TOKEN"],
        "permissions_added": ["net.connect"],
        "limits": {
            "timeout_seconds": 20,
            "doctor_timeout_seconds": 20,
            "memory_limit_mb": 64,
            "open_files_limit": 1024,
        },
        "host_api": 1,
        "reads": {},
    }
    canonical = json.dumps(plan, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()
    wanted = "sha256:" + hashlib.sha256(canonical).hexdigest()

    if verb == "rollback":
        assert back(world, execute=False)["plan"] == back(world)["plan"] == wanted
    else:
        assert world.trust(upgrade, target, execute=False, accept_permissions=True)["plan"] == wanted


# --- what a failed switch leaves -------------------------------------------------------------------------------


def failing_then(world: World, active: Script) -> Any:
    """Return the refusal of an upgrade whose doctor fails; that of the active revision does `active` afterwards."""
    world.processes.scripts = [FAILS, active]
    return refusal_of(lambda: world.trust(upgrade, world.sources.put("2.0")))


def test_a_failed_upgrade_changes_nothing_and_leaves_the_active_revision_ready() -> None:
    world = installed("1.0")
    before = world.store.data
    world.processes.script = FAILS

    refusal = refusal_of(lambda: world.trust(upgrade, world.sources.put("2.0")))

    assert world.store.data == before
    assert (refusal.code, refusal.blocks["active_after"]) == ("doctor_failed", "ready")
    assert refusal.blocks["active_revision"] == revision("1.0")
    assert isinstance(refusal.blocks["doctor"], dict)
    assert refusal.blocks["doctor"]["failure_kind"] == "exit_nonzero"
    assert refusal.blocks["doctor"]["version"] == "2.0"
    assert {"active_doctor", "restore"} & set(refusal.blocks) == set()
    assert refusal.diagnostic.hint is not None
    assert revision("1.0") in refusal.diagnostic.hint
    assert len(world.processes.launches) == 1


def test_a_failed_switch_of_a_disabled_extension_starts_its_old_doctor_no_more() -> None:
    world = installed("1.0")
    world.change(disable)
    world.packages.programs[PROGRAM] = "second"
    world.processes.script = FAILS

    refusal = refusal_of(lambda: world.trust(upgrade, world.sources.put("2.0")))

    assert refusal.blocks["active_after"] == "disabled"
    assert len(world.processes.launches) == 1
    assert "active_doctor" not in refusal.blocks


def test_an_active_revision_whose_program_was_replaced_is_proved_again() -> None:
    """Contract section 5, upgrade: it is re-probed against the runtime now present."""
    world = installed("1.0")
    world.packages.programs[PROGRAM] = "second"

    refusal = failing_then(world, Script())

    assert refusal.blocks["active_after"] == "ready"
    doctor = refusal.blocks["active_doctor"]
    assert isinstance(doctor, dict)
    assert (doctor["status"], doctor["version"], doctor["verified"]) == ("ready", "1.0", True)
    raw = world.raw()
    assert (raw["active_revision"], raw["proof"]["verified_at"]) == (revision("1.0"), NOW)
    assert raw["history"][0] == {
        "at": NOW,
        "operation": "doctor",
        "revision": revision("1.0"),
        "failure_kind": None,
    }
    assert world.run()["executed"] is True


def test_an_active_revision_that_fails_on_the_replaced_program_is_stale_and_says_what_would_restore_it() -> None:
    world = installed("1.0")
    before = world.raw()
    world.packages.programs[PROGRAM] = "second"

    refusal = failing_then(world, FAILS)

    assert refusal.blocks["active_after"] == "stale"
    doctor = refusal.blocks["active_doctor"]
    assert isinstance(doctor, dict)
    assert doctor["status"] == "unhealthy"
    assert refusal.blocks["restore"] == {
        "distribution": {"name": "provider", "version": "1.0"},
        "command": "pip install provider==1.0",
    }
    assert world.raw() == before


def test_an_unowned_revision_that_is_stale_has_no_command_that_would_restore_it() -> None:
    world = World()
    world.packages.is_owned = False
    world.trust(install, world.sources.put("1.0"))
    world.packages.programs[PROGRAM] = "second"

    refusal = failing_then(world, FAILS)

    assert refusal.blocks["restore"] == {"distribution": None, "command": None}


def test_a_launcher_that_is_gone_leaves_the_active_revision_stale() -> None:
    world = installed("1.0")
    world.packages.programs.clear()

    refusal = refusal_of(lambda: world.trust(upgrade, world.sources.put("2.0")))

    assert (refusal.code, refusal.blocks["active_after"]) == ("entrypoint_missing", "stale")
    assert "active_doctor" not in refusal.blocks
    assert world.processes.launches == []


def test_a_proof_that_cannot_be_written_leaves_the_active_revision_stale() -> None:
    world = installed("1.0")
    world.packages.programs[PROGRAM] = "second"
    world.store.meanwhile = lambda: world.holding(enabled=False)

    refusal = failing_then(world, Script())

    assert refusal.blocks["active_after"] == "stale"
    assert isinstance(refusal.blocks["active_doctor"], dict)
    assert world.raw()["enabled"] is False


def test_an_entry_that_moved_while_the_doctor_ran_is_left_alone() -> None:
    world = installed("1.0")
    world.store.meanwhile = lambda: world.holding(enabled=False)

    assert code_of(lambda: world.trust(upgrade, world.sources.put("2.0"))) == "state_moved"
    assert world.raw()["enabled"] is False
