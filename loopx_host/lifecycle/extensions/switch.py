"""Change which revision is active: probe first, then one write; on failure leave the old one usable.

`upgrade` and `rollback` differ in where the new revision comes from, and in nothing after that.
"""

from __future__ import annotations

from loopx_host.core.errors import Refused
from loopx_host.lifecycle.extensions import receipts
from loopx_host.lifecycle.extensions.differences import differences
from loopx_host.lifecycle.extensions.identity import LauncherNotFound
from loopx_host.lifecycle.extensions.probe import probe
from loopx_host.lifecycle.extensions.proof import proved, remembered
from loopx_host.lifecycle.extensions.readiness import readiness
from loopx_host.lifecycle.extensions.refusals import doctor_failed, missing_entrypoint
from loopx_host.lifecycle.extensions.start_refusal import obstacle
from loopx_host.lifecycle.extensions.writing import replace_entry

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from loopx_host.lifecycle.extensions.identity import Launcher
    from loopx_host.lifecycle.extensions.ports import Clock, Packages, Processes, StateStore
    from loopx_host.lifecycle.extensions.probe import Probe
    from loopx_host.lifecycle.extensions.state import Entry
    from loopx_host.registry.manifest import Manifest, Runtime

KEPT_REVISIONS = 5


class Switch:
    """One intended change of the active revision of `entry` to `manifest`, run through `target`.

    `revision` is the raw revision without its new pin; `again` the command that repeats the verb.
    """

    __slots__ = ("again", "entry", "manifest", "revision", "runtime", "target", "verb")

    def __init__(
        self,
        verb: str,
        entry: Entry,
        manifest: Manifest,
        runtime: Runtime,
        revision: dict[str, Any],
        target: Launcher | LauncherNotFound,
        again: tuple[str, ...],
    ) -> None:
        self.verb = verb
        self.entry = entry
        self.manifest = manifest
        self.runtime = runtime
        self.revision = revision
        self.target = target
        self.again = again

    def receipt(self, *, executed: bool, doctor: dict[str, Any], plan: str) -> dict[str, Any]:
        """Return the operation document, as a preview or as done."""
        owner = self.revision.get("distribution")
        return {
            **receipts.operation(self.verb, self.manifest, executed=executed, changed=executed, doctor=doctor),
            "previous_revision": self.entry.active.id,
            "enabled": self.entry.enabled if executed else None,
            "rollback_available": executed or self.entry.rollback_revision is not None,
            "launcher": None if isinstance(self.target, LauncherNotFound) else self.target.pin(),
            "owner": owner or receipts.UNOWNED,
            "changes": differences(self.entry.manifest, self.manifest),
            "plan": plan,
        }

    def preview(self, plan: str, packages: Packages) -> dict[str, Any]:
        """Return what executing would do, with what the environment would refuse."""
        refused = obstacle(self.manifest.id, self.runtime, self.target, packages, self.again, ask=False)
        doctor = receipts.doctor_preview(self.manifest.id, self.manifest.version, available=refused is None)
        return {
            **self.receipt(executed=False, doctor=doctor, plan=plan),
            "would_refuse": receipts.would_refuse(refused),
            "next_command": self.again,
        }


def carry_out(
    switch: Switch,
    plan: str,
    *,
    store: StateStore,
    packages: Packages,
    processes: Processes,
    clock: Clock,
) -> dict[str, Any]:
    """Probe the new revision and switch to it in one compare-and-set.

    Raises Refused: `entrypoint_missing` or `doctor_failed` with `active_after`, `state_moved`, and the store's.
    """
    target, manifest = switch.target, switch.manifest
    refused = obstacle(manifest.id, switch.runtime, target, packages, switch.again, ask=True)
    if refused is not None or isinstance(target, LauncherNotFound):
        why = refused or missing_entrypoint(target, switch.again)
        raise _with_active_after(why, switch, store, packages, processes, clock)
    probed = probe(target, switch.runtime, packages, processes)
    doctor = receipts.doctor_block(manifest.id, manifest.version, probed)
    if not probed.verified:
        refused = doctor_failed(manifest.id, target, probed, doctor, switch.again)
        raise _with_active_after(refused, switch, store, packages, processes, clock)
    at = clock.now()
    raw = switched(switch, probed, packages.platform(), at)
    replace_entry(store, switch.entry, raw, manifest.snapshot)
    before = switch.revision.get("proved_identity")
    receipt = {
        **switch.receipt(executed=True, doctor=doctor, plan=plan),
        "at": at,
        "duration_ms": doctor["duration_ms"],
    }
    if before is None or switch.verb != "rollback":
        return receipt
    return {**receipt, "code_changed": probed.identity is not None and before != probed.identity.digest}


