"""Change which revision is active: probe first, then one write; on failure leave the old one usable.

`upgrade` and `rollback` differ in where the new revision comes from, and in nothing after that.
"""

from __future__ import annotations

from loopx_host.core.errors import Refused
from loopx_host.documents import doctor, operation
from loopx_host.documents.parts import code_sentence
from loopx_host.lifecycle.extensions.candidate import Candidate
from loopx_host.lifecycle.extensions.differences import differences
from loopx_host.lifecycle.extensions.identity import Launcher
from loopx_host.lifecycle.extensions.installed_code import code_other_than_proved
from loopx_host.lifecycle.extensions.probe import probe
from loopx_host.lifecycle.extensions.proof import with_event, with_probe
from loopx_host.lifecycle.extensions.readiness import readiness
from loopx_host.lifecycle.extensions.refusals import doctor_failed
from loopx_host.lifecycle.extensions.writing import replace_entry

TYPE_CHECKING = False
if TYPE_CHECKING:
    from loopx_host.documents import state as shapes
    from loopx_host.documents.doctor import Doctor
    from loopx_host.documents.operation import Operation
    from loopx_host.documents.parts import OtherCode
    from loopx_host.documents.state import Event
    from loopx_host.lifecycle.extensions.candidate import Program
    from loopx_host.lifecycle.extensions.ports import CanProve, Packages
    from loopx_host.lifecycle.extensions.probe import Probe
    from loopx_host.lifecycle.extensions.state import Entry
    from loopx_host.registry.manifest import Manifest

KEPT_REVISIONS = 5


class Switch:
    """One intended change of the active revision of `entry` to `manifest`, run through `candidate`.

    `revision` is the raw revision with its new pin, `proved` as it was kept, where it is one that was trusted before;
    `retry_command` the command that repeats the verb.
    """

    __slots__ = ("candidate", "entry", "manifest", "proved", "retry_command", "revision", "verb")

    def __init__(
        self,
        verb: str,
        entry: Entry,
        manifest: Manifest,
        candidate: Candidate,
        revision: shapes.Revision,
        retry_command: tuple[str, ...],
        proved: shapes.Revision | None = None,
    ) -> None:
        self.proved = proved
        self.verb = verb
        self.entry = entry
        self.manifest = manifest
        self.candidate = candidate
        self.revision = revision
        self.retry_command = retry_command

    def program(self, packages: Packages, *, may_start: bool) -> Program | Refused:
        """Return what would be probed, or what the environment puts in its way."""
        return self.candidate.startable(self.manifest, packages, self.retry_command, may_start=may_start)

    def receipt(self, *, executed: bool, block: Doctor, plan: str) -> Operation:
        """Return what the switch is about, as a preview or as done."""
        launcher, manifest, entry = self.candidate.launcher, self.manifest, self.entry
        return operation.switch(
            self.verb,
            extension_id=manifest.id,
            version=manifest.version,
            revision=manifest.revision,
            previous_revision=entry.active.id,
            executed=executed,
            doctor=block,
            enabled=entry.enabled,
            had_rollback=entry.rollback_revision is not None,
            launcher=launcher.pin() if isinstance(launcher, Launcher) else None,
            owner=self.revision.get("distribution"),
            changes=differences(entry.manifest, manifest),
            plan=plan,
        )

    def with_code(self, receipt: Operation, packages: Packages) -> Operation:
        """Return the receipt of a rollback with whether the code is what was proved for the revision before."""
        if self.proved is None or self.proved.get("proved_identity") is None or self.candidate.identity is None:
            return receipt
        return operation.with_code(receipt, code_other_than_proved(self.proved, self.candidate, packages))

    def preview(self, plan: str, packages: Packages) -> Operation:
        """Return what executing would do, with what the environment would refuse."""
        program = self.program(packages, may_start=False)
        refused = program if isinstance(program, Refused) else None
        block = doctor.preview(self.manifest.id, self.manifest.version, available=refused is None)
        receipt = self.with_code(self.receipt(executed=False, block=block, plan=plan), packages)
        return operation.previewed(receipt, refused=refused, next_command=self.retry_command)


