"""The verb `enable`: never trust an old proof; probe again, then set the bit."""

from __future__ import annotations

from loopx_host.lifecycle.extensions import receipts
from loopx_host.lifecycle.extensions.admission import runtime_to_prove
from loopx_host.lifecycle.extensions.identity import Launcher, LauncherNotFound
from loopx_host.lifecycle.extensions.pinned import identified, pinned, with_pin
from loopx_host.lifecycle.extensions.plan import bind, plan_digest
from loopx_host.lifecycle.extensions.probe import probe
from loopx_host.lifecycle.extensions.proof import proved, remembered
from loopx_host.lifecycle.extensions.refusals import doctor_failed, missing_entrypoint
from loopx_host.lifecycle.extensions.start_refusal import obstacle
from loopx_host.lifecycle.extensions.state import State
from loopx_host.lifecycle.extensions.transitions import enabled_after, present
from loopx_host.lifecycle.extensions.writing import replace_entry

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from loopx_host.lifecycle.extensions.ports import Clock, Packages, Processes, StateStore
    from loopx_host.lifecycle.extensions.probe import Probe
    from loopx_host.lifecycle.extensions.state import Entry

VERB = "enable"


def enable(
    extension_id: str,
    *,
    store: StateStore,
    packages: Packages,
    processes: Processes,
    clock: Clock,
    execute: bool,
    plan: str | None,
) -> dict[str, Any]:
    """Enable one extension (contract section 5); an enabled one is probed again and stays enabled.

    A failed probe clears the proof, leaves the bit as it was, and raises Refused `doctor_failed`.
    """
    entry = present(State.parse(store.read(), store.location), extension_id, VERB)
    runtime = runtime_to_prove(entry.manifest)
    target = pinned(entry, packages)
    identity = identified(target, packages)
    digest = plan_digest(VERB, entry.id, entry, to=entry.manifest, target=target, identity=identity)
    bind(digest, plan, entry.id, ("extension", VERB, entry.id))
    again = ("extension", VERB, entry.id, "--execute")
    refused = obstacle(entry.id, runtime, target, packages, again, ask=execute)
    if not execute:
        doctor = receipts.doctor_preview(entry.id, entry.manifest.version, available=refused is None)
        preview = _receipt(entry, doctor, digest, executed=False)
        return {**preview, "would_refuse": receipts.would_refuse(refused), "next_command": again}
    if refused is not None or isinstance(target, LauncherNotFound):
        raise refused or missing_entrypoint(target, again)
    probed = probe(target, runtime, packages, processes)
    at = clock.now()
    replace_entry(store, entry, _recorded(entry, target, probed, packages.platform(), at))
    doctor = receipts.doctor_block(entry.id, entry.manifest.version, probed)
    if not probed.verified:
        raise doctor_failed(entry.id, target, probed, doctor, again)
    return {**_receipt(entry, doctor, digest, executed=True), "at": at, "duration_ms": doctor["duration_ms"]}


def _recorded(entry: Entry, target: Launcher, probed: Probe, platform: str, at: str) -> dict[str, Any]:
    raw = proved(with_pin(entry, target) if probed.verified else entry.raw, probed, platform, at)
    event = {"at": at, "operation": VERB, "revision": entry.active.id, "failure_kind": probed.failure_kind}
    return remembered({**raw, "enabled": enabled_after(entry, VERB) if probed.verified else entry.enabled}, event)


def _receipt(entry: Entry, doctor: dict[str, Any], plan: str, *, executed: bool) -> dict[str, Any]:
    would_change = not entry.enabled
    return {
        **receipts.bit(VERB, entry, executed=executed, would_change=would_change),
        "enabled": entry.enabled or executed,
        "doctor": doctor,
        "plan": plan,
    }
