"""The receipt of one request to one provider, run or only looked at."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal, NotRequired, TypedDict

    from loopx_host.core.errors import Refused
    from loopx_host.documents.parts import Containment, Owner, Violation, WouldRefuse

    class RunReceipt(TypedDict):
        """What was asked of whom; then, of a preview, what would be refused, or else how the run ended.

        `duration_ms` is wall time; `stderr_tail` is cleaned; the digests are SHA-256 of the exact bytes.
        """

        ok: bool
        schema_version: str
        operation: Literal["run"]
        extension_id: str
        provider_version: str
        revision: str
        protocol: str
        required_permissions: list[str]
        dry_run: bool
        executed: bool
        status: str
        input_schema_version: str | None
        request_sha256: str
        owner: NotRequired[Owner | None]
        plan: NotRequired[str]
        would_refuse: NotRequired[WouldRefuse | None]
        at: NotRequired[str]
        run_id: NotRequired[str]
        exit_code: NotRequired[int | None]
        provider_result: NotRequired[dict[str, object] | None]
        failure_kind: NotRequired[str | None]
        error: NotRequired[str | None]
        violations: NotRequired[list[Violation]]
        signal: NotRequired[str | None]
        duration_ms: NotRequired[int]
        response_sha256: NotRequired[str]
        stderr_tail: NotRequired[str | None]
        containment: NotRequired[Containment]


ID = "loopx_extension_run_receipt_v0"
READY, NOT_READY = "ready", "not_ready"
SUCCEEDED, PROVIDER_FAILED, INVALID_OUTPUT = "succeeded", "provider_failed", "invalid_provider_output"


def ready(
    *,
    extension_id: str,
    provider_version: str,
    revision: str,
    protocol: str,
    required_permissions: list[str],
    input_schema_version: object,
    request_sha256: str,
    owner: Owner | None,
) -> RunReceipt:
    """Return the receipt of a run that was not made yet; a request may say its schema version, or anything else."""
    return {
        "ok": True,
        "schema_version": ID,
        "operation": "run",
        "extension_id": extension_id,
        "provider_version": provider_version,
        "revision": revision,
        "protocol": protocol,
        "required_permissions": required_permissions,
        "dry_run": True,
        "executed": False,
        "status": READY,
        "input_schema_version": input_schema_version if isinstance(input_schema_version, str) else None,
        "request_sha256": request_sha256,
        "owner": owner,
    }


def with_plan(receipt: RunReceipt, plan: str) -> RunReceipt:
    """Return the receipt with the plan that was shown, or that the caller held the run to."""
    return {**receipt, "plan": plan}


def previewed(receipt: RunReceipt, refused: Refused | None) -> RunReceipt:
    """Return the receipt of a run that would be made, with what the environment would refuse."""
    from loopx_host.documents.parts import would_refuse  # a run that is made does not pay for it

    return {
        **receipt,
        "status": READY if refused is None else NOT_READY,
        "would_refuse": would_refuse(refused),
    }


def done(
    receipt: RunReceipt,
    *,
    at: str,
    run_id: str,
    status: str,
    exit_code: int | None,
    provider_result: dict[str, object] | None,
    failure_kind: str | None,
    error: str | None,
    violations: list[Violation],
    signal: str | None,
    duration_ms: int,
    response_sha256: str,
    stderr_tail: str | None,
    containment: Containment,
) -> RunReceipt:
    """Return the receipt of a run that was made; `status` is `succeeded`, or how the provider failed."""
    return {
        **receipt,
        "ok": status == SUCCEEDED,
        "dry_run": False,
        "executed": True,
        "status": status,
        "at": at,
        "run_id": run_id,
        "exit_code": exit_code,
        "provider_result": provider_result,
        "failure_kind": failure_kind,
        "error": error,
        "violations": violations,
        "signal": signal,
        "duration_ms": duration_ms,
        "response_sha256": response_sha256,
        "stderr_tail": stderr_tail,
        "containment": containment,
    }


def schema() -> dict[str, object]:
    """Return the JSON Schema of a run receipt."""
    from loopx_host.documents import words

    receipt = words.receipt_of(
        ID,
        {
            "operation": {"const": "run"},
            "extension_id": words.ID,
            "provider_version": words.TEXT,
            "revision": words.REVISION,
            "protocol": words.TEXT,
            "required_permissions": words.TEXTS,
            "dry_run": words.BOOLEAN,
            "executed": words.BOOLEAN,
            "status": {"enum": [READY, NOT_READY, SUCCEEDED, PROVIDER_FAILED, INVALID_OUTPUT]},
            "input_schema_version": words.NULLABLE_TEXT,
        },
        {
            "request_sha256": words.SHA256,
            "owner": words.nullable(words.OWNER),
            "plan": words.DIGEST,
            "would_refuse": words.WOULD_REFUSE,
            "exit_code": words.NULLABLE_INTEGER,
            "provider_result": words.NULLABLE_OBJECT,
            "failure_kind": words.FAILURE_KIND,
            "error": words.NULLABLE_TEXT,
            "violations": words.rows_of(words.VIOLATION),
            "signal": words.NULLABLE_TEXT,
            "at": words.TIME,
            "run_id": words.RUN_ID,
            "duration_ms": words.COUNT,
            "response_sha256": words.SHA256,
            "stderr_tail": words.NULLABLE_TEXT,
            "containment": words.OBJECT,
        },
    )
    executed = {"properties": {"executed": {"const": True}}}
    return {**receipt, "if": executed, "then": {"required": ["exit_code", "provider_result"]}}
