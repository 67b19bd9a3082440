"""`capability bind` and `capability unbind`: let a goal use operations of one provider, pinned."""

from __future__ import annotations

from loopx_host.core.errors import refusal
from loopx_host.core.text import one_line
from loopx_host.documents import binding_receipt as document
from loopx_host.documents.binding import binding as binding_of
from loopx_host.lifecycle.dispatch.call_provider import refuse_when_off
from loopx_host.lifecycle.extensions.activation import Activation
from loopx_host.lifecycle.extensions.plan import content_digest, hold_to_plan
from loopx_host.lifecycle.extensions.readiness import readiness
from loopx_host.lifecycle.extensions.refusals import state_moved
from loopx_host.lifecycle.extensions.state import BadEntry, Replacement, State
from loopx_host.lifecycle.goals.bindings import Bindings, binding_digest
from loopx_host.lifecycle.goals.capability_providers import (
    choose_provider,
    providers_of,
    refuse_contradiction,
    refuse_unowned,
)
from loopx_host.lifecycle.goals.contracts import refuse_mismatch

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Protocol

    from loopx_host.core.errors import Refused
    from loopx_host.documents.binding import Binding
    from loopx_host.documents.binding_receipt import BindingReceipt
    from loopx_host.lifecycle.dispatch.ports import HasPlugins, HasSwitch
    from loopx_host.lifecycle.extensions.ports import HasDiscovery, HasPackages, HasStore, Packages, StateStore
    from loopx_host.lifecycle.extensions.readiness import Readiness
    from loopx_host.lifecycle.goals.capability_providers import CapabilityProvider
    from loopx_host.lifecycle.goals.ports import HasBindings

    class WritingPorts(HasBindings, HasPlugins, Protocol):
        """What writing a binding needs."""

    class BindPorts(HasStore, HasPackages, HasDiscovery, HasSwitch, WritingPorts, Protocol):
        """What binding needs."""


_GOAL_LENGTH = 128
_CONTRACTS = "loopx_capability_contracts"


class BindRequest:
    """Let a goal use operations of a capability; `provider_id` names the extension where several could serve it."""

    __slots__ = ("capability_id", "execute", "goal_id", "operations", "plan", "provider_id")

    def __init__(
        self,
        capability_id: str,
        *,
        goal_id: str,
        operations: list[str],
        execute: bool,
        provider_id: str | None = None,
        plan: str | None = None,
    ) -> None:
        self.capability_id = capability_id
        self.goal_id = goal_id
        self.operations = operations
        self.provider_id = provider_id
        self.execute = execute
        self.plan = plan


class UnbindRequest:
    """Take away what binds a goal to a capability."""

    __slots__ = ("capability_id", "execute", "goal_id", "plan")

    def __init__(self, capability_id: str, *, goal_id: str, execute: bool, plan: str | None = None) -> None:
        self.capability_id = capability_id
        self.goal_id = goal_id
        self.execute = execute
        self.plan = plan


def bind(request: BindRequest, ports: BindPorts) -> BindingReceipt:
    """Bind a goal to operations of one ready provider, its revision and profile digest (contract section 7).

    A preview writes nothing and calls no package; executed, the contract of the capability is compared first, as the
    provider's own package and that of whoever declares the capability bring it.
    Raises Refused: `usage_error`, `capability_unavailable`, `capability_ambiguous`, `provider_unowned`,
    `operation_unknown`, `contract_mismatch`, `extensions_off`, those of the stores and of `Plugins.call`.
    """
    if request.execute:
        refuse_when_off(ports)
    goal_id, capability_id, bindings = request.goal_id, request.capability_id, ports.bindings
    _refuse_goal(goal_id)
    state = State.parse(ports.store.read(), ports.store.location)
    provider = choose_provider(
        capability_id, providers_of(capability_id, state, ports.packages), request.provider_id, ports
    )
    refuse_unowned(provider)
    refuse_unknown(capability_id, provider, request.operations)
    _refuse_contradictions(provider, request.operations)
    binding = binding_of(
        goal_id,
        capability_id,
        request.operations,
        extension_id=provider.entry.id,
        revision=provider.entry.active.id,
        profile_digest=provider.profile["digest"],
    )
    present = Bindings.parse(bindings.read(), bindings.location).find(goal_id, capability_id)
    preview_command = bind_command(binding)
    asked = also_declaring(provider, capability_id, state, ports.packages)
    digest = content_digest("bind", [present, binding, [_state_now(one) for one in (provider.readiness, *asked)]])
    hold_to_plan(digest, request.plan, capability_id, preview_command)
    same = present == binding
    if request.execute and not same:
        write_binding(binding, present, provider, asked, ports)
    return document.bound(
        binding,
        registry=bindings.location,
        executed=request.execute,
        same=same,
        binding_digest=binding_digest(binding),
        plan=digest,
        next_command=None if request.execute or same else (*preview_command, "--execute"),
    )


def _refuse_contradictions(provider: CapabilityProvider, operations: list[str]) -> None:
    """Refuse what a state of an earlier release can hold: an operation that reads and may write."""
    for operation in provider.operations:
        if operation["id"] in operations:
            refuse_contradiction(provider.entry.id, operation)