def switched(switch: Switch, probed: Probe, platform: str, at: str) -> dict[str, Any]:
    """Return the entry after the switch: the new revision active, the old one kept as the rollback target."""
    entry, revision = switch.entry, switch.revision
    others = [one.raw for one in entry.revisions if one.id != revision["revision"]]
    is_repin = revision["revision"] == entry.active.id
    raw = {
        **entry.raw,
        "active_revision": revision["revision"],
        "rollback_revision": entry.rollback_revision if is_repin else entry.active.id,
        "revisions": [*others, revision],
    }
    event = {
        "at": at,
        "operation": switch.verb,
        "revision": revision["revision"],
        "version": switch.manifest.version,
        "previous_revision": entry.active.id,
    }
    return remembered(_pruned(proved(raw, probed, platform, at)), event)


def _pruned(raw: dict[str, Any]) -> dict[str, Any]:
    """Keep the newest revisions, and always the active one and the rollback target."""
    protected = (raw["active_revision"], raw["rollback_revision"])
    spare = [one for one in raw["revisions"] if one["revision"] not in protected]
    excess = max(0, len(raw["revisions"]) - KEPT_REVISIONS)
    dropped = [one["revision"] for one in spare[:excess]]
    return {**raw, "revisions": [one for one in raw["revisions"] if one["revision"] not in dropped]}


def _with_active_after(
    refused: Refused,
    switch: Switch,
    store: StateStore,
    packages: Packages,
    processes: Processes,
    clock: Clock,
) -> Refused:
    """Say what the failed switch leaves: the active revision, proved again if its runtime was replaced.

    The package's files may have been replaced before the switch was tried. Then the old proof is stale
    through no fault of the old manifest, which may well still run on the new files.
    """
    entry = switch.entry
    after, again = "disabled", None
    if entry.enabled:
        after, again = _ready_or_proved(entry, store, packages, processes, clock)
    blocks: dict[str, Any] = {"active_after": after, "active_revision": entry.active.id}
    if again is not None:
        blocks["active_doctor"] = again
    if after == "stale":
        owner = entry.active.raw.get("distribution")
        launcher = (entry.active.launcher or {}).get("path")
        command = packages.pip_command(owner, launcher) if owner else None
        blocks["restore"] = {"distribution": owner, "command": command}
    refused.blocks.update(blocks)
    said = refused.diagnostic
    said.hint = f"{said.hint}; {_SENTENCE[after].format(revision=entry.active.id)}"
    return refused


_SENTENCE = {
    "ready": "revision {revision} is still active and ready",
    "stale": "revision {revision} is still active, and stale until its package is put back",
    "disabled": "revision {revision} is still active and disabled",
}


def _ready_or_proved(
    entry: Entry, store: StateStore, packages: Packages, processes: Processes, clock: Clock
) -> tuple[str, dict[str, Any] | None]:
    """Return (`ready` or `stale`, the doctor document if the active revision had to be proved again)."""
    found, runtime = readiness(entry, packages), entry.manifest.runtime
    if found.is_ready:
        return "ready", None
    if found.verdict != "readiness_stale" or found.target is None or runtime is None:
        return "stale", None
    probed = probe(found.target, runtime, packages, processes)
    doctor = receipts.doctor_block(entry.id, entry.manifest.version, probed)
    if not probed.verified:
        return "stale", doctor
    at = clock.now()
    event = {"at": at, "operation": "doctor", "revision": entry.active.id, "failure_kind": None}
    try:
        replace_entry(store, entry, remembered(proved(entry.raw, probed, packages.platform(), at), event))
    except Refused:  # what is to be said is why the switch failed; the proof can be made again
        return "stale", doctor
    return "ready", doctor
