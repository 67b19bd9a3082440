"""The receipt of one governed call, made or only looked at; a result is in it only when it is clean."""

from __future__ import annotations

from loopx_host.documents import effects
from loopx_host.documents.run_receipt import INVALID_OUTPUT, NOT_READY, PROVIDER_FAILED, READY, SUCCEEDED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal, NotRequired, TypedDict

    from loopx_host.core.errors import Refused
    from loopx_host.documents.binding import BoundProvider
    from loopx_host.documents.effects import Effects
    from loopx_host.documents.parts import Command, Containment, Owner, Violation

    class GoalBinding(TypedDict):
        """The binding under which the call is made; its digest begins with ``sha256:``."""

        goal_id: str
        binding_digest: str
        turn_required: Literal[False]

    class CodeOfRefusal(TypedDict):
        """What a preview of a governed call says of a refusal: its code and the way on, without the sentence."""

        code: str
        next_command: Command | None

    class Invocation(TypedDict):
        """What is called for which goal; then what would be refused, or how the call ended."""

        ok: bool
        schema_version: str
        status: str
        dry_run: bool
        executed: bool
        capability_id: str
        operation: str
        effect_class: str
        provider: BoundProvider
        goal_binding: GoalBinding
        invocation_id: str
        request_digest: str
        context_ref_count: int
        owner: NotRequired[Owner | None]
        effects: Effects
        plan: NotRequired[str]
        would_refuse: NotRequired[CodeOfRefusal | None]
        at: NotRequired[str]
        provider_result_digest: NotRequired[str]
        provider_result: NotRequired[dict[str, object] | None]
        failure_kind: NotRequired[str | None]
        error: NotRequired[str | None]
        violations: NotRequired[list[Violation]]
        exit_code: NotRequired[int | None]
        signal: NotRequired[str | None]
        duration_ms: NotRequired[int]
        stderr_tail: NotRequired[str | None]
        containment: NotRequired[Containment]


ID = "loopx_external_domain_capability_invocation_v0"


def ready(
    *,
    capability_id: str,
    operation: str,
    effect_class: str,
    provider: BoundProvider,
    goal_id: str,
    binding_digest: str,
    invocation_id: str,
    request_sha256: str,
    context_ref_count: int,
    owner: Owner | None,
) -> Invocation:
    """Return the receipt of a call that was not made yet."""
    return {
        "ok": True,
        "schema_version": ID,
        "status": READY,
        "dry_run": True,
        "executed": False,
        "capability_id": capability_id,
        "operation": operation,
        "effect_class": effect_class,
        "provider": provider,
        "goal_binding": {"goal_id": goal_id, "binding_digest": binding_digest, "turn_required": False},
        "invocation_id": invocation_id,
        "request_digest": f"sha256:{request_sha256}",
        "context_ref_count": context_ref_count,
        "owner": owner,
        "effects": effects.of_nothing(),
    }


def planned(receipt: Invocation, plan: str) -> Invocation:
    """Return the receipt with the plan of the call."""
    return {**receipt, "plan": plan}


def previewed(receipt: Invocation, refused: Refused | None) -> Invocation:
    """Return the receipt of a call that would be made, with the code of what would be refused."""
    said: CodeOfRefusal | None = None
    if refused is not None:
        said = {"code": refused.code, "next_command": refused.diagnostic.next_command}
    return {**receipt, "status": READY if refused is None else NOT_READY, "would_refuse": said}


def done(
    receipt: Invocation,
    *,
    at: str,
    status: str,
    permission: str,
    invoked: bool,
    provider_result_sha256: str,
    provider_result: dict[str, object] | None,
    failure_kind: str | None,
    error: str | None,
    violations: list[Violation],
    exit_code: int | None,
    signal: str | None,
    duration_ms: int,
    stderr_tail: str | None,
    containment: Containment,
) -> Invocation:
    """Return the receipt of a call that was made; `permission` was granted; `invoked`: its provider could be started.

    Only a result that succeeded is passed on.
    """
    succeeded = status == SUCCEEDED
    return {
        **receipt,
        "at": at,
        "ok": succeeded,
        "status": status,
        "dry_run": False,
        "executed": True,
        "effects": effects.of_call(
            permission,
            invoked=invoked,
            settled=receipt["goal_binding"]["turn_required"],
            containment=containment,
        ),
        "provider_result_digest": f"sha256:{provider_result_sha256}",
        "provider_result": provider_result if succeeded else None,
        "failure_kind": failure_kind,
        "error": error,
        "violations": violations,
        "exit_code": exit_code,
        "signal": signal,
        "duration_ms": duration_ms,
        "stderr_tail": stderr_tail,
        "containment": containment,
    }


def schema() -> dict[str, object]:
    """Return the JSON Schema of a governed call."""
    from loopx_host.documents import binding, words

    goal = words.object_of(
        {"goal_id": words.TEXT, "binding_digest": words.DIGEST, "turn_required": words.BOOLEAN}, closed=True
    )
    would_refuse = words.object_of({"code": words.ANY_CODE, "next_command": words.NULLABLE_TEXT}, closed=True)
    receipt = words.receipt_of(
        ID,
        {
            "status": {"enum": [READY, NOT_READY, SUCCEEDED, PROVIDER_FAILED, INVALID_OUTPUT]},
            "dry_run": words.BOOLEAN,
            "executed": words.BOOLEAN,
            "capability_id": words.TEXT,
            "operation": words.TEXT,
            "effect_class": {"enum": ["read_only", "external_write"]},
            "provider": binding.provider_schema(),
            "goal_binding": goal,
            "invocation_id": {"type": "string", "pattern": "^capability-[0-9a-f]{24}$"},
            "request_digest": words.DIGEST,
            "context_ref_count": words.COUNT,
            "effects": effects.schema(),
        },
        {
            "owner": words.nullable(words.OWNER),
            "plan": words.DIGEST,
            "would_refuse": words.nullable(would_refuse),
            "at": words.TIME,
            "provider_result_digest": words.DIGEST,
            "provider_result": words.NULLABLE_OBJECT,
            "failure_kind": words.FAILURE_KIND,
            "error": words.NULLABLE_TEXT,
            "violations": words.rows_of(words.VIOLATION),
            "exit_code": words.NULLABLE_INTEGER,
            "signal": words.NULLABLE_TEXT,
            "duration_ms": words.COUNT,
            "stderr_tail": words.NULLABLE_TEXT,
            "containment": words.OBJECT,
        },
    )
    executed = {"properties": {"executed": {"const": True}}}
    return {**receipt, "if": executed, "then": {"required": ["provider_result", "provider_result_digest"]}}
