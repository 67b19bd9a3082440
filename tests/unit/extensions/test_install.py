"""The verb `install` over ports in memory: what it refuses first, what it proves, what it writes and says."""

from __future__ import annotations

import hashlib
import json

import pytest

from loopx_host.core.limits import SYSTEM_PATH
from loopx_host.lifecycle.extensions.enable import enable
from loopx_host.lifecycle.extensions.identity import ENTRYPOINT, Launcher
from loopx_host.lifecycle.extensions.install import install
from loopx_host.lifecycle.extensions.preconditions import refuse_capability_clash
from loopx_host.lifecycle.extensions.source import Source
from loopx_host.lifecycle.extensions.state import State
from tests.support.fakes import NOW, PLATFORM, PROGRAM, Script, World, code_of, refusal_of
from tests.support.manifests import NEW_CAPABILITY

NODE = '[runtime.requires]\nnode = ">=24"\n'
IMPLEMENTS = '[[implements]]\ncapability_id = "nobodys-thing"\nprotocol = "test_v0"\n'
PLUGINS = [{"name": "probe-me", "value": "made_up.hooks"}]
COMMANDS = [{"name": "roar", "value": "made_up.commands:roar"}]
SCHEMA = '{"type": "object"}'


def bringing() -> World:
    """Return a world whose program comes with hooks and a command."""
    world = World()
    world.packages.advertised = {
        "plugins": {"probe-me": "made_up.hooks", "others": "x.y"},
        "commands": {"roar": "made_up.commands:roar"},
    }
    return world


def test_an_install_proves_the_program_and_says_what_it_trusted() -> None:
    world = bringing()
    source = world.sources.put(top='permissions = ["net.connect"]', runtime='env = ["TOKEN"]')

    receipt = world.trust(install, source)

    identity = world.raw()["proof"]["identity"]
    assert receipt.pop("plan").startswith("sha256:")
    assert receipt == {
        "ok": True,
        "schema_version": "loopx_extension_operation_v0",
        "operation": "install",
        "dry_run": False,
        "changed": True,
        "extension_id": "probe-me",
        "version": "1.0",
        "revision": source.manifest.revision,
        "previous_revision": None,
        "enabled": True,
        "doctor": {
            "ok": True,
            "schema_version": "loopx_extension_doctor_v0",
            "extension_id": "probe-me",
            "version": "1.0",
            "status": "ready",
            "available": True,
            "verified": True,
            "entrypoint_identity": identity,
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
        },
        "rollback_available": False,
        "manifest_path": source.path,
        "launcher": {"kind": "entrypoint", "path": PROGRAM},
        "owner": {"name": "provider", "version": "1.0"},
        "activates": {"plugins": PLUGINS, "commands": COMMANDS, "contained": False},
        "warnings": [],
        "env": ["TOKEN"],
        "permissions": ["net.connect"],
        "at": NOW,
        "duration_ms": 7,
    }


def test_an_install_writes_one_enabled_entry_pinned_and_proved() -> None:
    world = bringing()
    source = world.sources.put()

    world.trust(install, source)

    proof = world.raw()["proof"]
    assert world.raw() == {
        "id": "probe-me",
        "enabled": True,
        "active_revision": source.manifest.revision,
        "rollback_revision": None,
        "revisions": [
            {
                "revision": source.manifest.revision,
                "version": "1.0",
                "manifest": source.manifest.form,
                "digest": source.manifest.digest,
                "manifest_path": source.path,
                "installed_at": NOW,
                "launcher": {"kind": "entrypoint", "path": PROGRAM},
                "search_path": [*SYSTEM_PATH],
                "distribution": {"name": "provider", "version": "1.0"},
                "plugins": PLUGINS,
                "commands": COMMANDS,
                "source": "manifest",
                "proved_identity": proof["identity"],
                "proved_distribution": {"name": "provider", "version": "1.0"},
            }
        ],
        "proof": {
            "revision": source.manifest.revision,
            "identity": proof["identity"],
            "groups": {"launcher": "first", "interpreter": "python"},
            "host_api": 1,
            "platform": PLATFORM,
            "verified_at": NOW,
            "failure": None,
        },
        "doctor_verified_revision": source.manifest.revision,
        "doctor_verified_entrypoint_identity": proof["identity"],
        "history": [{"at": NOW, "operation": "install", "revision": source.manifest.revision, "version": "1.0"}],
    }
    assert world.run()["executed"] is True


