"""The compare-and-set of the lifecycle: change one entry, if it still is what was read."""

from __future__ import annotations

from loopx_host.lifecycle.extensions.refusals import state_moved
from loopx_host.lifecycle.extensions.state import State

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from loopx_host.documents import state as shapes
    from loopx_host.lifecycle.extensions.ports import StateStore
    from loopx_host.lifecycle.extensions.state import Entry, Replacement


def add_entry(store: StateStore, raw: shapes.Entry, schemas: dict[str, bytes]) -> None:
    """Write a new entry whose id must still be free. Raises Refused `state_moved` and the store's."""
    _change(store, raw["id"], None, lambda state: state.with_entry(raw), schemas)


def replace_entry(
    store: StateStore, entry: Entry, raw: shapes.Entry, schemas: dict[str, bytes] | None = None
) -> None:
    """Write `raw` in place of `entry`. Raises Refused `state_moved` and the store's."""
    _change(store, entry.id, entry.token, lambda state: state.with_entry(raw), schemas)


def remove_entry(store: StateStore, entry: Entry) -> None:
    """Take `entry` out. Raises Refused `state_moved` and the store's."""
    _change(store, entry.id, entry.token, lambda state: state.without_entry(entry.id), None)


def _change(
    store: StateStore,
    extension_id: str,
    expected: str | None,
    edit: Callable[[State], State],
    schemas: dict[str, bytes] | None,
) -> None:
    """Apply `edit` under the lock; the other entries stay, and a damaged one among them is copied first."""

    def apply(data: bytes | None) -> Replacement:
        state = State.parse(data, store.location)
        if state.token(extension_id) != expected:
            raise state_moved(extension_id)
        if data is not None and state.damage is not None:
            store.preserve(data, state.damage)
        return edit(state).replacement(schemas)

    store.change(apply)
