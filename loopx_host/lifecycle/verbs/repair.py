"""The verb `repair`: move what is damaged out of the way and keep it; nothing is ever deleted."""

from __future__ import annotations

from loopx_host.core.errors import Refused
from loopx_host.lifecycle.state import REPAIR, Replacement, State

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from loopx_host.lifecycle.ports import Clock, StateStore

REPAIR_SCHEMA = "loopx_extension_repair_v0"


def repair(*, store: StateStore, clock: Clock, execute: bool) -> dict[str, Any]:
    """Repair the state file (extension-formats, *Damage*).

    A file that is no state at all is moved aside as a whole. Of one with bad entries a copy is kept, and the
    entries are taken out. Raises Refused: `state_unsafe` and those of the store.
    """
    try:
        state = State.parse(store.read(), store.location)
    except Refused as refused:
        if refused.code != "state_damaged":
            raise
        return _whole(store, clock, refused, execute=execute)
    bad = state.bad_entries()
    rows = [{"id": one.id, "code": one.code, "reason": one.reason} for one in bad]
    receipt = _receipt(store, rows, execute=execute)
    if not bad or not execute:
        return receipt
    kept: list[str] = []

    def edit(data: bytes | None) -> Replacement:
        now = State.parse(data, store.location)
        if data is not None:
            kept.append(store.preserve(data))
        for one in now.bad_entries():
            now = now.without_entry(one.id)
        return Replacement(now.to_bytes())  # the schemas of what is taken out stay, like the copy

    store.change(edit)
    return {**receipt, "changed": True, "kept_as": kept[0] if kept else None, "at": clock.now()}


def _whole(store: StateStore, clock: Clock, refused: Refused, *, execute: bool) -> dict[str, Any]:
    row = {"id": None, "code": refused.code, "reason": refused.diagnostic.summary}
    receipt = _receipt(store, [row], execute=execute)
    if not execute:
        return receipt
    return {**receipt, "changed": True, "kept_as": store.set_aside(), "at": clock.now()}


def _receipt(store: StateStore, damaged: list[dict[str, Any]], *, execute: bool) -> dict[str, Any]:
    return {
        "ok": True,
        "schema_version": REPAIR_SCHEMA,
        "operation": "repair",
        "dry_run": not execute,
        "changed": False,
        "would_change": bool(damaged),
        "state_file": store.location,
        "damaged": damaged,
        "kept_as": None,
        "next_command": REPAIR if damaged and not execute else None,
    }
