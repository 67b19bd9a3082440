"""The bindings of an export: made again exactly as they were, or said how what is here differs."""

from __future__ import annotations

from loopx_host.core.errors import Refused, refusal
from loopx_host.documents import restore as document
from loopx_host.lifecycle.dispatch.call_provider import refuse_when_off
from loopx_host.lifecycle.extensions.readiness import why_not_ready
from loopx_host.lifecycle.extensions.state import State
from loopx_host.lifecycle.goals.bind import also_declaring, refuse_unknown, write_binding
from loopx_host.lifecycle.goals.bindings import Bindings
from loopx_host.lifecycle.goals.capability_providers import drift_of, providers_of, refuse_unowned

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Protocol

    from loopx_host.documents.binding import Binding
    from loopx_host.documents.restore import RestoredBinding
    from loopx_host.lifecycle.dispatch.ports import HasPlugins, HasSwitch
    from loopx_host.lifecycle.extensions.ports import HasPackages, HasStore
    from loopx_host.lifecycle.goals.capability_providers import CapabilityProvider
    from loopx_host.lifecycle.goals.ports import HasBindings

    class RebindPorts(HasStore, HasBindings, HasPackages, HasPlugins, HasSwitch, Protocol):
        """What making bindings again needs."""


def previewed(binding: Binding, state: State, coming: set[str], ports: RebindPorts) -> RestoredBinding:
    """Say what would become of one exported binding in `state`; `coming` are extensions that would be installed."""
    return _row(binding, lambda: _standing(binding, state, coming, ports))


def rebound(binding: Binding, ports: RebindPorts) -> RestoredBinding:
    """Make one exported binding again, and say what became of it; a refusal becomes the row's."""
    return _row(binding, lambda: _made(binding, ports))


def _made(binding: Binding, ports: RebindPorts) -> str:
    state = State.parse(ports.store.read(), ports.store.location)
    status = _standing(binding, state, set(), ports)
    if status != document.WOULD_BIND:
        return status
    refuse_when_off(ports)
    provider = _provider(binding, state, ports)
    others = also_declaring(provider, binding["capability_id"], state, ports.packages)
    write_binding(binding, None, provider, others, ports)
    return document.BOUND


def _standing(binding: Binding, state: State, coming: set[str], ports: RebindPorts) -> str:
    """Return the status of a binding that could be made or is there. Raises Refused."""
    bindings = Bindings.parse(ports.bindings.read(), ports.bindings.location)
    present = bindings.find(binding["goal_id"], binding["capability_id"])
    if present is not None:
        return document.ALREADY_BOUND if present == binding else document.ANOTHER_BOUND
    provider = _provider(binding, state, ports)
    refuse_unknown(binding["capability_id"], provider, binding["operations"])
    now = provider.readiness
    if provider.entry.id not in coming and now.verdict != "extension_disabled":
        if not now.is_ready:
            raise why_not_ready(now)
        refuse_unowned(provider)
    return document.WOULD_BIND


def _provider(binding: Binding, state: State, ports: RebindPorts) -> CapabilityProvider:
    """Return the provider exactly as it was bound. Raises Refused `binding_drift`, which says how it differs."""
    serving = providers_of(binding["capability_id"], state, ports.packages)
    provider = next((one for one in serving if one.entry.id == binding["provider"]["extension_id"]), None)
    drift = drift_of(binding, provider)
    if provider is None or drift is not None:
        bound = binding["provider"]
        raise refusal(
            "binding_drift",
            binding["capability_id"],
            f"goal `{binding['goal_id']}` was bound to `{bound['extension_id']}` {bound['revision']}; {drift}",
            hint="bind again to what is there now",
        )
    return provider


def _row(binding: Binding, standing: Callable[[], str]) -> RestoredBinding:
    try:
        status = standing()
    except Refused as refused:
        return document.bound_row(binding, document.REFUSED, refused.code, refused.diagnostic.summary)
    return document.bound_row(binding, status)
