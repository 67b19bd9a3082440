"""`extension doctor`: probe what is active now and record the proof, or the failure that clears it."""

from __future__ import annotations

from loopx_host.core.errors import Refused, refusal
from loopx_host.documents import doctor as document
from loopx_host.lifecycle.extensions.candidate import Candidate
from loopx_host.lifecycle.extensions.identity import Launcher
from loopx_host.lifecycle.extensions.pins import with_pin
from loopx_host.lifecycle.extensions.plan import hold_to_plan, plan_digest
from loopx_host.lifecycle.extensions.probe import Probe, probe
from loopx_host.lifecycle.extensions.proof import with_event, with_probe
from loopx_host.lifecycle.extensions.readiness import readiness, why_not_ready
from loopx_host.lifecycle.extensions.state import State
from loopx_host.lifecycle.extensions.writing import replace_entry

TYPE_CHECKING = False
if TYPE_CHECKING:
    from loopx_host.documents import state as shapes
    from loopx_host.documents.doctor import Doctor
    from loopx_host.documents.state import Event
    from loopx_host.lifecycle.extensions.identity import LauncherNotFound
    from loopx_host.lifecycle.extensions.ports import CanProve
    from loopx_host.lifecycle.extensions.readiness import Readiness
    from loopx_host.lifecycle.extensions.requests import ChangeRequest
    from loopx_host.lifecycle.extensions.state import Entry
    from loopx_host.registry.manifest import Runtime

VERB = "doctor"


def doctor(request: ChangeRequest, ports: CanProve) -> Doctor:
    """Probe one installed extension (contract section 5).

    The doctor runs outside the lock; the record is written only if the entry is still the one that was
    probed. A failed probe clears the proof and never switches the revision; its receipt has ``ok: false``.
    """
    packages = ports.packages
    entry = State.parse(ports.store.read(), ports.store.location).entry(request.extension_id)
    before = readiness(entry, packages)
    candidate = Candidate.pinned(entry, _runtime_to_probe(before), packages)
    version = entry.manifest.version
    retry_command = ("extension", VERB, entry.id, "--execute")
    digest = plan_digest(VERB, entry.id, entry, to=entry.manifest, candidate=candidate)
    hold_to_plan(digest, request.plan, entry.id, retry_command[:-1])
    program = candidate.startable(entry.manifest, packages, retry_command, may_start=request.execute)
    refused = program if isinstance(program, Refused) else None
    owner = candidate.identity.owner if candidate.identity else None
    if not request.execute:
        block = document.preview(entry.id, version, available=refused is None)
        return document.previewed(
            block,
            owner=owner,
            plan=digest,
            refused=refused,
            last_failure=entry.failure,
            next_command=retry_command,
        )
    if isinstance(program, Refused):
        if program.code != "entrypoint_missing":
            raise program
        # A launcher that is gone is a finding like any other: it clears the proof before it is refused.
        probed = Probe(failure_kind=program.code, reason=program.diagnostic.summary)
    else:
        probed = probe(program, packages, ports.processes)
    at = ports.clock.now()
    replace_entry(ports.store, entry, _recorded(entry, candidate.launcher, probed, packages.platform(), at))
    block = document.with_changes(probed.block(entry.id, version), before.changed, before.details)
    if refused is not None:
        refused.blocks["doctor"] = block
        raise refused
    next_command = None if probed.verified else retry_command
    bound_to = document.bound_to(
        revision=entry.active.id, identity=block["entrypoint_identity"], platform=packages.platform()
    )
    return document.done(block, owner=owner, at=at, plan=digest, bound_to=bound_to, next_command=next_command)


def _runtime_to_probe(now: Readiness) -> Runtime:
    """Return the runtime of an enabled extension with a doctor. Raises Refused otherwise."""
    entry, runtime = now.entry, now.entry.manifest.runtime
    if not entry.enabled or runtime is None:
        refused = why_not_ready(now)
        refused.blocks["doctor"] = document.disabled(entry.id, entry.manifest.version)
        raise refused
    if not runtime.doctor_args:
        raise refusal("doctor_not_configured", entry.id, f"extension `{entry.id}` configures no doctor")
    return runtime


def _recorded(
    entry: Entry, launcher: Launcher | LauncherNotFound, probed: Probe, platform: str, at: str
) -> shapes.Entry:
    pinned = with_pin(entry, launcher) if isinstance(launcher, Launcher) and probed.verified else entry.raw
    event: Event = {
        "at": at,
        "operation": VERB,
        "revision": entry.active.id,
        "failure_kind": probed.failure_kind,
    }
    return with_event(with_probe(pinned, probed, platform, at), event)
