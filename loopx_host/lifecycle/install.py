"""The verb `install`: trust one manifest revision after its doctor proved the runtime that is there."""

from __future__ import annotations

from loopx_host.core.errors import refuse
from loopx_host.lifecycle import receipts
from loopx_host.lifecycle.identity import Missing
from loopx_host.lifecycle.probe import probe
from loopx_host.lifecycle.proof import proved, remembered
from loopx_host.lifecycle.readiness import missing_entrypoint
from loopx_host.lifecycle.state import BadEntry, State

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from loopx_host.core.errors import Refused
    from loopx_host.lifecycle.identity import Target
    from loopx_host.lifecycle.ports import Clock, Packages, Processes, StateStore
    from loopx_host.lifecycle.probe import Probe
    from loopx_host.registry.manifest import Manifest, Runtime


class Source:
    """The manifest to install and where it came from; `path` is absolute and shown as text."""

    __slots__ = ("folder", "manifest", "path")

    def __init__(self, manifest: Manifest, path: str, folder: str) -> None:
        self.manifest = manifest
        self.path = path
        self.folder = folder

    @property
    def again(self) -> tuple[str, ...]:
        """The command that installs it."""
        return ("extension", "install", "--manifest", self.path, "--execute")


def install(
    source: Source,
    *,
    store: StateStore,
    packages: Packages,
    processes: Processes,
    clock: Clock,
    core_capabilities: frozenset[str],
    execute: bool,
) -> dict[str, Any]:
    """Install one extension, or say what installing it would do (contract section 5).

    Order: everything that manifest and state decide, then the launcher, then the doctor, then one write
    that still finds the id free. Raises Refused with the code of the first step that fails.
    """
    manifest = source.manifest
    state = State.parse(store.read(), store.location)
    runtime = _admit(source, state, core_capabilities)
    target = packages.resolve(runtime, source.folder)
    if not execute:
        return _preview(source, runtime, target)
    if isinstance(target, Missing):
        raise missing_entrypoint(target.name, target.searched, target.environment, source.again)
    probed = probe(target, runtime, packages, processes)
    doctor = receipts.doctor_block(manifest.id, manifest.version, probed)
    if not probed.verified:
        raise doctor_failed(manifest.id, target, probed, doctor, source.again)
    at = clock.now()
    raw = _entry(source, target, probed, packages.platform(), at)
    store.change(lambda data: _add(State.parse(data, store.location), raw).replacement(manifest.snapshot))
    return {
        **_operation(source, dry_run=False, enabled=True, doctor=doctor),
        "at": at,
        "duration_ms": doctor["duration_ms"],
        "launcher": target.pin(),
    }


def doctor_failed(
    extension_id: str, target: Target, probed: Probe, doctor: dict[str, Any], again: tuple[str, ...]
) -> Refused:
    """Return the refusal of a verb whose probe failed, with the doctor document as evidence."""
    named = f"{target.path} -m {target.module}" if target.module else target.path
    return refuse(
        "doctor_failed",
        extension_id,
        f"the doctor of `{extension_id}` ({named}) failed: {probed.reason}",
        hint="nothing was changed; repair the package, then repeat the command",
        next_command=again,
        doctor=doctor,
    )


def _admit(source: Source, state: State, core_capabilities: frozenset[str]) -> Runtime:
    """Refuse what manifest and state already decide; return the runtime to prove."""
    manifest = source.manifest
    present = state.find(manifest.id)
    if isinstance(present, BadEntry):
        raise present.refusal()
    if present is not None:
        raise refuse(
            "already_installed",
            manifest.id,
            f"extension `{manifest.id}` is already installed",
            hint="see what is active",
            next_command=("extension", "show", manifest.id),
        )
    refuse_capability_clash(manifest, state, core_capabilities)
    runtime = manifest.runtime
    if runtime is None or not runtime.doctor_args:
        raise refuse(
            "doctor_not_configured",
            manifest.id,
            f"extension `{manifest.id}` configures no doctor; nothing could prove that it works",
            hint="add doctor_args to [runtime]",
        )
    return runtime


def refuse_capability_clash(manifest: Manifest, state: State, core_capabilities: frozenset[str]) -> None:
    """Refuse a capability another owner provides, and an implementation of one that nobody declares."""
    owners = dict.fromkeys(core_capabilities, "loopx-core")
    for entry in state.entries():
        if not isinstance(entry, BadEntry) and entry.id != manifest.id:
            owners.update({capability["id"]: entry.id for capability in entry.manifest.capabilities})
    own = [str(capability["id"]) for capability in manifest.capabilities]
    for capability in own:
        if capability in owners:
            raise refuse(
                "capability_duplicate",
                capability,
                f"capability `{capability}` of `{manifest.id}` is already provided by `{owners[capability]}`",
                hint="only one owner may declare a capability",
                next_command=("extension", "list"),
            )
    for implementation in manifest.implementations:
        named = implementation["capability_id"]
        if named not in owners and named not in own:
            raise refuse(
                "capability_unknown",
                named,
                f"`{manifest.id}` implements the capability `{named}`, which no installed extension declares",
                hint="install the extension that declares it first",
            )


def _preview(source: Source, runtime: Runtime, target: Target | Missing) -> dict[str, Any]:
    manifest, refused = source.manifest, None
    if isinstance(target, Missing):
        refused = missing_entrypoint(target.name, target.searched, target.environment, source.again)
    doctor = receipts.doctor_preview(manifest.id, manifest.version, available=refused is None)
    return {
        **_operation(source, dry_run=True, enabled=None, doctor=doctor),
        "launcher": None if isinstance(target, Missing) else target.pin(),
        "env": runtime.env,
        "permissions": manifest.permissions,
        "would_refuse": receipts.would_refuse(refused),
        "next_command": source.again,
    }


def _operation(source: Source, *, dry_run: bool, enabled: bool | None, doctor: dict[str, Any]) -> dict[str, Any]:
    manifest = source.manifest
    return {
        "ok": True,
        "schema_version": receipts.OPERATION_SCHEMA,
        "operation": "install",
        "dry_run": dry_run,
        "changed": not dry_run,
        "extension_id": manifest.id,
        "version": manifest.version,
        "revision": manifest.revision,
        "previous_revision": None,
        "enabled": enabled,
        "doctor": doctor,
        "rollback_available": False,
        "manifest_path": source.path,
        "warnings": [problem.row() for problem in manifest.warnings],
    }


def _entry(source: Source, target: Target, probed: Probe, platform: str, at: str) -> dict[str, Any]:
    manifest = source.manifest
    revision = {
        "revision": manifest.revision,
        "version": manifest.version,
        "manifest": manifest.form,
        "digest": manifest.digest,
        "manifest_path": source.path,
        "installed_at": at,
        "launcher": target.pin(),
    }
    raw: dict[str, Any] = {
        "id": manifest.id,
        "enabled": True,
        "active_revision": manifest.revision,
        "rollback_revision": None,
        "revisions": [revision],
    }
    event = {"at": at, "operation": "install", "revision": manifest.revision, "version": manifest.version}
    return remembered(proved(raw, probed, platform, at), event)


def _add(state: State, raw: dict[str, Any]) -> State:
    if state.find(raw["id"]) is not None:
        raise moved(raw["id"])
    return state.with_entry(raw)


def moved(extension_id: str) -> Refused:
    """Return the refusal of a compare-and-set that found the entry changed meanwhile."""
    return refuse(
        "state_moved",
        extension_id,
        f"the entry of `{extension_id}` was changed by another command meanwhile; nothing was written",
        hint="look again, then repeat the command",
    )
