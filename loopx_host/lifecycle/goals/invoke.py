"""`capability invoke`: one governed read, by a bound provider, under an envelope (contract section 7).

Everything is decided before anything starts: the binding, that nothing drifted from it, the request, the references,
the domain check of the package; then the envelope is made and looked at once more. A call that would write to the
outside goes through an operation of the kernel, never through here.
"""

from __future__ import annotations

from loopx_host.core.canonical import canonical_bytes
from loopx_host.core.digest import sha256_hex
from loopx_host.core.errors import Refused
from loopx_host.core.private_material import findings
from loopx_host.core.strict_json import parse_object
from loopx_host.core.text import one_line, stderr_tail
from loopx_host.documents import invocation as document
from loopx_host.lifecycle.dispatch.call_plan import held_call_plan
from loopx_host.lifecycle.dispatch.call_provider import (
    call_provider,
    parse_request,
    provider_to_call,
    refuse_when_off,
)
from loopx_host.lifecycle.dispatch.launch import CallGrants
from loopx_host.lifecycle.dispatch.outcome import INVALID_OUTPUT, SUCCEEDED, Outcome
from loopx_host.lifecycle.dispatch.schemas import inline_violations
from loopx_host.lifecycle.goals.bindings import binding_digest
from loopx_host.lifecycle.goals.domain_check import seconds_allowed
from loopx_host.lifecycle.goals.domain_result import fault
from loopx_host.lifecycle.goals.envelope import request_digest
from loopx_host.lifecycle.goals.governed_call import (
    bound_call,
    hold_to_call,
    opened_references,
    refuse_effect,
    refuse_input,
    request_document,
    sealed_request,
    what_is_read,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Protocol

    from loopx_host.documents.invocation import Invocation
    from loopx_host.lifecycle.dispatch.ports import CanCall, HasPlugins, HasReferences, Judging, References
    from loopx_host.lifecycle.goals.governed_call import AnyRequest, GovernedCall
    from loopx_host.lifecycle.goals.ports import HasBindings

    class InvokePorts(CanCall, HasPlugins, HasBindings, HasReferences, Protocol):
        """What a governed call needs."""


class InvokeRequest:
    """Invoke an operation for a goal, or say whether it would be invoked.

    `data` is the operation's input, JSON in bytes; `references` maps names to paths of the caller; `plan` is the
    digest a preview showed, where the caller binds the call to it.
    """

    __slots__ = ("capability_id", "data", "execute", "goal_id", "operation_id", "plan", "references")

    def __init__(
        self,
        capability_id: str,
        data: bytes,
        *,
        goal_id: str,
        operation_id: str,
        references: dict[str, str],
        execute: bool,
        plan: str | None = None,
    ) -> None:
        self.plan = plan
        self.capability_id = capability_id
        self.data = data
        self.goal_id = goal_id
        self.operation_id = operation_id
        self.references = references
        self.execute = execute


def invoke(request: InvokeRequest, ports: InvokePorts) -> Invocation:
    """Invoke one read-only operation for a goal, or say whether it would be invoked.

    Raises Refused before anything starts; what the provider does is in the receipt, ``ok: false`` included.
    """
    refuse_when_off(ports)
    payload = parse_request(request.data)
    call = bound_call(request.goal_id, request.capability_id, request.operation_id, ports)
    refuse_effect(call)
    refuse_input(call, payload, ports.judging)
    opened = opened_references(call, request.references, ports.references)
    governed = request_document(call, payload, opened)
    receipt = document.planned(
        _receipt(call, governed), _plan(call, governed, opened, request.plan, ports.references)
    )
    provider = provider_to_call(call.provider.readiness, ports.packages, may_start=request.execute)
    if not request.execute:
        return document.previewed(receipt, provider if isinstance(provider, Refused) else None)
    if isinstance(provider, Refused):
        raise provider
    seconds = seconds_allowed(call.provider.entry, governed, ports.plugins)
    sealed = canonical_bytes(sealed_request(call, governed))
    at = ports.clock.now()
    told = _looked_at_again(request, sealed, ports)
    grants = CallGrants([call.operation["required_permission"]], opened, told)
    outcome = call_provider(provider, sealed, grants, ports, seconds=seconds)
    judged = _judged(call, governed["invocation_id"], outcome, ports.judging)
    return _settled(receipt, at, call.operation["required_permission"], judged)


def _looked_at_again(request: InvokeRequest, sealed: bytes, ports: InvokePorts) -> dict[str, str]:
    """Derive the call anew, from the binding and the state as they are kept now, and hold the sealed bytes to it.

    A domain check takes its time, and is code of a package: what was decided before it may no longer hold. Returns
    the variables that tell the provider what it is started for. Raises Refused as `bound_call` does, and
    `envelope_invalid`.
    """
    call = bound_call(request.goal_id, request.capability_id, request.operation_id, ports)
    opened = opened_references(call, request.references, ports.references)
    return hold_to_call(parse_object(sealed), call, request_document(call, parse_request(request.data), opened))


def _plan(
    call: GovernedCall, request: AnyRequest, opened: dict[str, str], expected: str | None, references: References
) -> str:
    """Return the plan of a governed call. Raises Refused `plan_changed` where the caller holds another."""
    reads = what_is_read(call, opened, references)
    return held_call_plan("invoke", call.provider.readiness, canonical_bytes(request), expected, reads=reads)


def _receipt(call: GovernedCall, request: AnyRequest) -> Invocation:
    """Return the receipt of a call that has not been made."""
    return document.ready(
        capability_id=call.capability_id,
        operation=call.operation["id"],
        effect_class=call.operation["effect_class"],
        provider=call.binding["provider"],
        goal_id=call.binding["goal_id"],
        binding_digest=binding_digest(call.binding),
        invocation_id=request["invocation_id"],
        request_sha256=request_digest(request),
        context_ref_count=len(request["context_refs"]),
        owner=call.provider.readiness.owner,
    )


def _settled(receipt: Invocation, at: str, permission: str, judged: Outcome) -> Invocation:
    """Return the receipt of a call that was made with `permission`; only a clean result is passed on."""
    ended = judged.ended
    return document.done(
        receipt,
        at=at,
        status=judged.status,
        permission=permission,
        invoked=ended.start_error is None,
        provider_result_sha256=sha256_hex(ended.stdout),
        provider_result=judged.result if judged.status == SUCCEEDED else None,
        failure_kind=judged.failure_kind,
        error=judged.error,
        violations=judged.violations,
        exit_code=ended.exit_code,
        signal=ended.signal,
        duration_ms=ended.duration_ms,
        stderr_tail=stderr_tail(ended.stderr),
        containment=ended.containment,
    )


def _judged(call: GovernedCall, invocation_id: str, outcome: Outcome, judging: Judging) -> Outcome:
    """Return the outcome, unless its result is not the clean one of a read-only operation."""
    if outcome.status != SUCCEEDED or outcome.result is None:
        return _with_its_own_words(outcome)
    wrong = fault(outcome.result, invocation_id, call.operation)
    if wrong is not None:
        return Outcome(outcome.ended, INVALID_OUTPUT, "response_schema", None, wrong)
    schema = call.operation["result_schema"]
    rows = inline_violations(judging, schema, outcome.result) if isinstance(schema, dict) else []
    if rows:
        sentence = f"the result breaks its schema at {rows[0]['pointer'] or '/'}: {rows[0]['message']}"
        return Outcome(outcome.ended, INVALID_OUTPUT, "response_schema", None, sentence, rows)
    return outcome


def _with_its_own_words(failed: Outcome) -> Outcome:
    """Return a failure with the code and sentence that the provider gave, as bounded plain text.

    Words that hold private material are not passed on, no more than a result that does.
    """
    answer = failed.result or {}
    code, sentence, error = answer.get("code"), answer.get("error"), failed.error
    is_spoken = isinstance(code, str) and isinstance(sentence, str) and not findings([code, sentence])
    if failed.failure_kind == "provider_reported_failure" and is_spoken:
        error = f"the provider reported {one_line(str(code), 60)}: {one_line(str(sentence), 300)}"
    return Outcome(failed.ended, failed.status, failed.failure_kind, None, error)
