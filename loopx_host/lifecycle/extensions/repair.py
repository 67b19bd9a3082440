"""`extension repair`: move what is damaged out of the way and keep it; nothing is ever deleted."""

from __future__ import annotations

from loopx_host.core.digest import sha256_hex
from loopx_host.core.errors import Refused
from loopx_host.documents import repair as document
from loopx_host.lifecycle.extensions.plan import content_digest, hold_to_plan
from loopx_host.lifecycle.extensions.refusals import state_moved
from loopx_host.lifecycle.extensions.state import REPAIR, Replacement, State, holds_damage

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Protocol

    from loopx_host.documents.repair import Damage, Repair
    from loopx_host.lifecycle.extensions.ports import HasClock, HasStore, StateStore

    class RepairPorts(HasStore, HasClock, Protocol):
        """What repairing needs."""


class RepairRequest:
    """Move what is damaged out of the way; a preview unless `execute`, held to `plan` where there is one."""

    __slots__ = ("execute", "plan")

    def __init__(self, *, execute: bool, plan: str | None = None) -> None:
        self.execute = execute
        self.plan = plan


def repair(request: RepairRequest, ports: RepairPorts) -> Repair:
    """Repair the state file (extension-formats, *Damage*).

    A file that is no state at all is moved aside as a whole. Of one with bad entries a copy is kept, and the
    entries are taken out. Raises Refused: `state_unsafe` and those of the store.
    """
    store = ports.store
    data: bytes | None = None
    try:
        data = store.read()
        state = State.parse(data, store.location)
    except Refused as refused:
        if refused.code != "state_damaged":
            raise
        return _whole(refused, data, request, ports)
    bad, damage = state.bad_entries(), state.damage
    rows: list[Damage] = [{"id": entry.id, "code": entry.code, "reason": entry.reason} for entry in bad]
    receipt = _receipt(store, rows, damage, request)
    if not bad or not request.execute:
        return receipt
    kept: list[str] = []

    def edit(data: bytes | None) -> Replacement:
        now = State.parse(data, store.location)
        if data is None or now.damage is None:  # mended meanwhile
            return Replacement(now.to_bytes())
        if now.damage != damage:
            raise state_moved(bad[0].id)
        kept.append(store.preserve(data, now.damage, holds_damage(now.damage)))
        for entry in now.bad_entries():
            now = now.without_entry(entry.id)
        return Replacement(now.to_bytes())  # the schemas of what is taken out stay, like the copy

    store.change(edit)
    return document.done(receipt, changed=bool(kept), kept_as=kept[0] if kept else None, at=ports.clock.now())


def _whole(refused: Refused, data: bytes | None, request: RepairRequest, ports: RepairPorts) -> Repair:
    """Move a file that is no state aside, whole; `data` is None where it is too large to be read."""
    store = ports.store
    row: Damage = {"id": None, "code": refused.code, "reason": refused.diagnostic.summary}
    receipt = _receipt(store, [row], sha256_hex(data) if data is not None else None, request)
    if not request.execute:
        return receipt
    empty = State.parse(None, store.location).to_bytes()
    place = store.set_aside(lambda: _is_damage(store, data), empty)
    return document.done(receipt, changed=place is not None, kept_as=place, at=ports.clock.now())


def _is_damage(store: StateStore, data: bytes | None) -> bool:
    """Whether the file still is the damaged one that was looked at."""
    now: bytes | None = None
    try:
        now = store.read()
        State.parse(now, store.location)
    except Refused as refused:
        return refused.code == "state_damaged" and now == data
    return False


def _receipt(store: StateStore, damaged: list[Damage], damage: str | None, request: RepairRequest) -> Repair:
    digest = content_digest("repair", [damaged, damage])
    hold_to_plan(digest, request.plan, "repair", REPAIR[:-1])
    return document.repair(
        state_file=store.location,
        damaged=damaged,
        plan=digest,
        executed=request.execute,
        next_command=REPAIR if damaged and not request.execute else None,
    )
