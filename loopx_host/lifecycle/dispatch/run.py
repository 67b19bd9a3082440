"""`extension run`: one request to one enabled, proved, zero-permission provider, in one bounded process."""

from __future__ import annotations

from loopx_host.core.digest import sha256_hex
from loopx_host.core.errors import Refused, refusal
from loopx_host.core.text import stderr_tail
from loopx_host.documents import run_receipt as document
from loopx_host.lifecycle.dispatch.call_provider import (
    call_provider,
    declared_schemas,
    parse_request,
    provider_to_call,
    refuse_when_off,
)
from loopx_host.lifecycle.extensions.readiness import Readiness, readiness_to_call, why_not_ready
from loopx_host.lifecycle.extensions.state import State

TYPE_CHECKING = False
if TYPE_CHECKING:
    from loopx_host.documents.run_receipt import RunReceipt
    from loopx_host.lifecycle.dispatch.outcome import Outcome
    from loopx_host.lifecycle.dispatch.ports import CanCall
    from loopx_host.lifecycle.extensions.state import Entry
    from loopx_host.registry.manifest import Runtime


class RunRequest:
    """Run one request, the exact bytes the provider will read, or say whether it would be run.

    `timeout_seconds` only shortens the manifest's; `plan` is the digest a preview showed, where the caller binds the
    run to it.
    """

    __slots__ = ("data", "execute", "extension_id", "plan", "timeout_seconds")

    def __init__(
        self,
        extension_id: str,
        data: bytes,
        *,
        execute: bool,
        timeout_seconds: float | None = None,
        plan: str | None = None,
    ) -> None:
        self.extension_id = extension_id
        self.data = data
        self.execute = execute
        self.plan = plan
        self.timeout_seconds = timeout_seconds


def run(request: RunRequest, ports: CanCall) -> RunReceipt:
    """Run one request, or say whether it would be run (contract sections 5 and 6).

    Raises Refused before anything starts; what the provider does is in the receipt, ``ok: false`` included.
    """
    refuse_when_off(ports)
    payload = parse_request(request.data)
    entry = State.parse(ports.store.read(), ports.store.location).entry(request.extension_id)
    runtime = _standalone_runtime(entry)
    now = readiness_to_call(entry, ports.packages)
    schemas = declared_schemas(entry.id, runtime, ports)
    if schemas is not None:
        schemas.refuse_request(payload)
    receipt = _receipt(now, runtime, payload, request.data)
    if request.plan is not None or not request.execute:  # a run that nobody planned does not pay for its plan
        receipt = document.with_plan(receipt, _plan(request, now))
    provider = provider_to_call(now, ports.packages, may_start=request.execute)
    if not request.execute:
        return document.previewed(receipt, provider if isinstance(provider, Refused) else None)
    if isinstance(provider, Refused):
        raise provider
    at, run_id, seconds = ports.clock.now(), ports.clock.run_id(), request.timeout_seconds
    outcome = call_provider(provider, request.data, None, ports, schemas=schemas, seconds=seconds)
    return _settled(receipt, at, run_id, outcome)


def _plan(request: RunRequest, now: Readiness) -> str:
    """Return the plan of a run. Raises Refused `plan_changed` where the caller holds another."""
    from loopx_host.lifecycle.dispatch.call_plan import held_call_plan

    return held_call_plan("run", now, request.data, request.plan)


def _standalone_runtime(entry: Entry) -> Runtime:
    """Return the runtime of an extension that anybody may call.

    Raises Refused: `runtime_missing`, and `capability_provider` or `permissions_declared` for what only a capability
    command may call.
    """
    manifest, runtime = entry.manifest, entry.manifest.runtime
    if runtime is None:
        raise why_not_ready(Readiness(entry, "runtime_missing"))
    if manifest.capabilities or manifest.implementations:
        clause = "provides or implements capabilities, so only a capability command may call it"
        raise _not_standalone(entry, "capability_provider", clause)
    if manifest.permissions or runtime.required_permissions:
        clause = "declares permissions, so only a capability command may call it"
        raise _not_standalone(entry, "permissions_declared", clause)
    return runtime


def _not_standalone(entry: Entry, code: str, clause: str) -> Refused:
    return refusal(
        code,
        entry.id,
        f"extension `{entry.id}` {clause}",
        hint="`extension run` serves standalone extensions without permissions; see which capabilities there are",
        next_command=("capability", "list"),
    )


def _receipt(now: Readiness, runtime: Runtime, payload: dict[str, object], request: bytes) -> RunReceipt:
    entry = now.entry
    return document.ready(
        extension_id=entry.id,
        provider_version=entry.manifest.version,
        revision=entry.active.id,
        protocol=runtime.protocol,
        required_permissions=runtime.required_permissions,
        input_schema_version=payload.get("schema_version"),
        request_sha256=sha256_hex(request),
        owner=now.owner,
    )


def _settled(receipt: RunReceipt, at: str, run_id: str, outcome: Outcome) -> RunReceipt:
    ended = outcome.ended
    return document.done(
        receipt,
        at=at,
        run_id=run_id,
        status=outcome.status,
        exit_code=ended.exit_code,
        provider_result=outcome.result,
        failure_kind=outcome.failure_kind,
        error=outcome.error,
        violations=outcome.violations,
        signal=ended.signal,
        duration_ms=ended.duration_ms,
        response_sha256=sha256_hex(ended.stdout),
        stderr_tail=stderr_tail(ended.stderr),
        containment=ended.containment,
    )
