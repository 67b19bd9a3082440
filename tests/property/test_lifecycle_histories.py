"""No sequence of commands leaves the table of transitions, loses the active revision or enables without a proof."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import hypothesis.strategies as st
from hypothesis import settings
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from loopx_host.core.errors import Refused
from loopx_host.lifecycle.extensions.disable import disable
from loopx_host.lifecycle.extensions.enable import enable
from loopx_host.lifecycle.extensions.identity import ENTRYPOINT, Launcher
from loopx_host.lifecycle.extensions.install import install
from loopx_host.lifecycle.extensions.process import Ended, Launch
from loopx_host.lifecycle.extensions.readiness import readiness
from loopx_host.lifecycle.extensions.requests import ChangeRequest, RollbackRequest, TrustRequest
from loopx_host.lifecycle.extensions.rollback import rollback
from loopx_host.lifecycle.extensions.source import Source
from loopx_host.lifecycle.extensions.transitions import NEXT
from loopx_host.lifecycle.extensions.uninstall import uninstall
from loopx_host.lifecycle.extensions.upgrade import upgrade
from loopx_host.registry.load import load
from tests.support.fakes import (
    MANIFEST,
    PROGRAM,
    MemoryFolder,
    MemoryPackages,
    Script,
    ScriptedProcesses,
    World,
)

ID = "probe-me"
SPOKEN = b"what-the-provider-said"
VERSIONS = [f"{number}.0" for number in range(1, 8)]
GROWN = frozenset({"3.0"})  # this one declares a permission
KEPT_REVISIONS, KEPT_EVENTS = 5, 50

Verb = Callable[[], object]


def source(version: str) -> Source:
    top = 'permissions = ["net.connect"]' if version in GROWN else ""
    text = MANIFEST.format(id=ID, top=top, runtime="").replace('version = "1.0"', f'version = "{version}"')
    text = text.replace('["--doctor"]', f'["--doctor", "{version}"]')
    return Source(
        load(MemoryFolder({"extension.toml": text}), "extension.toml"), "/made/up/extension.toml", "/made/up"
    )


SOURCES = {version: source(version) for version in VERSIONS}
REVISIONS = {version: one.manifest.revision for version, one in SOURCES.items()}
versions = st.sampled_from(VERSIONS)
executed = st.sampled_from([True, True, True, False])


class Doctors(ScriptedProcesses):
    """Doctors that fail for the versions in `broken`; those that passed are remembered with what they proved."""

    def __init__(self, packages: MemoryPackages) -> None:
        super().__init__()
        self.packages = packages
        self.broken: set[str] = set()
        self.passed: list[tuple[str, str]] = []

    def run(self, launch: Launch) -> Ended:
        version = launch.argv[-1] if "--doctor" in launch.argv else None
        self.script = Script(stdout=SPOKEN, stderr=SPOKEN, exit_code=1 if version in self.broken else 0)
        if version is not None and version not in self.broken:
            identity = self.packages.identify(Launcher(ENTRYPOINT, PROGRAM))
            assert identity is not None
            self.passed.append((REVISIONS[version], identity.digest))
        return super().run(launch)


class Lifecycle(RuleBasedStateMachine):
    """One extension id, its program and its doctor; every verb in any order, as a preview or executed."""

    def __init__(self) -> None:
        super().__init__()
        self.world = World()
        self.doctors = self.world.processes = Doctors(self.world.packages)
        self.contents = 0

    @initialize(version=versions)
    def begin_with_an_extension(self, version: str) -> None:
        self.install(version, execute=True)

    # --- what happens around loopx ---

    @rule(broken=st.sets(versions, max_size=2))
    def the_doctors_change_their_minds(self, broken: set[str]) -> None:
        self.doctors.broken = broken

    @rule()
    def the_program_is_replaced(self) -> None:
        self.contents += 1
        self.world.packages.programs[PROGRAM] = f"content {self.contents}"

    @precondition(lambda self: self.raw is not None)
    @rule(verb=st.sampled_from(["enable", "doctor"]))
    def the_doctor_of_the_active_revision_fails(self, verb: str) -> None:
        self.doctors.broken = {self.world.entry(ID).manifest.version}
        (self.enable if verb == "enable" else self.doctor)(execute=True)

    @precondition(lambda self: self.identity is not None)
    @rule(really=st.sampled_from([True, False, False]))
    def the_program_is_taken_away(self, *, really: bool) -> None:
        if really:
            del self.world.packages.programs[PROGRAM]

    @precondition(lambda self: self.identity is None)
    @rule()
    def the_first_program_is_put_back(self) -> None:
        self.world.packages.programs[PROGRAM] = "first"

    # --- the verbs ---

    @precondition(lambda self: self.raw is None)
    @rule(version=versions)
    def install_again(self, version: str) -> None:
        self.install(version, execute=True)

    @rule(version=versions, execute=executed)
    def install(self, version: str, *, execute: bool) -> None:
        self.check("install", execute, lambda: install(self.trust(version, execute=execute), self.world))

    @rule(version=versions, accept=st.booleans(), execute=executed)
    def upgrade(self, version: str, *, accept: bool, execute: bool) -> None:
        request = self.trust(version, execute=execute, accept=accept)
        self.check("upgrade", execute, lambda: upgrade(request, self.world))

    @precondition(lambda self: self.raw is not None and self.identity is not None)
    @rule(through=st.lists(versions, min_size=3, max_size=7, unique=True))
    def upgrade_through_many(self, through: list[str]) -> None:
        self.doctors.broken = set()
        for version in through:
            self.upgrade(version, accept=True, execute=True)

    @rule(to=st.none() | versions.map(REVISIONS.__getitem__), execute=executed)
    def rollback(self, to: str | None, *, execute: bool) -> None:
        self.check("rollback", execute, lambda: rollback(RollbackRequest(ID, execute=execute, to=to), self.world))

    @rule(execute=executed)
    def enable(self, *, execute: bool) -> None:
        self.check("enable", execute, lambda: enable(ChangeRequest(ID, execute=execute), self.world))

    @rule(execute=executed)
    def disable(self, *, execute: bool) -> None:
        self.check("disable", execute, lambda: disable(ChangeRequest(ID, execute=execute), self.world))

    @precondition(lambda self: self.raw is None or len(self.raw["history"]) > 15)
    @rule(execute=executed)
    def uninstall(self, *, execute: bool) -> None:
        self.check("uninstall", execute, lambda: uninstall(ChangeRequest(ID, execute=execute), self.world))

    @rule(execute=executed)
    def doctor(self, *, execute: bool) -> None:
        self.check("doctor", execute, lambda: self.world.doctor(ID, execute=execute))

    # --- what every command has to keep ---

    def check(self, verb: str, execute: bool, call: Verb) -> None:
        before, launches, passed = copy.deepcopy(self.raw), len(self.doctors.launches), len(self.doctors.passed)
        refused = None
        try:
            call()
        except Refused as error:
            refused = error
        after = self.raw
        if not execute:
            assert (after, len(self.doctors.launches)) == (before, launches)
            return
        proved = self.doctors.passed[passed:]
        state, then = name_of(before), name_of(after)
        assert then == (NEXT[state, verb] if refused is None else state)
        if then == "enabled" and state != "enabled":
            assert verb in {"install", "enable"}
            assert after is not None
            assert after["active_revision"] in {revision for revision, _ in proved}
        if before is not None and after is not None:
            if after["active_revision"] != before["active_revision"]:
                assert verb in {"upgrade", "rollback"}
                assert after["active_revision"] in {revision for revision, _ in proved}
            if refused is not None:
                self.check_refused(verb, refused, before, after, proved)
        if after is not None:
            self.check_history(verb, refused, before, after)

    def check_refused(
        self,
        verb: str,
        refused: Refused,
        before: dict[str, Any],
        after: dict[str, Any],
        proved: list[tuple[str, str]],
    ) -> None:
        """A refused command changes nothing, but for the record of a probe of the active revision."""
        assert bits(after) == bits(before)
        if after == before or (verb, refused.code) in {("enable", "doctor_failed"), ("doctor", "entrypoint_missing")}:
            return
        # A failed switch may have proved the active revision again, on the files that are there now.
        assert verb in {"upgrade", "rollback"}
        assert refused.blocks["active_after"] == "ready"
        assert after["active_revision"] in {revision for revision, _ in proved}

    def check_history(
        self, verb: str, refused: Refused | None, before: dict[str, Any] | None, after: dict[str, Any]
    ) -> None:
        old = before["history"] if before is not None else []
        new = after["history"]
        grown = 0 if new == old else 1
        assert new[grown:] == old[: KEPT_EVENTS - grown]
        if grown:
            assert new[0]["operation"] == ("doctor" if refused and verb in {"upgrade", "rollback"} else verb)

    @invariant()
    def the_active_revision_and_the_rollback_target_are_kept(self) -> None:
        raw = self.raw
        if raw is None:
            return
        kept = [one["revision"] for one in raw["revisions"]]
        assert raw["active_revision"] in kept
        assert raw["rollback_revision"] in (None, *kept)
        assert raw["rollback_revision"] != raw["active_revision"]
        assert len(kept) == len(set(kept)) <= KEPT_REVISIONS
        assert len(raw["history"]) <= KEPT_EVENTS

    @invariant()
    def the_proof_is_of_a_probe_that_passed_and_agrees_with_the_v0_fields(self) -> None:
        raw = self.raw
        if raw is None:
            return
        proof = raw["proof"]
        v0 = (raw["doctor_verified_revision"], raw["doctor_verified_entrypoint_identity"])
        if proof["identity"] is None:
            assert v0 == (None, None)
        else:
            assert v0 == (raw["active_revision"], proof["identity"]) == (proof["revision"], proof["identity"])
            assert v0 in self.doctors.passed

    @invariant()
    def what_is_ready_was_proved_as_it_is_now_and_is_enabled(self) -> None:
        raw = self.raw
        if raw is not None and readiness(self.world.entry(ID), self.world.packages).is_ready:
            assert raw["enabled"] is True
            assert (raw["active_revision"], self.identity) in self.doctors.passed

    @invariant()
    def the_state_can_be_read_and_holds_no_output_of_the_provider(self) -> None:
        data = self.world.store.data
        if data is None:
            return
        assert SPOKEN not in data
        if self.raw is not None:
            assert self.world.entry(ID).id == ID

    # --- arguments and views ---

    @property
    def raw(self) -> dict[str, Any] | None:
        raw = self.world.store.document.get("extensions", {}).get(ID)
        assert raw is None or isinstance(raw, dict)
        return raw

    @property
    def identity(self) -> str | None:
        found = self.world.packages.identify(Launcher(ENTRYPOINT, PROGRAM))
        return found.digest if found else None

    def trust(self, version: str, *, execute: bool, accept: bool = False) -> TrustRequest:
        self.world.sources.there = dict(SOURCES)
        return TrustRequest(None, version, execute=execute, accept_permissions=accept)


def name_of(raw: dict[str, Any] | None) -> str:
    if raw is None:
        return "absent"
    return "enabled" if raw["enabled"] else "disabled"


def bits(raw: dict[str, Any]) -> tuple[object, ...]:
    known = {one["revision"]: one["launcher"] for one in raw["revisions"]}
    return raw["enabled"], raw["active_revision"], raw["rollback_revision"], known


TestLifecycle = Lifecycle.TestCase
TestLifecycle.settings = settings(stateful_step_count=50)
