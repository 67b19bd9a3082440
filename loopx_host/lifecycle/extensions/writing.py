"""The compare-and-set of the lifecycle: change one entry, if it is what was read, or is what is wanted already."""

from __future__ import annotations

from loopx_host.lifecycle.extensions.plan import is_same
from loopx_host.lifecycle.extensions.refusals import state_moved
from loopx_host.lifecycle.extensions.state import BadEntry, Entry, Replacement, State, holds_damage

TYPE_CHECKING = False
if TYPE_CHECKING:
    from loopx_host.documents import state as shapes
    from loopx_host.lifecycle.extensions.ports import StateStore


def add_entry(store: StateStore, raw: shapes.Entry, schemas: dict[str, bytes]) -> bool:
    """Write a new entry whose id must still be free. Returns and raises as `replace_entry`."""
    return _change(store, raw["id"], None, raw, schemas)


def replace_entry(
    store: StateStore, entry: Entry, raw: shapes.Entry, schemas: dict[str, bytes] | None = None
) -> bool:
    """Write `raw` in place of `entry`; False where another command wrote the same meanwhile, but for times.

    Raises Refused `state_moved` where it wrote anything else, and the store's.
    """
    return _change(store, entry.id, entry.token, raw, schemas)


def remove_entry(store: StateStore, entry: Entry) -> bool:
    """Take `entry` out. Returns and raises as `replace_entry`."""
    return _change(store, entry.id, entry.token, None, None)


def _change(
    store: StateStore,
    extension_id: str,
    expected: str | None,
    wanted: shapes.Entry | None,
    schemas: dict[str, bytes] | None,
) -> bool:
    """Write what is wanted under the lock; the other entries stay, and a damaged one among them is copied first."""
    written = True

    def apply(data: bytes | None) -> Replacement:
        nonlocal written
        state = State.parse(data, store.location)
        if state.token(extension_id) != expected:
            if data is None or not _is_so(state.find(extension_id), wanted):
                raise state_moved(extension_id)
            written = False
            return Replacement(data)
        if data is not None and state.damage is not None:
            store.preserve(data, state.damage, holds_damage(state.damage))
        changed = state.without_entry(extension_id) if wanted is None else state.with_entry(wanted)
        return changed.replacement(schemas)

    store.change(apply)
    return written


def _is_so(found: Entry | BadEntry | None, wanted: shapes.Entry | None) -> bool:
    """Whether what another command left is what this one would write."""
    if wanted is None:
        return found is None
    return isinstance(found, Entry) and is_same(found, Entry(wanted))
