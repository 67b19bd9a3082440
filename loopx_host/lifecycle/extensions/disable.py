"""The verb `disable`: take an extension out of dispatch, whatever is broken about it."""

from __future__ import annotations

from loopx_host.lifecycle.extensions import receipts
from loopx_host.lifecycle.extensions.plan import bind, plan_digest
from loopx_host.lifecycle.extensions.proof import remembered
from loopx_host.lifecycle.extensions.state import State
from loopx_host.lifecycle.extensions.transitions import enabled_after, present
from loopx_host.lifecycle.extensions.writing import replace_entry

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from loopx_host.lifecycle.extensions.ports import Clock, StateStore

VERB = "disable"


def disable(extension_id: str, *, store: StateStore, clock: Clock, execute: bool, plan: str | None) -> dict[str, Any]:
    """Disable one extension (contract section 5); needs neither its package nor its provider. Idempotent."""
    entry = present(State.parse(store.read(), store.location), extension_id, VERB)
    digest = plan_digest(VERB, entry.id, entry)
    bind(digest, plan, entry.id, ("extension", VERB, entry.id))
    receipt = {
        **receipts.bit(VERB, entry, executed=execute, would_change=entry.enabled),
        "enabled": entry.enabled and not execute,
        "plan": digest,
    }
    if not execute:
        return {**receipt, "next_command": ("extension", VERB, entry.id, "--execute")}
    at = clock.now()
    if entry.enabled:
        event = {"at": at, "operation": VERB, "revision": entry.active.id}
        replace_entry(store, entry, remembered({**entry.raw, "enabled": enabled_after(entry, VERB)}, event))
    return {**receipt, "at": at}
