"""`extension install`: trust one manifest revision after its doctor proved the runtime that is there."""

from __future__ import annotations

from loopx_host.core.errors import Refused
from loopx_host.lifecycle.extensions import receipts
from loopx_host.lifecycle.extensions.candidate import Candidate
from loopx_host.lifecycle.extensions.identity import LauncherNotFound
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
    from typing import Any, Protocol

    from loopx_host.lifecycle.extensions.identity import Launcher
    from loopx_host.lifecycle.extensions.ports import CanProve, Packages
    from loopx_host.lifecycle.extensions.probe import Probe
    from loopx_host.lifecycle.extensions.requests import TrustRequest
    from loopx_host.lifecycle.extensions.source import HasSources, Source

    class InstallPorts(CanProve, HasSources, Protocol):
        """What installing by id or path needs."""


VERB = "install"


def install(request: TrustRequest, ports: InstallPorts) -> dict[str, Any]:
    """Install one extension, or say what installing it would do (contract section 5).

    Order: everything that manifest and state decide, then the launcher, then the doctor, then one write
    that still finds the id free. Raises Refused with the code of the first step that fails.
    """
    source = source_to_trust(VERB, request, ports)
    return install_source(source, ports, execute=request.execute, plan=request.plan)


def install_source(source: Source, ports: CanProve, *, execute: bool, plan: str | None) -> dict[str, Any]:
    """Install a manifest that is at hand; see `install`."""
    manifest, packages = source.manifest, ports.packages
    state = State.parse(ports.store.read(), ports.store.location)
    starting_entry(state, manifest.id, VERB)
    refuse_capability_clash(manifest, state)
    candidate = Candidate.resolve(runtime_to_prove(manifest), source.folder, packages)
    digest = plan_digest(
        VERB, manifest.id, None, to=manifest, candidate=candidate, permissions_added=manifest.permissions
    )
    hold_to_plan(digest, plan, manifest.id, source.preview(VERB))
    retry_command = source.command(VERB)
    pinned = {
        **_pinned(source, candidate.launcher, packages),
        "env": candidate.runtime.env,
        "permissions": manifest.permissions,
        "plan": digest,
    }
    program = candidate.startable(manifest.id, packages, retry_command, may_start=execute)
    if not execute:
        refused = program if isinstance(program, Refused) else None
        doctor = receipts.doctor_preview(manifest.id, manifest.version, available=refused is None)
        head = receipts.operation(VERB, manifest, executed=False, changed=False, doctor=doctor)
        return {**head, **pinned, "would_refuse": receipts.would_refuse(refused), "next_command": retry_command}
    if isinstance(program, Refused):
        raise program
    probed = probe(program, packages, ports.processes)
    doctor = receipts.doctor_block(manifest.id, manifest.version, probed)
    if not probed.verified:
        raise doctor_failed(manifest.id, program.launcher, probed, doctor, retry_command)
    at = ports.clock.now()
    add_entry(ports.store, _entry(source, program.launcher, packages, probed, at), manifest.snapshot)
    head = receipts.operation(VERB, manifest, executed=True, changed=True, doctor=doctor)
    return {**head, **pinned, "enabled": True, "at": at, "duration_ms": doctor["duration_ms"]}


def _pinned(source: Source, launcher: Launcher | LauncherNotFound, packages: Packages) -> dict[str, Any]:
    """Return what the revision would be pinned to, as a receipt shows it."""
    if isinstance(launcher, LauncherNotFound):
        owner, pin, activates = None, None, None
    else:
        owner, pin, activates = packages.owner(launcher), launcher.pin(), _activates(source, launcher, packages)
    return {
        "manifest_path": source.path,
        "launcher": pin,
        "owner": owner or receipts.UNOWNED,
        "activates": activates,
        "warnings": source.warnings(owner),
    }


def _activates(source: Source, launcher: Launcher, packages: Packages) -> dict[str, Any]:
    """Return what of the package will run inside the host: with the rights of the user, and not contained."""
    return {**packages.entry_points(launcher, source.manifest.id), "contained": False}


def _entry(source: Source, launcher: Launcher, packages: Packages, probed: Probe, at: str) -> dict[str, Any]:
    manifest = source.manifest
    raw: dict[str, Any] = {
        "id": manifest.id,
        "enabled": enabled_after(None, VERB),
        "active_revision": manifest.revision,
        "rollback_revision": None,
        "revisions": [source.revision(launcher, packages, at)],
    }
    event = {"at": at, "operation": VERB, "revision": manifest.revision, "version": manifest.version}
    return with_event(with_probe(raw, probed, packages.platform(), at), event)
