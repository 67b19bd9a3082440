"""The receipt of binding a goal to a capability, or of taking the binding away."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal, TypedDict

    from loopx_host.documents.binding import Binding
    from loopx_host.documents.parts import Command

    class BindingReceipt(TypedDict):
        """`registry` is the file of bindings; `written` repeats `changed`, as v0 has both."""

        ok: Literal[True]
        schema_version: str
        status: str
        dry_run: bool
        executed: bool
        changed: bool
        written: bool
        registry: str
        goal_id: str
        capability_id: str
        turn_required: Literal[False]
        quota_spent: Literal[False]
        binding: Binding
        binding_digest: str
        plan: str
        next_command: Command | None


ID = "loopx_goal_external_capability_binding_receipt_v0"
READY, WRITTEN, NO_CHANGE, REMOVED = STATUSES = ("ready", "written", "no_change", "removed")


def bound(
    binding: Binding,
    *,
    registry: str,
    executed: bool,
    same: bool,
    binding_digest: str,
    plan: str,
    next_command: Command | None,
) -> BindingReceipt:
    """Return the receipt of a binding; `same` says that exactly this one was there already."""
    status = NO_CHANGE if same else WRITTEN if executed else READY
    return _receipt(binding, registry, status, executed and not same, executed, binding_digest, plan, next_command)


def unbound(
    binding: Binding,
    *,
    registry: str,
    executed: bool,
    binding_digest: str,
    plan: str,
    next_command: Command | None,
) -> BindingReceipt:
    """Return the receipt of taking this binding away."""
    status = REMOVED if executed else READY
    return _receipt(binding, registry, status, executed, executed, binding_digest, plan, next_command)


def schema() -> dict[str, object]:
    """Return the JSON Schema of the receipt."""
    from loopx_host.documents import binding, words

    return words.receipt_of(
        ID,
        {
            "status": {"enum": list(STATUSES)},
            "dry_run": words.BOOLEAN,
            "executed": words.BOOLEAN,
            "changed": words.BOOLEAN,
            "written": words.BOOLEAN,
            "registry": words.TEXT,
            "goal_id": words.TEXT,
            "capability_id": words.TEXT,
            "turn_required": {"const": False},
            "quota_spent": {"const": False},
            "binding": binding.schema(),
            "binding_digest": words.DIGEST,
        },
        {"plan": words.DIGEST, "next_command": words.NULLABLE_TEXT},
    )


def _receipt(
    binding: Binding,
    registry: str,
    status: str,
    written: bool,
    executed: bool,
    binding_digest: str,
    plan: str,
    next_command: Command | None,
) -> BindingReceipt:
    return {
        "ok": True,
        "schema_version": ID,
        "status": status,
        "dry_run": not executed,
        "executed": executed,
        "changed": written,
        "written": written,
        "registry": registry,
        "goal_id": binding["goal_id"],
        "capability_id": binding["capability_id"],
        "turn_required": False,
        "quota_spent": False,
        "binding": binding,
        "binding_digest": binding_digest,
        "plan": plan,
        "next_command": next_command,
    }