def test_the_schemas_a_manifest_names_are_kept_with_its_entry() -> None:
    world = World()
    source = world.sources.put(runtime='request_schema = "request.json"', files={"request.json": SCHEMA})

    world.trust(install, source)

    assert list(world.store.schemas.values()) == [SCHEMA.encode()]


def test_a_preview_starts_nothing_and_suggests_the_command_that_does_it() -> None:
    world = bringing()
    source = world.sources.put()

    preview = world.trust(install, source, execute=False)

    assert (world.processes.launches, world.store.data) == ([], None)
    assert (preview["dry_run"], preview["changed"], preview["enabled"]) == (True, False, None)
    assert (preview["doctor"]["status"], preview["doctor"]["available"]) == ("probe_required", True)
    assert preview["would_refuse"] is None
    assert preview["next_command"] == ("extension", "install", "--manifest", source.path, "--execute")
    assert preview["activates"] == {"plugins": PLUGINS, "commands": COMMANDS, "contained": False}
    assert world.trust(install, source, plan=preview["plan"])["plan"] == preview["plan"]


def test_a_preview_says_what_only_the_environment_refuses() -> None:
    world = World()
    world.packages.programs.clear()
    source = world.sources.put()

    preview = world.trust(install, source, execute=False)

    assert preview["ok"] is True
    assert preview["would_refuse"]["code"] == "entrypoint_missing"
    assert preview["would_refuse"]["next_command"] == preview["next_command"]
    assert (preview["launcher"], preview["owner"], preview["activates"]) == (None, "unowned", None)
    assert preview["doctor"]["available"] is False


def test_a_launcher_that_is_not_found_is_refused_with_where_it_was_looked_for() -> None:
    world = World()
    world.packages.programs.clear()
    source = world.sources.put()

    refusal = refusal_of(lambda: world.trust(install, source))

    assert refusal.code == "entrypoint_missing"
    assert refusal.blocks["searched"] == ["/made/up/bin"]
    assert "/made/up/bin" in refusal.diagnostic.summary
    assert refusal.diagnostic.hint is not None
    assert "/made/up" in refusal.diagnostic.hint  # the environment to install it into
    assert refusal.diagnostic.next_command == ("extension", "install", "--manifest", source.path, "--execute")
    assert world.store.data is None


def test_a_doctor_that_fails_is_refused_with_its_document_and_writes_nothing() -> None:
    world = World(Script(exit_code=3, stderr=b"no\n"))
    source = world.sources.put()

    refusal = refusal_of(lambda: world.trust(install, source))

    assert refusal.code == "doctor_failed"
    assert PROGRAM in refusal.diagnostic.summary
    assert refusal.diagnostic.next_command == ("extension", "install", "--manifest", source.path, "--execute")
    doctor = refusal.blocks["doctor"]
    assert isinstance(doctor, dict)
    assert (doctor["ok"], doctor["status"], doctor["verified"]) == (False, "unhealthy", False)
    assert (doctor["failure_kind"], doctor["exit_code"], doctor["entrypoint_identity"]) == ("exit_nonzero", 3, None)
    assert (doctor["stderr_tail"], doctor["available"]) == ("no\n", True)
    assert world.store.data is None


def test_a_doctor_that_cannot_be_started_is_not_available() -> None:
    world = World(Script(missing=True))

    refusal = refusal_of(lambda: world.trust(install, world.sources.put()))

    doctor = refusal.blocks["doctor"]
    assert isinstance(doctor, dict)
    assert (doctor["failure_kind"], doctor["available"]) == ("start_failed", False)


