"""The verb `uninstall`: forget one extension, its revisions and the schemas only it used."""

from __future__ import annotations

from loopx_host.lifecycle.extensions import receipts
from loopx_host.lifecycle.extensions.plan import bind, plan_digest
from loopx_host.lifecycle.extensions.state import State
from loopx_host.lifecycle.extensions.transitions import present
from loopx_host.lifecycle.extensions.writing import remove_entry

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from loopx_host.lifecycle.extensions.ports import Clock, Projections, StateStore

VERB = "uninstall"


def uninstall(
    extension_id: str,
    *,
    store: StateStore,
    projections: Projections,
    clock: Clock,
    execute: bool,
    plan: str | None,
) -> dict[str, Any]:
    """Uninstall one extension (contract section 5); needs neither its package nor a passing doctor.

    What it published goes with it.
    """
    entry = present(State.parse(store.read(), store.location), extension_id, VERB)
    digest = plan_digest(VERB, entry.id, entry)
    bind(digest, plan, entry.id, ("extension", VERB, entry.id))
    receipt = {
        **receipts.operation(VERB, entry.manifest, executed=execute, changed=execute, doctor=None),
        "revision": None if execute else entry.active.id,
        "previous_revision": entry.active.id,
        "enabled": None,
        "revisions": [one.id for one in entry.revisions],
        "plan": digest,
    }
    if not execute:
        return {**receipt, "next_command": ("extension", VERB, entry.id, "--execute")}
    remove_entry(store, entry)
    projections.remove(entry.id)
    return {**receipt, "at": clock.now()}
