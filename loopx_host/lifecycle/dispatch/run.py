"""The verb `run`: one request to one enabled, proved, zero-permission provider, in one bounded process."""

from __future__ import annotations

from loopx_host.core.digest import sha256_hex
from loopx_host.core.errors import refuse
from loopx_host.core.limits import REQUEST_BYTES
from loopx_host.core.strict_json import JsonViolation, parse_object
from loopx_host.core.text import stderr_tail
from loopx_host.lifecycle.dispatch.launch import run_launch
from loopx_host.lifecycle.dispatch.outcome import SUCCEEDED, outcome
from loopx_host.lifecycle.extensions import receipts
from loopx_host.lifecycle.extensions.identity import LauncherNotFound
from loopx_host.lifecycle.extensions.prerequisites import missing
from loopx_host.lifecycle.extensions.probe import changed_since
from loopx_host.lifecycle.extensions.readiness import DECIDED_BY_STATE, Readiness, readiness, refusal
from loopx_host.lifecycle.extensions.refusals import changed_during_run, missing_entrypoint
from loopx_host.lifecycle.extensions.state import State

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from loopx_host.core.errors import Refused
    from loopx_host.lifecycle.dispatch.schemas import RunSchemas
    from loopx_host.lifecycle.extensions.ports import Clock, Judging, Packages, Processes, StateStore
    from loopx_host.lifecycle.extensions.process import Ended
    from loopx_host.lifecycle.extensions.state import Entry
    from loopx_host.registry.manifest import Runtime


def run(
    extension_id: str,
    request: bytes,
    *,
    store: StateStore,
    packages: Packages,
    processes: Processes,
    judging: Judging,
    clock: Clock,
    execute: bool,
    timeout_seconds: float | None = None,
) -> dict[str, Any]:
    """Run one request, or say whether it would be run (contract sections 5 and 6).

    `request` is the exact bytes the provider will read. `timeout_seconds` only shortens the manifest's.
    Raises Refused before anything starts; what the provider does is in the receipt, ``ok: false`` included.
    """
    asked = check_request(request)
    entry = State.parse(store.read(), store.location).entry(extension_id)
    runtime, found = _admit(entry, packages)
    schemas = _schemas(entry.id, runtime, store, judging)
    if schemas is not None:
        schemas.admit(asked)
    receipt = _receipt(entry, runtime, asked, request)
    again = ("extension", "doctor", entry.id, "--execute")
    refused = refusal(entry, found) if not found.is_ready else missing(entry.id, runtime, packages, ask=execute)
    if not execute:
        return _preview(receipt, refused)
    if refused is not None or found.target is None or found.identity is None:
        raise refused or missing_entrypoint(LauncherNotFound(runtime.target, [], ""), again)
    launch = run_launch(found.target, runtime, found.identity, packages, request=request, seconds=timeout_seconds)
    at, run_id = clock.now(), clock.run_id()
    ended = processes.run(launch)
    changed = changed_since(found.identity, found.target, packages)
    if changed:
        raise changed_during_run(entry.id, changed, ended)
    return _settled({**receipt, "at": at, "run_id": run_id}, ended, schemas)


def _schemas(extension_id: str, runtime: Runtime, store: StateStore, judging: Judging) -> RunSchemas | None:
    """Return the schemas of a runtime; one without any does not pay for their machinery."""
    if "request_schema" not in runtime.form and "response_schema" not in runtime.form:
        return None
    from loopx_host.lifecycle.dispatch.schemas import RunSchemas as Schemas

    return Schemas(extension_id, runtime, store, judging)


def check_request(request: bytes) -> dict[str, Any]:
    """Return the request as an object. Raises Refused `request_too_large` or `request_invalid`."""
    if len(request) > REQUEST_BYTES:
        raise refuse(
            "request_too_large",
            "request",
            f"the request is larger than {REQUEST_BYTES} bytes",
            hint="send less in one request",
        )
    try:
        return parse_object(request)
    except JsonViolation as violation:
        raise refuse(
            "request_invalid",
            "request",
            f"the request is not strict JSON: {violation}",
            hint="send one JSON object in UTF-8",
            violation=violation.kind,
        ) from None


def _admit(entry: Entry, packages: Packages) -> tuple[Runtime, Readiness]:
    """Refuse what the state decides; return the runtime and its readiness, which the environment decides."""
    manifest, runtime = entry.manifest, entry.manifest.runtime
    if runtime is None:
        raise refusal(entry, Readiness("runtime_missing"))
    if manifest.capabilities or manifest.implementations:
        clause = "provides or implements capabilities, so only a capability command may call it"
        raise _not_standalone(entry, "capability_provider", clause)
    if manifest.permissions or runtime.required_permissions:
        clause = "declares permissions, so only a capability command may call it"
        raise _not_standalone(entry, "permissions_declared", clause)
    found = readiness(entry, packages)
    if found.verdict in DECIDED_BY_STATE:
        raise refusal(entry, found)
    return runtime, found


def _not_standalone(entry: Entry, code: str, clause: str) -> Refused:
    return refuse(
        code,
        entry.id,
        f"extension `{entry.id}` {clause}",
        hint="`extension run` serves standalone extensions without permissions; see which capabilities there are",
        next_command=("capability", "list"),
    )


def _receipt(entry: Entry, runtime: Runtime, asked: dict[str, Any], request: bytes) -> dict[str, Any]:
    named = asked.get("schema_version")
    return {
        "ok": True,
        "schema_version": receipts.RUN_SCHEMA,
        "operation": "run",
        "extension_id": entry.id,
        "provider_version": entry.manifest.version,
        "revision": entry.active.id,
        "protocol": runtime.protocol,
        "required_permissions": runtime.required_permissions,
        "dry_run": True,
        "executed": False,
        "status": "ready",
        "input_schema_version": named if isinstance(named, str) else None,
        "request_sha256": sha256_hex(request),
    }


def _preview(receipt: dict[str, Any], refused: Refused | None) -> dict[str, Any]:
    return {
        **receipt,
        "status": "ready" if refused is None else "not_ready",
        "would_refuse": receipts.would_refuse(refused),
    }


def _settled(receipt: dict[str, Any], ended: Ended, schemas: RunSchemas | None) -> dict[str, Any]:
    judged = outcome(ended, schemas.response if schemas else None)
    return {
        **receipt,
        "ok": judged.status == SUCCEEDED,
        "dry_run": False,
        "executed": True,
        "status": judged.status,
        "exit_code": ended.exit_code,
        "provider_result": judged.result,
        "failure_kind": judged.failure_kind,
        "error": judged.error,
        "violations": judged.violations,
        "signal": ended.signal,
        "duration_ms": ended.duration_ms,
        "response_sha256": sha256_hex(ended.stdout),
        "stderr_tail": stderr_tail(ended.stderr),
        "containment": ended.containment,
    }