@pytest.mark.parametrize(
    ("code", "runtime", "doctor"),
    [
        ("doctor_not_configured", "", False),
        ("capability_unknown", IMPLEMENTS, True),
        ("capability_duplicate", NEW_CAPABILITY, True),
    ],
)
@pytest.mark.parametrize("execute", [True, False], ids=["executed", "preview"])
def test_what_manifest_and_state_decide_is_refused_before_anything_starts(
    code: str, runtime: str, doctor: bool, execute: bool
) -> None:
    """The cheap refusals come before the doctor (contract section 5, install)."""
    world = World().holding("other", runtime=NEW_CAPABILITY)
    before = world.store.data
    source = world.sources.put(runtime=runtime, doctor=doctor)

    assert code_of(lambda: world.trust(install, source, execute=execute)) == code
    assert world.processes.launches == []
    assert world.store.data == before


@pytest.mark.parametrize("execute", [True, False], ids=["executed", "preview"])
def test_what_is_installed_is_not_installed_again(execute: bool) -> None:
    world = World().holding(enabled=False)

    refusal = refusal_of(lambda: world.trust(install, world.sources.put("2.0"), execute=execute))

    assert refusal.code == "already_installed"
    assert refusal.diagnostic.next_command == ("extension", "show", "probe-me")
    assert world.processes.launches == []


def test_over_a_bad_entry_nothing_is_installed() -> None:
    world = World().holding()
    world.store.data = (world.store.data or b"").replace(b'"enabled": true', b'"enabled": 1')

    assert code_of(lambda: world.trust(install, world.sources.put())) == "state_entry_invalid"


def test_an_owner_of_a_capability_may_implement_it_itself() -> None:
    own = '[[implements]]\ncapability_id = "new-thing"\nprotocol = "test_v0"\n'
    world = World()

    assert world.trust(install, world.sources.put(runtime=NEW_CAPABILITY + own))["changed"] is True


def test_an_implementation_of_what_another_extension_declares_is_installed() -> None:
    world = World().holding("other", runtime=NEW_CAPABILITY)
    implements = '[[implements]]\ncapability_id = "new-thing"\nprotocol = "test_v0"\n'

    assert world.trust(install, world.sources.put(runtime=implements))["changed"] is True


def test_another_plan_is_refused_with_the_present_one_and_its_preview() -> None:
    world = World()
    source = world.sources.put()
    plan = world.trust(install, source, execute=False)["plan"]

    refusal = refusal_of(lambda: world.trust(install, source, plan="sha256:" + "0" * 64))

    assert (refusal.code, refusal.blocks["plan"]) == ("plan_changed", plan)
    assert refusal.diagnostic.next_command == ("extension", "install", "--manifest", source.path)
    assert world.processes.launches == []


def test_the_plan_of_an_install_holds_the_permissions_it_adds() -> None:
    world = World()
    plain, asking = world.sources.put(), world.sources.put("1.0", folder="/other", top='permissions = ["a.b"]')

    plans = {world.trust(install, one, execute=False)["plan"] for one in (plain, asking)}

    assert len(plans) == 2


def test_an_id_that_was_taken_while_the_doctor_ran_is_left_to_the_other() -> None:
    world = World()
    source = world.sources.put()
    world.store.meanwhile = lambda: world.holding(enabled=False)

    refusal = refusal_of(lambda: world.trust(install, source))

    assert refusal.code == "state_moved"
    assert world.raw()["enabled"] is False


def test_a_damaged_entry_of_another_is_copied_before_the_file_is_written() -> None:
    world = World().holding("other")
    world.store.data = (world.store.data or b"").replace(b'"enabled": true', b'"enabled": 1')
    before = world.store.data

    world.trust(install, world.sources.put())

    assert list(world.store.kept_aside.values()) == [before]
    assert world.store.document["extensions"]["other"]["enabled"] == 1


# --- by id ---------------------------------------------------------------------------------------------------


def test_an_id_leads_to_the_manifest_its_package_offers() -> None:
    world = World()
    source = world.sources.put(folder="/made/up/site")
    world.discovery.rows = [world.discovery.row("others"), world.discovery.row("probe-me", manifest_path=source.path)]

    preview = world.trust(install, extension_id="probe-me", execute=False)
    receipt = world.trust(install, extension_id="probe-me")

    assert preview["next_command"] == ("extension", "install", "probe-me", "--execute")
    assert receipt["manifest_path"] == source.path
    assert world.raw()["revisions"][0]["source"] == "discovered"


