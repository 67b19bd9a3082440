"""The verb `install`: trust one manifest revision after its doctor proved the runtime that is there."""

from __future__ import annotations

from loopx_host.lifecycle.extensions import receipts
from loopx_host.lifecycle.extensions.admission import refuse_capability_clash, runtime_to_prove
from loopx_host.lifecycle.extensions.identity import Launcher, LauncherNotFound
from loopx_host.lifecycle.extensions.pinned import identified
from loopx_host.lifecycle.extensions.plan import bind, plan_digest
from loopx_host.lifecycle.extensions.probe import probe
from loopx_host.lifecycle.extensions.proof import proved, remembered
from loopx_host.lifecycle.extensions.refusals import doctor_failed, missing_entrypoint
from loopx_host.lifecycle.extensions.start_refusal import obstacle
from loopx_host.lifecycle.extensions.state import State
from loopx_host.lifecycle.extensions.transitions import admit, enabled_after
from loopx_host.lifecycle.extensions.writing import add_entry

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from loopx_host.lifecycle.extensions.admission import Source
    from loopx_host.lifecycle.extensions.ports import Clock, Packages, Processes, StateStore
    from loopx_host.lifecycle.extensions.probe import Probe

VERB = "install"


def install(
    source: Source,
    *,
    store: StateStore,
    packages: Packages,
    processes: Processes,
    clock: Clock,
    core_capabilities: frozenset[str],
    execute: bool,
    plan: str | None,
) -> dict[str, Any]:
    """Install one extension, or say what installing it would do (contract section 5).

    Order: everything that manifest and state decide, then the launcher, then the doctor, then one write
    that still finds the id free. Raises Refused with the code of the first step that fails.
    """
    manifest = source.manifest
    state = State.parse(store.read(), store.location)
    admit(state, manifest.id, VERB)
    refuse_capability_clash(manifest, state, core_capabilities)
    runtime = runtime_to_prove(manifest)
    target = packages.resolve(runtime, source.folder)
    identity = identified(target, packages)
    digest = plan_digest(
        VERB, manifest.id, None, to=manifest, target=target, identity=identity, permissions_added=manifest.permissions
    )
    bind(digest, plan, manifest.id, source.preview(VERB))
    again = source.command(VERB)
    owner = packages.owner(target) if isinstance(target, Launcher) else None
    receipt = {
        **_pinned(source, target, owner, packages),
        "env": runtime.env,
        "permissions": manifest.permissions,
        "plan": digest,
    }
    refused = obstacle(manifest.id, runtime, target, packages, again, ask=execute)
    if not execute:
        doctor = receipts.doctor_preview(manifest.id, manifest.version, available=refused is None)
        head = receipts.operation(VERB, manifest, executed=False, changed=False, doctor=doctor)
        return {**head, **receipt, "would_refuse": receipts.would_refuse(refused), "next_command": again}
    if refused is not None or isinstance(target, LauncherNotFound):
        raise refused or missing_entrypoint(target, again)
    probed = probe(target, runtime, packages, processes)
    doctor = receipts.doctor_block(manifest.id, manifest.version, probed)
    if not probed.verified:
        raise doctor_failed(manifest.id, target, probed, doctor, again)
    at = clock.now()
    add_entry(store, _entry(source, target, packages, probed, at), manifest.snapshot)
    head = receipts.operation(VERB, manifest, executed=True, changed=True, doctor=doctor)
    return {**head, **receipt, "enabled": True, "at": at, "duration_ms": doctor["duration_ms"]}


def _pinned(
    source: Source, target: Launcher | LauncherNotFound, owner: dict[str, str] | None, packages: Packages
) -> dict[str, Any]:
    return {
        "manifest_path": source.path,
        "launcher": None if isinstance(target, LauncherNotFound) else target.pin(),
        "owner": owner or receipts.UNOWNED,
        "activates": None if isinstance(target, LauncherNotFound) else _activates(source, target, packages),
        "warnings": source.warnings(owner),
    }


def _entry(source: Source, target: Launcher, packages: Packages, probed: Probe, at: str) -> dict[str, Any]:
    manifest = source.manifest
    raw: dict[str, Any] = {
        "id": manifest.id,
        "enabled": enabled_after(None, VERB),
        "active_revision": manifest.revision,
        "rollback_revision": None,
        "revisions": [source.revision(target, packages, at)],
    }
    event = {"at": at, "operation": VERB, "revision": manifest.revision, "version": manifest.version}
    return remembered(proved(raw, probed, packages.platform(), at), event)


def _activates(source: Source, target: Launcher, packages: Packages) -> dict[str, Any]:
    """Return what of the package will run inside the host: with the rights of the user, and not contained."""
    return {**packages.entry_points(target, source.manifest.id), "contained": False}
