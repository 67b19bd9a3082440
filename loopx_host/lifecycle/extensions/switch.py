"""Change which revision is active: probe first, then one write; on failure leave the old one usable.

`upgrade` and `rollback` differ in where the new revision comes from, and in nothing after that.
"""

from __future__ import annotations

from loopx_host.core.errors import Refused
from loopx_host.lifecycle.extensions import receipts
from loopx_host.lifecycle.extensions.differences import differences
from loopx_host.lifecycle.extensions.identity import Launcher
from loopx_host.lifecycle.extensions.probe import probe
from loopx_host.lifecycle.extensions.proof import with_event, with_probe
from loopx_host.lifecycle.extensions.readiness import readiness
from loopx_host.lifecycle.extensions.refusals import doctor_failed
from loopx_host.lifecycle.extensions.writing import replace_entry

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from loopx_host.lifecycle.extensions.candidate import Candidate, Program
    from loopx_host.lifecycle.extensions.ports import CanProve, Packages
    from loopx_host.lifecycle.extensions.probe import Probe
    from loopx_host.lifecycle.extensions.state import Entry
    from loopx_host.registry.manifest import Manifest

KEPT_REVISIONS = 5


class Switch:
    """One intended change of the active revision of `entry` to `manifest`, run through `candidate`.

    `revision` is the raw revision with its new pin; `retry_command` the command that repeats the verb.
    """

    __slots__ = ("candidate", "entry", "manifest", "retry_command", "revision", "verb")

    def __init__(
        self,
        verb: str,
        entry: Entry,
        manifest: Manifest,
        candidate: Candidate,
        revision: dict[str, Any],
        retry_command: tuple[str, ...],
    ) -> None:
        self.verb = verb
        self.entry = entry
        self.manifest = manifest
        self.candidate = candidate
        self.revision = revision
        self.retry_command = retry_command

    def program(self, packages: Packages, *, may_start: bool) -> Program | Refused:
        """Return what would be probed, or what the environment puts in its way."""
        return self.candidate.startable(self.manifest.id, packages, self.retry_command, may_start=may_start)

    def receipt(self, *, executed: bool, doctor: dict[str, Any], plan: str) -> dict[str, Any]:
        """Return the operation document, as a preview or as done."""
        launcher = self.candidate.launcher
        return {
            **receipts.operation(self.verb, self.manifest, executed=executed, changed=executed, doctor=doctor),
            "previous_revision": self.entry.active.id,
            "enabled": self.entry.enabled if executed else None,
            "rollback_available": executed or self.entry.rollback_revision is not None,
            "launcher": launcher.pin() if isinstance(launcher, Launcher) else None,
            "owner": self.revision.get("distribution") or receipts.UNOWNED,
            "changes": differences(self.entry.manifest, self.manifest),
            "plan": plan,
        }

    def preview(self, plan: str, packages: Packages) -> dict[str, Any]:
        """Return what executing would do, with what the environment would refuse."""
        program = self.program(packages, may_start=False)
        refused = program if isinstance(program, Refused) else None
        doctor = receipts.doctor_preview(self.manifest.id, self.manifest.version, available=refused is None)
        return {
            **self.receipt(executed=False, doctor=doctor, plan=plan),
            "would_refuse": receipts.would_refuse(refused),
            "next_command": self.retry_command,
        }


def carry_out(switch: Switch, plan: str, ports: CanProve) -> dict[str, Any]:
    """Probe the new revision and switch to it in one compare-and-set.

    Raises Refused: `entrypoint_missing` or `doctor_failed` with `active_after`, `state_moved`, and the store's.
    """
    packages, manifest = ports.packages, switch.manifest
    program = switch.program(packages, may_start=True)
    if isinstance(program, Refused):
        raise _with_active_after(program, switch.entry, ports)
    probed = probe(program, packages, ports.processes)
    doctor = receipts.doctor_block(manifest.id, manifest.version, probed)
    if not probed.verified:
        refused = doctor_failed(manifest.id, program.launcher, probed, doctor, switch.retry_command)
        raise _with_active_after(refused, switch.entry, ports)
    at = ports.clock.now()
    replace_entry(ports.store, switch.entry, switched(switch, probed, packages.platform(), at), manifest.snapshot)
    receipt = {
        **switch.receipt(executed=True, doctor=doctor, plan=plan),
        "at": at,
        "duration_ms": doctor["duration_ms"],
    }
    before = switch.revision.get("proved_identity")
    if before is None or switch.verb != "rollback":
        return receipt
    return {**receipt, "code_changed": before != program.identity.digest}


def switched(switch: Switch, probed: Probe, platform: str, at: str) -> dict[str, Any]:
    """Return the entry after the switch: the new revision active, the old one kept as the rollback target."""
    entry, revision = switch.entry, switch.revision
    others = [kept.raw for kept in entry.revisions if kept.id != revision["revision"]]
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
    return with_event(_pruned(with_probe(raw, probed, platform, at)), event)


def _pruned(raw: dict[str, Any]) -> dict[str, Any]:
    """Keep the newest revisions, and always the active one and the rollback target."""
    protected = (raw["active_revision"], raw["rollback_revision"])
    spare = [kept["revision"] for kept in raw["revisions"] if kept["revision"] not in protected]
    dropped = spare[: max(0, len(raw["revisions"]) - KEPT_REVISIONS)]
    return {**raw, "revisions": [kept for kept in raw["revisions"] if kept["revision"] not in dropped]}


def _with_active_after(refused: Refused, entry: Entry, ports: CanProve) -> Refused:
    """Say what a failed switch leaves: the active revision, proved again if its runtime was replaced.

    The package's files may have been replaced before the switch was tried. Then the old proof is stale
    through no fault of the old manifest, which may well still run on the new files.
    """
    after, doctor = _ready_or_proved(entry, ports) if entry.enabled else ("disabled", None)
    blocks: dict[str, Any] = {"active_after": after, "active_revision": entry.active.id}
    if doctor is not None:
        blocks["active_doctor"] = doctor
    if after == "stale":
        owner = entry.active.raw.get("distribution")
        pin = entry.active.launcher
        command = ports.packages.pip_command(owner, pin["path"] if pin else None) if owner else None
        blocks["restore"] = {"distribution": owner, "command": command}
    refused.blocks.update(blocks)
    diagnostic = refused.diagnostic
    diagnostic.hint = f"{diagnostic.hint}; {_SENTENCE[after].format(revision=entry.active.id)}"
    return refused


_SENTENCE = {
    "ready": "revision {revision} is still active and ready",
    "stale": "revision {revision} is still active, and stale until its package is put back",
    "disabled": "revision {revision} is still active and disabled",
}


def _ready_or_proved(entry: Entry, ports: CanProve) -> tuple[str, dict[str, Any] | None]:
    """Return (`ready` or `stale`, the doctor document if the active revision had to be proved again)."""
    packages = ports.packages
    now = readiness(entry, packages)
    if now.provider is not None:
        return "ready", None
    if now.program is None:
        return "stale", None
    probed = probe(now.program, packages, ports.processes)
    doctor = receipts.doctor_block(entry.id, entry.manifest.version, probed)
    if not probed.verified:
        return "stale", doctor
    at = ports.clock.now()
    event = {"at": at, "operation": "doctor", "revision": entry.active.id, "failure_kind": None}
    try:
        replace_entry(ports.store, entry, with_event(with_probe(entry.raw, probed, packages.platform(), at), event))
    except Refused:  # what is to be said is why the switch failed; the proof can be made again
        return "stale", doctor
    return "ready", doctor
