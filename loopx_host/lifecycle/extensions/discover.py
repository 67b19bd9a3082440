"""`extension discover`: what the environment offers, and how it stands to what is installed."""

from __future__ import annotations

from loopx_host.core.errors import Refused
from loopx_host.lifecycle.extensions.state import Entry, State

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Protocol

    from loopx_host.documents.discovery_index import Offer
    from loopx_host.lifecycle.extensions.ports import HasDiscovery, HasStore, StateStore

    class DiscoverPorts(HasStore, HasDiscovery, Protocol):
        """What discovering needs."""


DISCOVERY_SCHEMA = "loopx_extension_discovery_v0"


class DiscoverRequest:
    """List what is offered; with `rebuild` the packages are looked at again, whatever the index says."""

    __slots__ = ("rebuild",)

    def __init__(self, *, rebuild: bool) -> None:
        self.rebuild = rebuild


def discover(request: DiscoverRequest, ports: DiscoverPorts) -> dict[str, Any]:
    """Return one row per advertised extension (contract section 3). A damaged state file spoils only `state`."""
    rows, index = ports.discovery.offers(rebuild=request.rebuild)
    state, state_code = _state(ports.store)
    return {
        "ok": True,
        "schema_version": DISCOVERY_SCHEMA,
        "extensions": [_standing(row, state) for row in rows],
        "index": index,
        "state_code": state_code,
    }


def _state(store: StateStore) -> tuple[State | None, str | None]:
    try:
        return State.parse(store.read(), store.location), None
    except Refused as refused:
        return None, refused.code


def _way_out(row: Offer) -> tuple[str, ...] | None:
    """Return the command that still works for an offer that cannot be installed by its id, or None."""
    if row["state"] == "ambiguous":
        return ("extension", "install", "--manifest", str(row["manifest_path"]))
    return ("extension", "install", "--help") if row["code"] == "editable_unresolved" else None


def _standing(row: Offer, state: State | None) -> dict[str, Any]:
    """Return the row with the activation state joined in, and the command that goes on from there."""
    shown = {key: value for key, value in row.items() if key != "files"}
    entry = state.find(str(row["id"])) if state is not None else None
    if row["state"] != "available":
        return {**shown, "next_command": _way_out(row)}
    if not isinstance(entry, Entry):
        return {**shown, "next_command": ("extension", "install", row["id"])}
    if entry.active.manifest.digest == row["digest"]:
        return {**shown, "state": "installed", "next_command": None}
    return {**shown, "state": "upgrade_available", "next_command": ("extension", "upgrade", row["id"])}
