"""The verb `doctor`: probe what is active now and record the proof, or the failure that clears it."""

from __future__ import annotations

from loopx_host.core.errors import refuse
from loopx_host.lifecycle.extensions import receipts
from loopx_host.lifecycle.extensions.identity import Launcher, LauncherNotFound
from loopx_host.lifecycle.extensions.pinned import identified, pinned, with_pin
from loopx_host.lifecycle.extensions.plan import bind, plan_digest
from loopx_host.lifecycle.extensions.probe import Probe, probe
from loopx_host.lifecycle.extensions.proof import proved, remembered
from loopx_host.lifecycle.extensions.readiness import readiness, refusal
from loopx_host.lifecycle.extensions.start_refusal import obstacle
from loopx_host.lifecycle.extensions.state import State
from loopx_host.lifecycle.extensions.writing import replace_entry

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from loopx_host.lifecycle.extensions.ports import Clock, Packages, Processes, StateStore
    from loopx_host.lifecycle.extensions.state import Entry
    from loopx_host.registry.manifest import Runtime


def doctor(
    extension_id: str,
    *,
    store: StateStore,
    packages: Packages,
    processes: Processes,
    clock: Clock,
    execute: bool,
    plan: str | None = None,
) -> dict[str, Any]:
    """Probe one installed extension (contract section 5).

    The doctor runs outside the lock; the record is written only if the entry is still the one that was
    probed. A failed probe clears the proof and never switches the revision; its receipt has ``ok: false``.
    """
    entry = State.parse(store.read(), store.location).entry(extension_id)
    runtime = _admit(entry, packages)
    before = readiness(entry, packages)
    target = pinned(entry, packages)
    manifest = entry.manifest
    digest = plan_digest("doctor", entry.id, entry, to=manifest, target=target, identity=identified(target, packages))
    bind(digest, plan, entry.id, _again(entry)[:-1])
    refused = obstacle(entry.id, runtime, target, packages, _again(entry), ask=execute)
    if not execute:
        block = receipts.doctor_preview(entry.id, manifest.version, available=refused is None)
        said = receipts.would_refuse(refused)
        return {**block, "plan": digest, "would_refuse": said, "next_command": _again(entry)}
    if refused is not None and refused.code != "entrypoint_missing":
        raise refused
    if isinstance(target, LauncherNotFound) or refused is not None:
        summary = refused.diagnostic.summary if refused else None
        probed = Probe(failure_kind="entrypoint_missing", reason=summary)
    else:
        probed = probe(target, runtime, packages, processes)
    at = clock.now()
    replace_entry(store, entry, _recorded(entry, target, probed, packages.platform(), at))
    block = receipts.doctor_block(manifest.id, manifest.version, probed)
    block |= {"changed": before.changed, "changed_details": before.details}
    if refused is not None:
        refused.blocks["doctor"] = block
        raise refused
    return {**block, "at": at, "plan": digest, "next_command": None if probed.verified else _again(entry)}


def _again(entry: Entry) -> tuple[str, ...]:
    return ("extension", "doctor", entry.id, "--execute")


def _admit(entry: Entry, packages: Packages) -> Runtime:
    runtime = entry.manifest.runtime
    if not entry.enabled or runtime is None:
        refused = refusal(entry, readiness(entry, packages))
        refused.blocks["doctor"] = receipts.doctor_disabled(entry.id, entry.manifest.version)
        raise refused
    if not runtime.doctor_args:
        raise refuse("doctor_not_configured", entry.id, f"extension `{entry.id}` configures no doctor")
    return runtime


def _recorded(
    entry: Entry, target: Launcher | LauncherNotFound, probed: Probe, platform: str, at: str
) -> dict[str, Any]:
    kept = with_pin(entry, target) if isinstance(target, Launcher) and probed.verified else entry.raw
    raw = proved(kept, probed, platform, at)
    event = {
        "at": at,
        "operation": "doctor",
        "revision": entry.active.id,
        "failure_kind": probed.failure_kind,
    }
    return remembered(raw, event)
