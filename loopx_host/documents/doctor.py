"""The outcome of a provider's own doctor: a document of its own, and a block in those that had it run."""

from __future__ import annotations

from loopx_host.core.limits import HOST_API
from loopx_host.documents import effects
from loopx_host.documents.parts import would_refuse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NotRequired, TypedDict

    from loopx_host.core.errors import Refused
    from loopx_host.documents.parts import Command, Containment, Owner, WouldRefuse
    from loopx_host.documents.state import Failure

    class ReadOnly(TypedDict):
        """Whether a probe was held to writing nowhere but in its private directory, and with what."""

        enforced: bool
        by: str | None

    class BoundTo(TypedDict):
        """What a proof holds for; where one of these is another, it is stale and says which."""

        revision: str
        identity: str
        host_api: int
        platform: str

    class Doctor(TypedDict):
        """The v0 fields always; what is known of the process only after one ran; the last rows only for the verb."""

        ok: bool
        schema_version: str
        extension_id: str
        version: str
        status: str
        available: bool
        verified: bool
        entrypoint_identity: str | None
        failure_kind: str | None
        external_writes_performed: bool
        basis: NotRequired[str]
        reason: NotRequired[str | None]
        exit_code: NotRequired[int | None]
        signal: NotRequired[str | None]
        stderr_tail: NotRequired[str | None]
        read_only: NotRequired[ReadOnly]
        duration_ms: NotRequired[int]
        containment: NotRequired[Containment | None]
        changed: NotRequired[list[str]]
        changed_details: NotRequired[list[str]]
        last_failure: NotRequired[Failure | None]
        bound_to: NotRequired[BoundTo | None]
        at: NotRequired[str]
        owner: NotRequired[Owner | None]
        plan: NotRequired[str]
        would_refuse: NotRequired[WouldRefuse | None]
        next_command: NotRequired[Command | None]


ID = "loopx_extension_doctor_v0"
READY, UNHEALTHY, PROBE_REQUIRED, DISABLED = "ready", "unhealthy", "probe_required", "disabled"
# The rows of containment that hold a probe to writing nowhere but in its private directory.
_READ_ONLY_ROWS = ("file_writes", "file_attributes")


def preview(extension_id: str, version: str, *, available: bool) -> Doctor:
    """Return the block of a probe that was not run; `available` says that its launcher can be started."""
    return _unprobed(extension_id, version, PROBE_REQUIRED, available=available)


def disabled(extension_id: str, version: str) -> Doctor:
    """Return the block of a disabled extension: nothing was started."""
    return _unprobed(extension_id, version, DISABLED, available=False)


def probed(
    extension_id: str,
    version: str,
    *,
    identity: str | None,
    failure_kind: str | None,
    reason: str | None,
    exit_code: int | None = None,
    signal: str | None = None,
    stderr_tail: str | None = None,
    duration_ms: int = 0,
    containment: Containment | None = None,
) -> Doctor:
    """Return the block of an executed probe; `identity` is what it proved, None with a `failure_kind`.

    Everything from `exit_code` on is of the process, and left out when none was started.
    """
    verified = failure_kind is None
    effect = effects.of_call(None, invoked=containment is not None, settled=False, containment=containment or {})
    return {
        "ok": verified,
        "schema_version": ID,
        "extension_id": extension_id,
        "version": version,
        "status": READY if verified else UNHEALTHY,
        "available": failure_kind not in ("entrypoint_missing", "start_failed"),
        "verified": verified,
        "entrypoint_identity": identity,
        "failure_kind": failure_kind,
        "external_writes_performed": effect["external_write_performed"],
        "basis": effect["basis"],
        "reason": reason,
        "exit_code": exit_code,
        "signal": signal,
        "stderr_tail": stderr_tail,
        "read_only": _read_only(containment),
        "duration_ms": duration_ms,
        "containment": containment,
    }


def with_changes(block: Doctor, changed: list[str], details: list[str]) -> Doctor:
    """Return the block with what was no longer as proved before this probe."""
    return {**block, "changed": changed, "changed_details": details}


def previewed(
    block: Doctor,
    *,
    owner: Owner | None,
    plan: str,
    refused: Refused | None,
    last_failure: Failure | None,
    next_command: Command,
) -> Doctor:
    """Return the document of a probe that would be made; `last_failure` is how the one before failed."""
    return {
        **block,
        "last_failure": last_failure,
        "owner": owner,
        "plan": plan,
        "would_refuse": would_refuse(refused),
        "next_command": next_command,
    }


def done(
    block: Doctor, *, owner: Owner | None, at: str, plan: str, bound_to: BoundTo | None, next_command: Command | None
) -> Doctor:
    """Return the document of a probe that was made and recorded; `bound_to` is None where it proved nothing."""
    return {**block, "owner": owner, "at": at, "plan": plan, "bound_to": bound_to, "next_command": next_command}


def bound_to(*, revision: str, identity: str | None, platform: str) -> BoundTo | None:
    """Return what a proof holds for (requirement B2); None without an identity, which is no proof."""
    if identity is None:
        return None
    return {"revision": revision, "identity": identity, "host_api": HOST_API, "platform": platform}


def schema() -> dict[str, object]:
    """Return the JSON Schema of the outcome of a doctor."""
    from loopx_host.documents import state, words

    return words.receipt_of(
        ID,
        {
            "extension_id": words.ID,
            "status": {"enum": [READY, UNHEALTHY, PROBE_REQUIRED, DISABLED]},
            "available": words.BOOLEAN,
            "verified": words.BOOLEAN,
            "entrypoint_identity": words.NULLABLE_TEXT,
            "failure_kind": words.FAILURE_KIND,
            "external_writes_performed": words.BOOLEAN,
        },
        {
            "version": words.TEXT,
            "basis": {"enum": list(effects.BASES)},
            "reason": words.NULLABLE_TEXT,
            "exit_code": words.NULLABLE_INTEGER,
            "signal": words.NULLABLE_TEXT,
            "stderr_tail": words.NULLABLE_TEXT,
            "containment": words.NULLABLE_OBJECT,
            "would_refuse": words.WOULD_REFUSE,
            "last_failure": state.failure_schema(),
            "bound_to": words.nullable(
                words.object_of(
                    {
                        "revision": words.REVISION,
                        "identity": words.TEXT,
                        "host_api": words.COUNT,
                        "platform": words.TEXT,
                    }
                )
            ),
            "at": words.TIME,
            "owner": words.nullable(words.OWNER),
            "duration_ms": words.COUNT,
            "plan": words.DIGEST,
            "next_command": words.NULLABLE_TEXT,
        },
    )


def _unprobed(extension_id: str, version: str, status: str, *, available: bool) -> Doctor:
    effect = effects.of_nothing()
    return {
        "ok": True,
        "schema_version": ID,
        "extension_id": extension_id,
        "version": version,
        "status": status,
        "available": available,
        "verified": False,
        "entrypoint_identity": None,
        "failure_kind": None,
        "external_writes_performed": effect["external_write_performed"],
        "basis": effect["basis"],
    }


def _read_only(containment: Containment | None) -> ReadOnly:
    rows = containment.get("limits", []) if containment else []
    holding = [row["by"] for row in rows if row["limit"] in _READ_ONLY_ROWS and row["enforced"]]
    enforced = len(holding) == len(_READ_ONLY_ROWS)
    return {"enforced": enforced, "by": ", ".join(dict.fromkeys(holding)) if enforced else None}
