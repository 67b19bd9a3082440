"""The verb `doctor`: probe what is active now and record the proof, or the failure that clears it."""

from __future__ import annotations

from loopx_host.core.errors import refuse
from loopx_host.lifecycle import receipts
from loopx_host.lifecycle.identity import Missing, Target
from loopx_host.lifecycle.pinned import with_pin
from loopx_host.lifecycle.probe import Probe, probe
from loopx_host.lifecycle.proof import proved, remembered
from loopx_host.lifecycle.readiness import missing_entrypoint, readiness, refusal
from loopx_host.lifecycle.state import State
from loopx_host.lifecycle.writing import replace_entry

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from loopx_host.core.errors import Refused
    from loopx_host.lifecycle.ports import Clock, Packages, Processes, StateStore
    from loopx_host.lifecycle.state import Entry
    from loopx_host.registry.manifest import Runtime


def doctor(
    extension_id: str,
    *,
    store: StateStore,
    packages: Packages,
    processes: Processes,
    clock: Clock,
    execute: bool,
) -> dict[str, Any]:
    """Probe one installed extension (contract section 5).

    The doctor runs outside the lock; the record is written only if the entry is still the one that was
    probed. A failed probe clears the proof and never switches the revision; its receipt has ``ok: false``.
    """
    entry = State.parse(store.read(), store.location).entry(extension_id)
    runtime = _admit(entry, packages)
    target = pinned(entry, runtime, packages)
    manifest = entry.manifest
    if not execute:
        return _preview(entry, target, packages)
    if isinstance(target, Missing):
        probed = Probe(failure_kind="entrypoint_missing", reason=_not_found(entry, target).diagnostic.summary)
    else:
        probed = probe(target, runtime, packages, processes)
    at = clock.now()
    raw = _recorded(entry, target, probed, packages.platform(), at)
    replace_entry(store, entry, raw)
    block = receipts.doctor_block(manifest.id, manifest.version, probed)
    if probed.failure_kind == "entrypoint_missing":
        raise _gone(entry, target, block)
    return {**block, "at": at, "next_command": None if probed.verified else _again(entry)}


def pinned(entry: Entry, runtime: Runtime, packages: Packages) -> Target | Missing:
    """Return the pinned launcher; an entry that a v0 tool wrote has none and is resolved anew."""
    pin = entry.active.launcher
    if pin is not None:
        return Target.from_pin(pin, runtime)
    return packages.resolve(runtime, entry.active.folder)


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


def _preview(entry: Entry, target: Target | Missing, packages: Packages) -> dict[str, Any]:
    refused: Refused | None = None
    if isinstance(target, Missing):
        refused = _not_found(entry, target)
    elif packages.identify(target) is None:
        refused = _gone(entry, target, None)
    block = receipts.doctor_preview(entry.id, entry.manifest.version, available=refused is None)
    return {**block, "would_refuse": receipts.would_refuse(refused), "next_command": _again(entry)}


def _not_found(entry: Entry, target: Missing) -> Refused:
    return missing_entrypoint(target.name, target.searched, target.environment, _again(entry))


def _gone(entry: Entry, target: Target | Missing, block: dict[str, Any] | None) -> Refused:
    if isinstance(target, Missing):
        refused = _not_found(entry, target)
    else:
        refused = refuse(
            "entrypoint_missing",
            entry.id,
            f"extension `{entry.id}` is pinned to {target.path}, which is not an executable file now",
            hint="put the package back where it was, then probe it",
            next_command=_again(entry),
        )
    if block is not None:
        refused.blocks["doctor"] = block
    return refused


def _recorded(entry: Entry, target: Target | Missing, probed: Probe, platform: str, at: str) -> dict[str, Any]:
    kept = with_pin(entry, target) if isinstance(target, Target) and probed.verified else entry.raw
    raw = proved(kept, probed, platform, at)
    event = {
        "at": at,
        "operation": "doctor",
        "revision": entry.active.id,
        "failure_kind": probed.failure_kind,
    }
    return remembered(raw, event)