def carry_out(switch: Switch, plan: str, ports: CanProve) -> Operation:
    """Probe the new revision and switch to it in one compare-and-set.

    Raises Refused: `entrypoint_missing` or `doctor_failed` with `active_after`, `state_moved`, and the store's.
    """
    packages, manifest = ports.packages, switch.manifest
    program = switch.program(packages, may_start=True)
    if isinstance(program, Refused):
        raise _with_active_after(program, switch.entry, ports)
    probed = probe(program, packages, ports.processes)
    block = probed.block(manifest.id, manifest.version)
    if not probed.verified:
        refused = doctor_failed(manifest.id, program.launcher, probed, block, switch.retry_command)
        raise _with_active_after(refused, switch.entry, ports)
    at = ports.clock.now()
    raw = switched(switch, probed, packages.platform(), at)
    written = replace_entry(ports.store, switch.entry, raw, manifest.snapshot)
    receipt = switch.receipt(executed=True, block=block, plan=plan)
    done = operation.proved(receipt, at=at, duration_ms=block["duration_ms"], written=written)
    return switch.with_code(done, packages)


def switched(switch: Switch, probed: Probe, platform: str, at: str) -> shapes.Entry:
    """Return the entry after the switch: the new revision active, the old one kept as the rollback target."""
    entry, revision = switch.entry, switch.revision
    others = [kept.raw for kept in entry.revisions if kept.id != revision["revision"]]
    is_repin = revision["revision"] == entry.active.id
    raw: shapes.Entry = {
        **entry.raw,
        "active_revision": revision["revision"],
        "rollback_revision": entry.rollback_revision if is_repin else entry.active.id,
        "revisions": [*others, revision],
    }
    event: Event = {
        "at": at,
        "operation": switch.verb,
        "revision": revision["revision"],
        "version": switch.manifest.version,
        "previous_revision": entry.active.id,
    }
    return with_event(_pruned(with_probe(raw, probed, platform, at)), event)


def _pruned(raw: shapes.Entry) -> shapes.Entry:
    """Keep the newest revisions, and always the active one and the rollback target."""
    protected = (raw["active_revision"], raw["rollback_revision"])
    spare = [kept["revision"] for kept in raw["revisions"] if kept["revision"] not in protected]
    dropped = spare[: max(0, len(raw["revisions"]) - KEPT_REVISIONS)]
    return {**raw, "revisions": [kept for kept in raw["revisions"] if kept["revision"] not in dropped]}


def _with_active_after(refused: Refused, entry: Entry, ports: CanProve) -> Refused:
    """Say what a failed switch leaves: the active revision, proved again if its runtime was replaced.

    The package's files may have been replaced before the switch was tried. Then the old proof is stale
    through no fault of the old manifest, which may well still run on the new files. Either way the code is another
    then, and the first sentence says so.
    """
    code = _code_of_active(entry, ports.packages)
    after, block = _ready_or_proved(entry, ports) if entry.enabled else ("disabled", None)
    blocks: dict[str, object] = {"active_after": after, "active_revision": entry.active.id}
    if block is not None:
        blocks["active_doctor"] = block
    if after == "stale":
        owner = entry.active.raw.get("distribution")
        launcher = entry.active.launcher["path"] if entry.active.launcher else None
        command = ports.packages.pip_command(owner, launcher) if owner else None
        blocks["restore"] = {"distribution": owner, "command": command}
    diagnostic = refused.diagnostic
    if code is not None:
        blocks["other_code"] = code
        diagnostic.summary = f"{diagnostic.summary}; {code_sentence(entry.active.id, code)}"
    refused.blocks.update(blocks)
    diagnostic.hint = f"{diagnostic.hint}; {_SENTENCE[after].format(revision=entry.active.id)}"
    return refused


def _code_of_active(entry: Entry, packages: Packages) -> OtherCode | None:
    """Return how the code behind the active revision differs from what was proved for it."""
    runtime = entry.manifest.runtime
    if runtime is None:
        return None
    return code_other_than_proved(entry.active.raw, Candidate.pinned(entry, runtime, packages), packages)


_SENTENCE = {
    "ready": "revision {revision} is still active and ready",
    "stale": "revision {revision} is still active, and stale until its package is put back",
    "disabled": "revision {revision} is still active and disabled",
}


def _ready_or_proved(entry: Entry, ports: CanProve) -> tuple[str, Doctor | None]:
    """Return (`ready` or `stale`, the doctor document if the active revision had to be proved again)."""
    packages = ports.packages
    now = readiness(entry, packages)
    if now.provider is not None:
        return "ready", None
    if now.program is None:
        return "stale", None
    probed = probe(now.program, packages, ports.processes)
    block = probed.block(entry.id, entry.manifest.version)
    if not probed.verified:
        return "stale", block
    at = ports.clock.now()
    event: Event = {"at": at, "operation": "doctor", "revision": entry.active.id, "failure_kind": None}
    try:
        replace_entry(ports.store, entry, with_event(with_probe(entry.raw, probed, packages.platform(), at), event))
    except Refused:  # what is to be said is why the switch failed; the proof can be made again
        return "stale", block
    return "ready", block