@pytest.mark.parametrize(
    ("code", "rows", "command"),
    [
        ("extension_not_offered", [], ("extension", "discover")),
        (
            "extension_ambiguous",
            [{"manifest_path": None, "reason": "two"}, {"manifest_path": "/b.toml", "reason": "one"}],
            ("extension", "install", "--manifest", "/b.toml"),
        ),
        ("extension_ambiguous", [{"manifest_path": None}, {"manifest_path": None}], ("extension", "discover")),
        (
            "extension_broken",
            [{"state": "broken", "code": "id_mismatch", "reason": "another id"}],
            ("extension", "discover"),
        ),
    ],
)
def test_an_id_without_one_sound_offer_is_refused(
    code: str, rows: list[dict[str, object]], command: tuple[str, ...]
) -> None:
    world = World()
    world.discovery.rows = [world.discovery.row("others"), *(world.discovery.row("probe-me", **row) for row in rows)]

    refusal = refusal_of(lambda: world.trust(install, extension_id="probe-me"))

    assert (refusal.code, refusal.diagnostic.next_command) == (code, command)
    for row in rows:
        assert str(row.get("reason", "")) in refusal.diagnostic.summary


# --- what is odd about the launcher ------------------------------------------------------------------------------


def warnings_of(world: World, source: Source) -> list[tuple[object, object]]:
    receipt = world.trust(install, source, execute=False)
    return [(row["code"], row["pointer"]) for row in receipt["warnings"]]


def test_a_capability_behind_a_launcher_that_no_package_carries_is_warned_of() -> None:
    world = World().holding("other", runtime=NEW_CAPABILITY)
    world.packages.is_owned = False
    implements = '[[implements]]\ncapability_id = "new-thing"\nprotocol = "test_v0"\n'

    assert warnings_of(world, world.sources.put()) == []
    warning = ("entrypoint_unowned", "runtime.entrypoint")
    assert warnings_of(world, world.sources.put(runtime=implements)) == [warning]
    own = NEW_CAPABILITY.replace("new-thing", "own-thing")
    assert warnings_of(world, world.sources.put(runtime=own)) == [warning]


@pytest.mark.parametrize(
    ("version", "carrier", "times"),
    [
        ("1.0", None, 0),
        ("1.0", {"name": "provider", "version": "1.0"}, 0),
        ("2.0", None, 1),
        ("1.0", {"name": "provider", "version": "3.0"}, 1),
        ("2.0", {"name": "provider", "version": "3.0"}, 2),
        ("1.0", {"name": "somebody-else", "version": "3.0"}, 0),
    ],
)
def test_a_launcher_of_another_version_is_warned_of(version: str, carrier: dict[str, str] | None, times: int) -> None:
    """Extension-formats, *Pins move when asked*: than the manifest, or than the distribution it lies in."""
    world = World()

    found = warnings_of(world, world.sources.put(version, carrier=carrier))

    assert found == [("entrypoint_version_differs", "runtime.entrypoint")] * times


# --- prerequisites -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("there", [None, ("/opt/node/bin/node", "22.1.0")])
def test_a_prerequisite_that_lacks_is_shown_by_a_preview_and_refused_when_executed(
    there: tuple[str, str] | None,
) -> None:
    world = World()
    world.packages.prerequisites = {"node": there} if there else {}
    source = world.sources.put(runtime=NODE)

    assert code_of(lambda: world.trust(install, source)) == "node_unavailable"
    assert world.processes.launches == []
    if there is None:
        assert world.trust(install, source, execute=False)["would_refuse"]["code"] == "node_unavailable"


def test_a_preview_takes_a_prerequisite_that_is_there_at_its_word() -> None:
    """Only an executed verb may start a program for its version."""
    world = World()
    world.packages.prerequisites = {"node": ("/opt/node/bin/node", "22.1.0")}

    assert world.trust(install, world.sources.put(runtime=NODE), execute=False)["would_refuse"] is None


