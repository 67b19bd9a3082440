"""The documents the verbs return: v0 names and nesting, then the additions; one builder per document."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from loopx_host.core.errors import Refused
    from loopx_host.lifecycle.extensions.probe import Probe
    from loopx_host.lifecycle.extensions.process import Ended
    from loopx_host.lifecycle.extensions.state import Entry
    from loopx_host.registry.manifest import Manifest

OPERATION_SCHEMA = "loopx_extension_operation_v0"
DOCTOR_SCHEMA = "loopx_extension_doctor_v0"
UNOWNED = "unowned"
# The rows of containment that hold a probe to writing nowhere but in its private directory.
_READ_ONLY_ROWS = ("file_writes", "file_attributes")
RUN_SCHEMA = "loopx_extension_run_receipt_v0"
DETAIL_SCHEMA = "loopx_extension_detail_v0"

Receipt = dict[str, "Any"]


def operation(verb: str, manifest: Manifest, *, executed: bool, changed: bool, doctor: Receipt | None) -> Receipt:
    """Return the head of the operation document of a verb that is about one manifest revision."""
    return {
        "ok": True,
        "schema_version": OPERATION_SCHEMA,
        "operation": verb,
        "dry_run": not executed,
        "changed": changed,
        "extension_id": manifest.id,
        "version": manifest.version,
        "revision": manifest.revision,
        "previous_revision": None,
        "enabled": None,
        "doctor": doctor,
        "rollback_available": False,
    }


def bit(verb: str, entry: Entry, *, executed: bool, would_change: bool) -> Receipt:
    """Return the operation document of a verb that sets or clears the enabled bit."""
    return {
        "ok": True,
        "schema_version": OPERATION_SCHEMA,
        "operation": verb,
        "dry_run": not executed,
        "changed": executed and would_change,
        "would_change": would_change,
        "extension_id": entry.id,
        "enabled": entry.enabled,
        "active_revision": entry.active.id,
    }


def doctor_block(extension_id: str, version: str, probed: Probe) -> Receipt:
    """Return the doctor document of an executed probe."""
    ended = probed.ended
    return {
        **_doctor(extension_id, version, "ready" if probed.verified else "unhealthy"),
        "ok": probed.verified,
        "available": probed.failure_kind not in ("entrypoint_missing", "start_failed"),
        "verified": probed.verified,
        "entrypoint_identity": probed.identity.digest if probed.identity else None,
        "failure_kind": probed.failure_kind,
        "reason": probed.reason,
        "exit_code": ended.exit_code if ended else None,
        "signal": ended.signal if ended else None,
        "stderr_tail": probed.tail,
        "read_only": _read_only(ended),
        "duration_ms": ended.duration_ms if ended else 0,
        "containment": ended.containment if ended else None,
    }


def _read_only(ended: Ended | None) -> Receipt:
    """Say whether, and by what, a probe was held to writing only in its private directory."""
    rows = ended.containment.get("limits", []) if ended else []
    holding = [row["by"] for row in rows if row["limit"] in _READ_ONLY_ROWS and row["enforced"]]
    enforced = len(holding) == len(_READ_ONLY_ROWS)
    return {"enforced": enforced, "by": ", ".join(dict.fromkeys(holding)) if enforced else None}


def doctor_preview(extension_id: str, version: str, *, available: bool) -> Receipt:
    """Return the doctor document of a probe that was not run."""
    return {**_doctor(extension_id, version, "probe_required"), "available": available}


def doctor_disabled(extension_id: str, version: str) -> Receipt:
    """Return the doctor document of a disabled extension: nothing was started."""
    return {**_doctor(extension_id, version, "disabled"), "available": False}


def _doctor(extension_id: str, version: str, status: str) -> Receipt:
    return {
        "ok": True,
        "schema_version": DOCTOR_SCHEMA,
        "extension_id": extension_id,
        "version": version,
        "status": status,
        "available": True,
        "verified": False,
        "entrypoint_identity": None,
        "failure_kind": None,
        "external_writes_performed": False,
    }


def would_refuse(refused: Refused | None) -> Receipt | None:
    """Return what a preview says of a refusal that only the environment decides, or None."""
    if refused is None:
        return None
    said = refused.diagnostic
    return {"code": said.code, "error": said.summary, "hint": said.hint, "next_command": said.next_command}
