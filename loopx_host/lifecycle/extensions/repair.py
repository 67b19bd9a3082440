"""The verb `repair`: move what is damaged out of the way and keep it; nothing is ever deleted."""

from __future__ import annotations

from loopx_host.core.errors import Refused
from loopx_host.lifecycle.extensions.plan import bind, content_digest
from loopx_host.lifecycle.extensions.state import REPAIR, Replacement, State

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from loopx_host.lifecycle.extensions.ports import Clock, StateStore

REPAIR_SCHEMA = "loopx_extension_repair_v0"


def repair(*, store: StateStore, clock: Clock, execute: bool, plan: str | None = None) -> dict[str, Any]:
    """Repair the state file (extension-formats, *Damage*).

    A file that is no state at all is moved aside as a whole. Of one with bad entries a copy is kept, and the
    entries are taken out. Raises Refused: `state_unsafe` and those of the store.
    """
    try:
        state = State.parse(store.read(), store.location)
    except Refused as refused:
        if refused.code != "state_damaged":
            raise
        return _whole(store, clock, refused, plan, execute=execute)
    bad = state.bad_entries()
    rows = [{"id": one.id, "code": one.code, "reason": one.reason} for one in bad]
    receipt = _receipt(store, rows, plan, execute=execute)
    if not bad or not execute:
        return receipt
    kept: list[str] = []

    def edit(data: bytes | None) -> Replacement:
        now = State.parse(data, store.location)
        if data is not None and now.damage is not None:
            kept.append(store.preserve(data, now.damage))
        for one in now.bad_entries():
            now = now.without_entry(one.id)
        return Replacement(now.to_bytes())  # the schemas of what is taken out stay, like the copy

    store.change(edit)
    return {**receipt, "changed": True, "kept_as": kept[0] if kept else None, "at": clock.now()}


def _whole(store: StateStore, clock: Clock, refused: Refused, plan: str | None, *, execute: bool) -> dict[str, Any]:
    row = {"id": None, "code": refused.code, "reason": refused.diagnostic.summary}
    receipt = _receipt(store, [row], plan, execute=execute)
    if not execute:
        return receipt
    place = store.set_aside(lambda: _is_damaged(store))
    return {**receipt, "changed": place is not None, "kept_as": place, "at": clock.now()}


def _is_damaged(store: StateStore) -> bool:
    try:
        State.parse(store.read(), store.location)
    except Refused as refused:
        return refused.code == "state_damaged"
    return False


def _receipt(store: StateStore, damaged: list[dict[str, Any]], plan: str | None, *, execute: bool) -> dict[str, Any]:
    digest = content_digest("repair", damaged)
    bind(digest, plan, "repair", REPAIR[:-1])
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
        "plan": digest,
        "next_command": REPAIR if damaged and not execute else None,
    }
