"""The receipt of publishing one view of a provider on one of its surfaces; the view itself is not in it."""

from __future__ import annotations

from loopx_host.documents import effects
from loopx_host.documents.parts import would_refuse
from loopx_host.documents.run_receipt import INVALID_OUTPUT, NOT_READY, PROVIDER_FAILED, READY

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal, NotRequired, TypedDict

    from loopx_host.core.errors import Refused
    from loopx_host.documents.effects import Effects
    from loopx_host.documents.parts import Containment, Owner, WouldRefuse

    class PublishingGoal(TypedDict):
        """For which goal a view is published, and by which operation of its binding references are opened."""

        goal_id: str
        binding_digest: str
        capability_id: str
        operation: str

    class PublishReceipt(TypedDict):
        """Which surface of which revision; then what would be refused, or how the run ended and what became of it.

        `provider_result` is only there when the provider failed. `state` is that of the surface afterwards.
        """

        ok: bool
        schema_version: str
        operation: Literal["publish_projection"]
        extension_id: str
        surface_id: str
        revision: str
        dry_run: bool
        executed: bool
        status: str
        payload_sha256: str | None
        readback_verified: bool
        provider_version: str
        visibility: str
        view_schema: str
        request_sha256: str
        owner: NotRequired[Owner | None]
        effects: NotRequired[Effects]
        goal_binding: NotRequired[PublishingGoal]
        plan: NotRequired[str]
        would_refuse: NotRequired[WouldRefuse | None]
        at: NotRequired[str]
        run_id: NotRequired[str]
        exit_code: NotRequired[int | None]
        failure_kind: NotRequired[str | None]
        error: NotRequired[str | None]
        signal: NotRequired[str | None]
        duration_ms: NotRequired[int]
        response_sha256: NotRequired[str]
        stderr_tail: NotRequired[str | None]
        containment: NotRequired[Containment]
        provider_result: NotRequired[dict[str, object] | None]
        state: NotRequired[str]


ID = "extension_projection_publish_receipt_v0"
PUBLISHED = "published"


def ready(
    *,
    extension_id: str,
    surface_id: str,
    revision: str,
    provider_version: str,
    visibility: str,
    view_schema: str,
    request_sha256: str,
    owner: Owner | None,
) -> PublishReceipt:
    """Return the receipt of a publication that was not made yet."""
    return {
        "ok": True,
        "schema_version": ID,
        "operation": "publish_projection",
        "extension_id": extension_id,
        "surface_id": surface_id,
        "revision": revision,
        "dry_run": True,
        "executed": False,
        "status": READY,
        "payload_sha256": None,
        "readback_verified": False,
        "provider_version": provider_version,
        "visibility": visibility,
        "view_schema": view_schema,
        "request_sha256": request_sha256,
        "owner": owner,
        "effects": effects.of_nothing(),
    }


def governed(receipt: PublishReceipt, goal_binding: PublishingGoal) -> PublishReceipt:
    """Return the receipt of a publication that is made for a goal."""
    return {**receipt, "goal_binding": goal_binding}


def planned(receipt: PublishReceipt, plan: str) -> PublishReceipt:
    """Return the receipt with the plan of the publication."""
    return {**receipt, "plan": plan}


def previewed(receipt: PublishReceipt, refused: Refused | None) -> PublishReceipt:
    """Return the receipt of a publication that would be made, with what the environment would refuse."""
    return {
        **receipt,
        "status": READY if refused is None else NOT_READY,
        "would_refuse": would_refuse(refused),
    }


def with_run(
    receipt: PublishReceipt,
    *,
    at: str,
    run_id: str,
    permission: str | None,
    invoked: bool,
    exit_code: int | None,
    failure_kind: str | None,
    error: str | None,
    signal: str | None,
    duration_ms: int,
    response_sha256: str,
    stderr_tail: str | None,
    containment: Containment,
) -> PublishReceipt:
    """Return the receipt with how the run ended; `permission` was granted; `invoked`: the provider was started."""
    return {
        **receipt,
        "dry_run": False,
        "executed": True,
        "effects": effects.of_call(permission, invoked=invoked, settled=False, containment=containment),
        "at": at,
        "run_id": run_id,
        "exit_code": exit_code,
        "failure_kind": failure_kind,
        "error": error,
        "signal": signal,
        "duration_ms": duration_ms,
        "response_sha256": response_sha256,
        "stderr_tail": stderr_tail,
        "containment": containment,
    }


def failed(receipt: PublishReceipt, *, status: str, provider_result: dict[str, object] | None) -> PublishReceipt:
    """Return the receipt of a run that brought no view; nothing was published."""
    return {**receipt, "ok": False, "status": status, "provider_result": provider_result}


def published(receipt: PublishReceipt, *, payload_sha256: str, state: str) -> PublishReceipt:
    """Return the receipt of a view that was written and read back as the same bytes."""
    return {
        **receipt,
        "status": PUBLISHED,
        "effects": effects.with_state_written(receipt["effects"]),
        "payload_sha256": payload_sha256,
        "readback_verified": True,
        "state": state,
    }


def schema() -> dict[str, object]:
    """Return the JSON Schema of a publication."""
    from loopx_host.documents import projection, words

    named = {"goal_id": words.TEXT, "binding_digest": words.DIGEST, "capability_id": words.TEXT}
    goal = words.object_of({**named, "operation": words.TEXT}, closed=True)
    receipt = words.receipt_of(
        ID,
        {
            "operation": {"const": "publish_projection"},
            "extension_id": words.ID,
            "surface_id": words.TEXT,
            "revision": words.REVISION,
            "dry_run": words.BOOLEAN,
            "executed": words.BOOLEAN,
            "status": {"enum": [READY, NOT_READY, PUBLISHED, PROVIDER_FAILED, INVALID_OUTPUT]},
            "payload_sha256": words.NULLABLE_SHA256,
            "readback_verified": words.BOOLEAN,
        },
        {
            "provider_version": words.TEXT,
            "visibility": {"enum": ["public-safe", "owner-only"]},
            "view_schema": words.TEXT,
            "request_sha256": words.SHA256,
            "owner": words.nullable(words.OWNER),
            "effects": effects.schema(),
            "goal_binding": goal,
            "plan": words.DIGEST,
            "would_refuse": words.WOULD_REFUSE,
            "at": words.TIME,
            "run_id": words.RUN_ID,
            "exit_code": words.NULLABLE_INTEGER,
            "failure_kind": words.FAILURE_KIND,
            "error": words.NULLABLE_TEXT,
            "signal": words.NULLABLE_TEXT,
            "duration_ms": words.COUNT,
            "response_sha256": words.SHA256,
            "stderr_tail": words.NULLABLE_TEXT,
            "containment": words.OBJECT,
            "provider_result": words.NULLABLE_OBJECT,
            "state": {"enum": list(projection.STATES)},
        },
    )
    published = {"properties": {"status": {"const": PUBLISHED}}}
    read_back = {"payload_sha256": words.SHA256, "readback_verified": {"const": True}}
    return {**receipt, "if": published, "then": {"properties": read_back}}
