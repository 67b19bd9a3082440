"""`extension discover`: what the environment offers, and how it stands to what is installed."""

from __future__ import annotations

from loopx_host.core.errors import Refused
from loopx_host.documents import discovery as document
from loopx_host.lifecycle.extensions.state import Entry, State

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Protocol

    from loopx_host.documents.discovery import Discovered, Discovery
    from loopx_host.documents.discovery_index import Offer
    from loopx_host.lifecycle.extensions.ports import HasDiscovery, HasStore, StateStore

    class DiscoverPorts(HasStore, HasDiscovery, Protocol):
        """What discovering needs."""


class DiscoverRequest:
    """List what is offered; with `rebuild` the packages are looked at again, whatever the index says."""

    __slots__ = ("rebuild",)

    def __init__(self, *, rebuild: bool) -> None:
        self.rebuild = rebuild


def discover(request: DiscoverRequest, ports: DiscoverPorts) -> Discovery:
    """Return one row per advertised extension (contract section 3). A damaged state file spoils only `state`."""
    rows, index = ports.discovery.offers(rebuild=request.rebuild)
    state, state_code = _state(ports.store)
    return document.discovery([_standing(row, state) for row in rows], index, state_code)


def _state(store: StateStore) -> tuple[State | None, str | None]:
    try:
        return State.parse(store.read(), store.location), None
    except Refused as refused:
        return None, refused.code


def _way_out(offer: Offer) -> tuple[str, ...] | None:
    """Return the command that still works for an offer that cannot be installed by its id, or None."""
    if offer["state"] == "ambiguous":
        return ("extension", "install", "--manifest", str(offer["manifest_path"]))
    return ("extension", "install", "--help") if offer["code"] == "editable_unresolved" else None


def _standing(offer: Offer, state: State | None) -> Discovered:
    """Return the offer with the activation state joined in, and the command that goes on from there."""
    if offer["state"] != "available":
        return document.row(offer, state=offer["state"], next_command=_way_out(offer))
    entry = state.find(str(offer["id"])) if state is not None else None
    if not isinstance(entry, Entry):
        return document.row(offer, state="available", next_command=("extension", "install", str(offer["id"])))
    if entry.active.manifest.digest == offer["digest"]:
        return document.row(offer, state="installed", next_command=None)
    return document.row(offer, state="upgrade_available", next_command=("extension", "upgrade", str(offer["id"])))