def unbind(request: UnbindRequest, ports: HasBindings) -> BindingReceipt:
    """Take a binding away; needs neither the provider nor its package. Raises Refused `binding_missing`."""
    goal_id, capability_id, bindings = request.goal_id, request.capability_id, ports.bindings
    present = Bindings.parse(bindings.read(), bindings.location).find(goal_id, capability_id)
    if present is None:
        raise binding_missing(goal_id, capability_id)
    preview_command = ("capability", "unbind", capability_id, "--goal-id", goal_id)
    digest = content_digest("unbind", present)
    hold_to_plan(digest, request.plan, capability_id, preview_command)
    if request.execute:
        _change(bindings, present, present, lambda now: now.without(goal_id, capability_id))
    return document.unbound(
        present,
        registry=bindings.location,
        executed=request.execute,
        binding_digest=binding_digest(present),
        plan=digest,
        next_command=None if request.execute else (*preview_command, "--execute"),
    )


def bind_command(binding: Binding, *more: str) -> tuple[str, ...]:
    """Return the command that previews a binding of the same operations, and of `more`."""
    flags = [part for operation in (*binding["operations"], *more) for part in ("--operation", operation)]
    return ("capability", "bind", binding["capability_id"], "--goal-id", binding["goal_id"], *flags)


def _refuse_goal(goal_id: str) -> None:
    """Refuse a goal id that could not name anything. Raises Refused `goal_invalid`."""
    plain = goal_id.isascii() and goal_id.replace("-", "").replace("_", "").replace(".", "").isalnum()
    if not plain or not goal_id[0].isalnum() or len(goal_id) > _GOAL_LENGTH:
        shown = one_line(goal_id, 60)
        hint = f"at most {_GOAL_LENGTH} letters, digits, `-`, `_` and `.`; a letter or digit first"
        raise refusal("goal_invalid", shown, f"`{shown}` is no goal id", hint=hint)


def binding_missing(goal_id: str, capability_id: str, operation_id: str | None = None) -> Refused:
    """Return the refusal for a goal that is not bound to a capability; the next command would bind it."""
    goal, capability = one_line(goal_id, 60), one_line(capability_id, 60)
    wanted = ("--operation", one_line(operation_id, 60)) if operation_id else ()
    command = ("capability", "bind", capability, "--goal-id", goal, *wanted) if wanted else ("capability", "list")
    return refusal(
        "binding_missing",
        capability,
        f"goal `{goal}` is not bound to capability `{capability}`",
        hint="bind it to the operations it needs" if wanted else "see what there is",
        next_command=command,
    )


def write_binding(
    binding: Binding,
    present: Binding | None,
    provider: CapabilityProvider,
    others: list[Readiness],
    ports: WritingPorts,
) -> None:
    """Compare the contracts that the ready packages bring, and write a binding in place of `present`.

    Raises Refused: `contract_mismatch`, `state_moved` where another binding came in between, those of the store and
    of `Plugins.call`.
    """
    for now in (provider.readiness, *others):
        activation = Activation.of(now.entry)
        if now.is_ready and activation.plugins:
            answers = ports.plugins.call(activation, _CONTRACTS, {})
            refuse_mismatch(provider, binding["capability_id"], answers)
    _change(ports.bindings, present, binding, lambda now: now.with_binding(binding))


def also_declaring(
    provider: CapabilityProvider, capability_id: str, state: State, packages: Packages
) -> list[Readiness]:
    """Return who is asked beside the provider: every other ready extension that declares the capability."""
    declaring = [
        entry
        for entry in state.entries()
        if not isinstance(entry, BadEntry)
        and entry.id != provider.entry.id
        and any(capability["id"] == capability_id for capability in entry.manifest.capabilities)
    ]
    return [now for now in (readiness(entry, packages) for entry in declaring) if now.is_ready]


def _state_now(now: Readiness) -> list[object]:
    """Return what a plan holds of an extension whose package is asked: what it is, and what it is made of."""
    identity = now.program.identity.digest if now.program else None
    activation = Activation.of(now.entry)
    return [now.entry.id, now.entry.active.id, now.entry.enabled, identity, activation.plugins]


def _change(store: StateStore, present: Binding | None, about: Binding, edit: Callable[[Bindings], bytes]) -> None:
    """Change the bindings if the one it is about still is `present`. Raises Refused `state_moved`."""

    def apply(data: bytes | None) -> Replacement:
        now = Bindings.parse(data, store.location)
        if now.find(about["goal_id"], about["capability_id"]) != present:
            raise state_moved(about["capability_id"])
        return Replacement(edit(now))

    store.change(apply)


def refuse_unknown(capability_id: str, provider: CapabilityProvider, operations: list[str]) -> None:
    """Refuse operations that a profile does not have. Raises Refused `operation_unknown`."""
    known = [operation["id"] for operation in provider.operations]
    for named in operations:
        if named not in known:
            shown = one_line(named, 60)
            raise refusal(
                "operation_unknown",
                shown,
                f"capability `{capability_id}` has no operation `{shown}`; it has {', '.join(known)}",
                hint="see the profile",
                next_command=("capability", "show", capability_id),
            )