def test_a_prerequisite_that_is_too_old_is_refused_with_what_was_found() -> None:
    world = World()
    world.packages.prerequisites = {"node": ("/opt/node/bin/node", "22.1.0")}

    refusal = refusal_of(lambda: world.trust(install, world.sources.put(runtime=NODE)))

    assert refusal.diagnostic.subject == "node"
    assert refusal.blocks["prerequisite"] == {
        "name": "node",
        "requires": ">=24",
        "path": "/opt/node/bin/node",
        "version": "22.1.0",
    }
    assert "22.1.0" in refusal.diagnostic.summary
    assert "loopx-core" in str(refusal.diagnostic.hint)  # the extra that brings Node


def test_another_prerequisite_is_named_by_the_common_code() -> None:
    world = World()

    refusal = refusal_of(lambda: world.trust(install, world.sources.put(runtime=NODE.replace("node", "zoo"))))

    assert (refusal.code, refusal.exit_status) == ("prerequisite_unavailable", 69)
    assert refusal.blocks["prerequisite"] == {"name": "zoo", "requires": ">=24", "path": None, "version": None}
    assert "zoo" in str(refusal.diagnostic.hint)


def test_the_clash_of_a_capability_names_it_and_its_owner() -> None:
    world = World().holding("other", runtime=NEW_CAPABILITY)

    refusal = refusal_of(lambda: world.trust(install, world.sources.put(runtime=NEW_CAPABILITY)))

    assert (refusal.diagnostic.subject, refusal.diagnostic.next_command) == ("new-thing", ("extension", "list"))
    assert "`other`" in refusal.diagnostic.summary


def test_a_capability_of_the_core_belongs_to_its_distribution() -> None:
    manifest = World().sources.put(runtime=NEW_CAPABILITY).manifest
    state = State.parse(None, "/made/up")

    refusal = refusal_of(lambda: refuse_capability_clash(manifest, state, frozenset({"new-thing"})))

    assert (refusal.code, "`loopx-core`" in refusal.diagnostic.summary) == ("capability_duplicate", True)


def test_to_trust_an_id_the_packages_are_asked_and_not_an_index() -> None:
    world = World()
    source = world.sources.put()
    world.discovery.rows = [world.discovery.row("probe-me", manifest_path=source.path)]

    world.trust(install, extension_id="probe-me")

    assert world.discovery.rebuilt == [True]


def test_the_plan_of_an_install_is_made_of_what_decides_it() -> None:
    """Extension-formats, *Plan digest*, computed here from its words."""
    world = World()
    source = world.sources.put(top='permissions = ["net.connect"]', runtime='env = ["TOKEN"]')
    plan = {
        "schema": "loopx_extension_plan_v0",
        "verb": "install",
        "extension_id": "probe-me",
        "state": None,
        "to_revision": source.manifest.digest,
        "launcher": {"path": PROGRAM, "sha256": ""},
        "identity": world.packages.identify(Launcher(ENTRYPOINT, PROGRAM)).digest,  # type: ignore[union-attr]
        "argv": [PROGRAM, "--serve"],
        "env": ["TOKEN"],
        "permissions_added": ["net.connect"],
        "limits": {
            "timeout_seconds": 20,
            "doctor_timeout_seconds": 20,
            "memory_limit_mb": None,
            "open_files_limit": 1024,
        },
        "host_api": 1,
        "reads": {},
    }
    canonical = json.dumps(plan, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()

    assert world.trust(install, source)["plan"] == "sha256:" + hashlib.sha256(canonical).hexdigest()


@pytest.mark.parametrize("executed", [True, False])
def test_a_program_on_a_file_system_that_executes_nothing_is_refused_for_that(executed: bool) -> None:
    """Trial N12: the bit is set, and nothing is said about setting it."""
    world = World()
    source = world.sources.put()
    if executed:
        world.trust(install, source)
    world.packages.programs.clear()
    world.packages.noexec = [PROGRAM]

    said = refusal_of(lambda: world.change(enable) if executed else world.trust(install, source))

    assert (said.code, said.diagnostic.subject) == ("entrypoint_missing", PROGRAM)
    assert "noexec" in said.diagnostic.summary
    assert said.blocks["searched"] == [PROGRAM if executed else "/made/up/bin"]
