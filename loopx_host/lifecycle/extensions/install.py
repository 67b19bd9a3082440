"""`extension install`: trust one manifest revision after its doctor proved the runtime that is there."""

from __future__ import annotations

from loopx_host.core.errors import Refused
from loopx_host.documents import doctor, operation
from loopx_host.lifecycle.extensions.candidate import Candidate
from loopx_host.lifecycle.extensions.identity import LauncherNotFound
from loopx_host.lifecycle.extensions.pins import pins
from loopx_host.lifecycle.extensions.plan import hold_to_plan, plan_digest
from loopx_host.lifecycle.extensions.preconditions import refuse_capability_clash, runtime_to_prove
from loopx_host.lifecycle.extensions.probe import probe
from loopx_host.lifecycle.extensions.proof import with_event, with_probe
from loopx_host.lifecycle.extensions.refusals import doctor_failed
from loopx_host.lifecycle.extensions.source import source_to_trust
from loopx_host.lifecycle.extensions.state import State
from loopx_host.lifecycle.extensions.transitions import enabled_after, starting_entry
from loopx_host.lifecycle.extensions.writing import add_entry

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Protocol

    from loopx_host.documents.doctor import Doctor
    from loopx_host.documents.operation import Operation
    from loopx_host.documents.state import Entry, Event
    from loopx_host.lifecycle.extensions.identity import Launcher
    from loopx_host.lifecycle.extensions.ports import CanProve, Packages
    from loopx_host.lifecycle.extensions.probe import Probe
    from loopx_host.lifecycle.extensions.requests import TrustRequest
    from loopx_host.lifecycle.extensions.source import HasSources, Source

    class InstallPorts(CanProve, HasSources, Protocol):
        """What installing by id or path needs."""


VERB = "install"


def install(request: TrustRequest, ports: InstallPorts) -> Operation:
    """Install one extension, or say what installing it would do (contract section 5).

    Order: everything that manifest and state decide, then the launcher, then the doctor, then one write
    that still finds the id free. Raises Refused with the code of the first step that fails.
    """
    source = source_to_trust(VERB, request, ports)
    return install_source(source, ports, execute=request.execute, plan=request.plan)


def install_source(
    source: Source,
    ports: CanProve,
    *,
    execute: bool,
    plan: str | None,
    state: State | None = None,
    enabled: bool = True,
) -> Operation:
    """Install a manifest that is at hand; see `install`.

    A preview may be made for a `state` that is not there yet; `enabled` is the bit the new entry is written with.
    """
    manifest, packages = source.manifest, ports.packages
    state = state or State.parse(ports.store.read(), ports.store.location)
    starting_entry(state, manifest.id, VERB)
    refuse_capability_clash(manifest, state)
    candidate = Candidate.resolve(runtime_to_prove(manifest), source.folder, packages)
    digest = plan_digest(
        VERB, manifest.id, None, to=manifest, candidate=candidate, permissions_added=manifest.permissions
    )
    hold_to_plan(digest, plan, manifest.id, source.preview(VERB))
    retry_command = source.command(VERB)
    program = candidate.startable(manifest, packages, retry_command, may_start=execute)
    if not execute:
        refused = program if isinstance(program, Refused) else None
        block = doctor.preview(manifest.id, manifest.version, available=refused is None)
        receipt = _receipt(source, candidate, packages, digest, block, executed=False)
        return operation.previewed(receipt, refused=refused, next_command=retry_command)
    if isinstance(program, Refused):
        raise program
    probed = probe(program, packages, ports.processes)
    block = probed.block(manifest.id, manifest.version)
    if not probed.verified:
        raise doctor_failed(manifest.id, program.launcher, probed, block, retry_command)
    at = ports.clock.now()
    raw = _entry(source, program.launcher, packages, probed, at, enabled=enabled)
    written = add_entry(ports.store, raw, manifest.snapshot)
    receipt = _receipt(source, candidate, packages, digest, block, executed=True)
    return operation.proved(receipt, at=at, duration_ms=block["duration_ms"], written=written)


def _receipt(
    source: Source, candidate: Candidate, packages: Packages, plan: str, block: Doctor, *, executed: bool
) -> Operation:
    """Return what the install is about: the manifest, and what its revision is pinned to where that was found."""
    manifest, launcher = source.manifest, candidate.launcher
    pinned = None if isinstance(launcher, LauncherNotFound) else pins(launcher, manifest.id, packages)
    owner = pinned["distribution"] if pinned else None
    return operation.install(
        extension_id=manifest.id,
        version=manifest.version,
        revision=manifest.revision,
        executed=executed,
        doctor=block,
        manifest_path=source.path,
        launcher=pinned["launcher"] if pinned else None,
        owner=owner,
        entry_points={"plugins": pinned["plugins"], "commands": pinned["commands"]} if pinned else None,
        warnings=source.warnings(owner),
        env=candidate.runtime.env,
        permissions=manifest.permissions,
        plan=plan,
    )


def _entry(source: Source, launcher: Launcher, packages: Packages, probed: Probe, at: str, *, enabled: bool) -> Entry:
    manifest = source.manifest
    raw: Entry = {
        "id": manifest.id,
        "enabled": enabled_after(None, VERB) and enabled,
        "active_revision": manifest.revision,
        "rollback_revision": None,
        "doctor_verified_revision": None,  # these two are those of the probe, below
        "doctor_verified_entrypoint_identity": None,
        "revisions": [source.revision(launcher, packages, at)],
    }
    event: Event = {"at": at, "operation": VERB, "revision": manifest.revision, "version": manifest.version}
    return with_event(with_probe(raw, probed, packages.platform(), at), event)
