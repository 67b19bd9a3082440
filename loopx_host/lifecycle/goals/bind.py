"""The verbs `capability bind` and `capability unbind`: let a goal use operations of one provider, pinned."""

from __future__ import annotations

from loopx_host.core.canonical import canonical_digest
from loopx_host.core.errors import refuse
from loopx_host.core.text import one_line
from loopx_host.lifecycle.extensions.activation import Activation
from loopx_host.lifecycle.extensions.plan import bind as bind_plan
from loopx_host.lifecycle.extensions.readiness import readiness
from loopx_host.lifecycle.extensions.state import BadEntry, Replacement, State
from loopx_host.lifecycle.goals.bindings import Bindings, binding_digest, binding_of
from loopx_host.lifecycle.goals.contracts import refuse_mismatch
from loopx_host.lifecycle.goals.offered import Offer, chosen, offers, refuse_unowned

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from loopx_host.core.errors import Refused
    from loopx_host.lifecycle.extensions.ports import Discovery, Packages, Plugins, StateStore

RECEIPT_SCHEMA = "loopx_goal_external_capability_binding_receipt_v0"
_GOAL_LENGTH = 128
_CONTRACTS = "loopx_capability_contracts"


def bind(
    capability_id: str,
    *,
    goal_id: str,
    operations: list[str],
    provider_id: str | None,
    store: StateStore,
    bindings: StateStore,
    packages: Packages,
    discovery: Discovery,
    plugins: Plugins,
    execute: bool,
    plan: str | None = None,
) -> dict[str, Any]:
    """Bind a goal to operations of one ready provider, its revision and profile digest (contract section 7).

    A preview writes nothing and calls no package; executed, the contract of the capability is compared first, as the
    provider's own package and that of whoever declares the capability bring it.
    Raises Refused: `usage_error`, `capability_unavailable`, `capability_ambiguous`, `provider_unowned`,
    `operation_unknown`, `contract_mismatch`, those of the stores and of `Plugins.call`.
    """
    _refuse_goal(goal_id)
    state = State.parse(store.read(), store.location)
    offer = chosen(capability_id, offers(capability_id, state, packages), provider_id, packages, discovery)
    refuse_unowned(offer, packages)
    refuse_unknown(capability_id, offer, operations)
    binding = binding_of(
        goal_id,
        capability_id,
        operations,
        extension_id=offer.entry.id,
        revision=offer.entry.active.id,
        profile_digest=offer.profile["digest"],
    )
    present = Bindings.parse(bindings.read(), bindings.location).find(goal_id, capability_id)
    flags = [part for operation in binding["operations"] for part in ("--operation", operation)]
    again = ("capability", "bind", capability_id, "--goal-id", goal_id, *flags)
    token = _token("bind", present, binding)
    bind_plan(token, plan, capability_id, again)
    same = present == binding
    if execute and not same:
        for activation in _with_contracts(capability_id, offer, state, packages):
            refuse_mismatch(offer, capability_id, plugins.call(activation, _CONTRACTS, {}))
        bindings.change(lambda data: Replacement(Bindings.parse(data, bindings.location).with_binding(binding)))
    return {
        **_receipt(bindings, goal_id, capability_id, execute=execute, same=same),
        "binding": binding,
        "binding_digest": binding_digest(binding),
        "plan": token,
        "next_command": None if execute or same else (*again, "--execute"),
    }


def unbind(
    capability_id: str, *, goal_id: str, bindings: StateStore, execute: bool, plan: str | None = None
) -> dict[str, Any]:
    """Take a binding away; needs neither the provider nor its package. Raises Refused `binding_missing`."""
    present = Bindings.parse(bindings.read(), bindings.location).find(goal_id, capability_id)
    if present is None:
        raise missing(goal_id, capability_id)
    again = ("capability", "unbind", capability_id, "--goal-id", goal_id)
    token = _token("unbind", present, None)
    bind_plan(token, plan, capability_id, again)
    if execute:
        bindings.change(
            lambda data: Replacement(Bindings.parse(data, bindings.location).without(goal_id, capability_id))
        )
    return {
        **_receipt(bindings, goal_id, capability_id, execute=execute, same=False),
        "status": "removed" if execute else "ready",
        "binding": present,
        "binding_digest": binding_digest(present),
        "plan": token,
        "next_command": None if execute else (*again, "--execute"),
    }


def _refuse_goal(goal_id: str) -> None:
    """Refuse a goal id that could not name anything. Raises Refused `goal_invalid`."""
    plain = goal_id.isascii() and goal_id.replace("-", "").replace("_", "").replace(".", "").isalnum()
    if not plain or not goal_id[0].isalnum() or len(goal_id) > _GOAL_LENGTH:
        shown = one_line(goal_id, 60)
        hint = f"at most {_GOAL_LENGTH} letters, digits, `-`, `_` and `.`; a letter or digit first"
        raise refuse("goal_invalid", shown, f"`{shown}` is no goal id", hint=hint)


def missing(goal_id: str, capability_id: str, operation_id: str | None = None) -> Refused:
    """Return the refusal for a goal that is not bound to a capability; the next command would bind it."""
    goal, capability = one_line(goal_id, 60), one_line(capability_id, 60)
    wanted = ("--operation", one_line(operation_id, 60)) if operation_id else ()
    command = ("capability", "bind", capability, "--goal-id", goal, *wanted) if wanted else ("capability", "list")
    return refuse(
        "binding_missing",
        capability,
        f"goal `{goal}` is not bound to capability `{capability}`",
        hint="bind it to the operations it needs" if wanted else "see what there is",
        next_command=command,
    )


def _with_contracts(capability_id: str, offer: Offer, state: State, packages: Packages) -> list[Activation]:
    """Return whom to ask: the provider, and every other ready extension that declares the capability."""
    declaring = [
        entry
        for entry in state.entries()
        if not isinstance(entry, BadEntry)
        and entry.id != offer.entry.id
        and any(one["id"] == capability_id for one in entry.manifest.capabilities)
    ]
    ready = [entry for entry in declaring if readiness(entry, packages).is_ready]
    return [one for one in map(Activation.of, [offer.entry, *ready]) if one.plugins]


def _token(verb: str, present: dict[str, Any] | None, binding: dict[str, Any] | None) -> str:
    """Return the plan of a change of bindings: what is there and what would be."""
    return f"sha256:{canonical_digest([verb, present, binding])}"


def _receipt(bindings: StateStore, goal_id: str, capability_id: str, *, execute: bool, same: bool) -> dict[str, Any]:
    written = execute and not same
    return {
        "ok": True,
        "schema_version": RECEIPT_SCHEMA,
        "status": "no_change" if same else "written" if execute else "ready",
        "dry_run": not execute,
        "executed": execute,
        "changed": written,
        "written": written,
        "registry": bindings.location,
        "goal_id": goal_id,
        "capability_id": capability_id,
        "turn_required": False,
        "quota_spent": False,
    }


def refuse_unknown(capability_id: str, offer: Offer, operations: list[str]) -> None:
    """Refuse operations that a profile does not have. Raises Refused `operation_unknown`."""
    known = [one["id"] for one in offer.operations]
    for operation in operations:
        if operation not in known:
            shown = one_line(operation, 60)
            raise refuse(
                "operation_unknown",
                shown,
                f"capability `{capability_id}` has no operation `{shown}`; it has {', '.join(known)}",
                hint="see the profile",
                next_command=("capability", "show", capability_id),
            )
