"""`extension enable`: never trust an old proof; probe again, then set the bit."""

from __future__ import annotations

from loopx_host.core.errors import Refused
from loopx_host.documents import doctor, operation
from loopx_host.lifecycle.extensions.candidate import Candidate
from loopx_host.lifecycle.extensions.pins import with_pin
from loopx_host.lifecycle.extensions.plan import hold_to_plan, plan_digest
from loopx_host.lifecycle.extensions.preconditions import runtime_to_prove
from loopx_host.lifecycle.extensions.probe import probe
from loopx_host.lifecycle.extensions.proof import with_event, with_probe
from loopx_host.lifecycle.extensions.refusals import doctor_failed
from loopx_host.lifecycle.extensions.state import State
from loopx_host.lifecycle.extensions.transitions import enabled_after, installed_entry
from loopx_host.lifecycle.extensions.writing import replace_entry

TYPE_CHECKING = False
if TYPE_CHECKING:
    from loopx_host.documents import state as shapes
    from loopx_host.documents.doctor import Doctor
    from loopx_host.documents.operation import Operation
    from loopx_host.documents.state import Event
    from loopx_host.lifecycle.extensions.identity import Launcher
    from loopx_host.lifecycle.extensions.ports import CanProve
    from loopx_host.lifecycle.extensions.probe import Probe
    from loopx_host.lifecycle.extensions.requests import ChangeRequest
    from loopx_host.lifecycle.extensions.state import Entry

VERB = "enable"


def enable(request: ChangeRequest, ports: CanProve) -> Operation:
    """Enable one extension (contract section 5); an enabled one is probed again and stays enabled.

    A failed probe clears the proof, leaves the bit as it was, and raises Refused `doctor_failed`.
    """
    packages = ports.packages
    entry = installed_entry(State.parse(ports.store.read(), ports.store.location), request.extension_id, VERB)
    version = entry.manifest.version
    candidate = Candidate.pinned(entry, runtime_to_prove(entry.manifest), packages)
    digest = plan_digest(VERB, entry.id, entry, to=entry.manifest, candidate=candidate)
    retry_command = ("extension", VERB, entry.id, "--execute")
    hold_to_plan(digest, request.plan, entry.id, retry_command[:-1])
    program = candidate.startable(entry.manifest, packages, retry_command, may_start=request.execute)
    if not request.execute:
        refused = program if isinstance(program, Refused) else None
        block = doctor.preview(entry.id, version, available=refused is None)
        receipt = _receipt(entry, block, digest, executed=False)
        return operation.previewed(receipt, refused=refused, next_command=retry_command)
    if isinstance(program, Refused):
        raise program
    probed = probe(program, packages, ports.processes)
    at = ports.clock.now()
    written = replace_entry(ports.store, entry, _recorded(entry, program.launcher, probed, packages.platform(), at))
    block = probed.block(entry.id, version)
    if not probed.verified:
        raise doctor_failed(entry.id, program.launcher, probed, block, retry_command)
    receipt = _receipt(entry, block, digest, executed=True)
    return operation.proved(receipt, at=at, duration_ms=block["duration_ms"], written=written)


def _recorded(entry: Entry, launcher: Launcher, probed: Probe, platform: str, at: str) -> shapes.Entry:
    raw = with_probe(with_pin(entry, launcher) if probed.verified else entry.raw, probed, platform, at)
    event: Event = {"at": at, "operation": VERB, "revision": entry.active.id, "failure_kind": probed.failure_kind}
    enabled = enabled_after(entry, VERB) if probed.verified else entry.enabled
    return with_event({**raw, "enabled": enabled}, event)


def _receipt(entry: Entry, block: Doctor, plan: str, *, executed: bool) -> Operation:
    return operation.enable(
        extension_id=entry.id,
        active_revision=entry.active.id,
        was_enabled=entry.enabled,
        executed=executed,
        doctor=block,
        plan=plan,
    )
