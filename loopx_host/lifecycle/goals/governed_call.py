"""A governed call while it is being decided: the binding, the provider behind it, the operation, what it opens."""

from __future__ import annotations

from loopx_host.core.canonical import canonical_digest
from loopx_host.core.errors import refusal
from loopx_host.core.permissions import reference_of
from loopx_host.core.text import one_line
from loopx_host.documents import governed_request as document
from loopx_host.lifecycle.dispatch.schemas import inline_violations
from loopx_host.lifecycle.extensions.readiness import why_not_ready
from loopx_host.lifecycle.extensions.state import State
from loopx_host.lifecycle.goals import envelope as envelopes
from loopx_host.lifecycle.goals import v0_call
from loopx_host.lifecycle.goals.bind import bind_command, binding_missing, refuse_unknown
from loopx_host.lifecycle.goals.bindings import Bindings, binding_digest
from loopx_host.lifecycle.goals.capability_providers import (
    READ_ONLY,
    drift_of,
    providers_of,
    refuse_contradiction,
    refuse_unowned,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Protocol

    from loopx_host.core.errors import Refused
    from loopx_host.documents.binding import Binding
    from loopx_host.documents.governed_request import GovernedRequest
    from loopx_host.documents.governed_request_v0 import GovernedRequestV0
    from loopx_host.documents.integration_profile import ProfileOperation
    from loopx_host.lifecycle.dispatch.ports import Judging, References
    from loopx_host.lifecycle.extensions.ports import HasPackages, HasStore
    from loopx_host.lifecycle.goals.capability_providers import CapabilityProvider
    from loopx_host.lifecycle.goals.ports import HasBindings

    class BoundPorts(HasStore, HasBindings, HasPackages, Protocol):
        """What finding the provider behind a binding needs."""

    AnyRequest = GovernedRequest | GovernedRequestV0


_ID_DIGITS = 24


class GovernedCall:
    """What a goal may do: the binding, its provider exactly as it was bound, and one operation of its profile."""

    __slots__ = ("binding", "operation", "provider")

    def __init__(self, binding: Binding, provider: CapabilityProvider, operation: ProfileOperation) -> None:
        self.binding = binding
        self.provider = provider
        self.operation = operation

    @property
    def capability_id(self) -> str:
        """The capability the goal is bound to."""
        return str(self.binding["capability_id"])


def bound_call(goal_id: str, capability_id: str, operation_id: str, ports: BoundPorts) -> GovernedCall:
    """Return the call of an operation that a goal is bound to.

    Raises Refused: `binding_missing`, `binding_drift`, `operation_unknown`, `operation_not_bound`,
    `provider_unowned`, or why the provider is off.
    """
    binding = Bindings.parse(ports.bindings.read(), ports.bindings.location).find(goal_id, capability_id)
    if binding is None:
        raise binding_missing(goal_id, capability_id, operation_id)
    provider = _bound_provider(binding, ports)
    refuse_unknown(capability_id, provider, [operation_id])
    if operation_id not in binding["operations"]:
        raise _not_bound(binding, operation_id)
    operation = provider.operation(operation_id)
    if operation is None:
        raise _drift(binding, "its profile has no such operation now")
    return GovernedCall(binding, provider, operation)


def _bound_provider(binding: Binding, ports: BoundPorts) -> CapabilityProvider:
    """Return the provider exactly as it was bound. Raises Refused: `binding_drift`, or why it is off."""
    bound = binding["provider"]
    state = State.parse(ports.store.read(), ports.store.location)
    serving = providers_of(binding["capability_id"], state, ports.packages)
    provider = next((provider for provider in serving if provider.entry.id == bound["extension_id"]), None)
    drift = drift_of(binding, provider)
    if provider is None or drift is not None:
        raise _drift(binding, str(drift))
    if not provider.readiness.is_ready:
        raise why_not_ready(provider.readiness)
    refuse_unowned(provider)
    return provider


def refuse_effect(call: GovernedCall) -> None:
    """Refuse what is not read-only: that takes an admitted turn. Raises Refused `operations_unavailable`."""
    name = call.operation["id"]
    if call.operation["effect_class"] != READ_ONLY:
        raise refusal(
            "operations_unavailable",
            name,
            f"operation `{name}` writes to the outside; it runs as an operation of an admitted"
            " turn, which this release does not have, and never through direct invoke",
            hint="use a read-only operation",
        )
    refuse_contradiction(call.provider.entry.id, call.operation)


def refuse_input(call: GovernedCall, payload: dict[str, object], judging: Judging) -> None:
    """Refuse an input that breaks the operation's schema, or the form that a v0 profile asks for.

    Raises Refused: `request_schema`, `request_invalid`.
    """
    name, schema = call.operation["id"], call.operation["request_schema"]
    if not isinstance(schema, dict):
        v0_call.provider_input(name, payload)
        return
    rows = inline_violations(judging, schema, payload)
    if rows:
        where, what = rows[0]["pointer"] or "/", rows[0]["message"]
        raise refusal(
            "request_schema",
            name,
            f"the input breaks the schema of `{name}` at {where}: {what}",
            hint="correct the input",
            violations=rows,
        )


def opened_references(call: GovernedCall, named: dict[str, str], references: References) -> dict[str, str]:
    """Return name → absolute path of the references the operation needs, no more and no less.

    Raises Refused `reference_invalid`.
    """
    name, opens = call.operation["id"], reference_of(call.operation["required_permission"])
    needed = set() if opens is None else {opens}
    if set(named) != needed:
        takes = ", ".join(f"--ref {reference}=PATH" for reference in sorted(needed)) or "no reference"
        summary = f"operation `{name}` takes {takes}"
        raise refusal("reference_invalid", name, summary, hint="name exactly these")
    return {reference: references.resolve(reference, path) for reference, path in named.items()}


def request_document(
    call: GovernedCall, payload: dict[str, object], opened: dict[str, str], surface: str | None = None
) -> AnyRequest:
    """Return the request, without envelope; its id follows from what is asked and nothing else.

    `surface` is where its view is published, if it is. Raises Refused `request_invalid` for what no v0 provider is
    given.
    """
    if v0_call.is_v0(call.operation):
        given = v0_call.provider_input(call.operation["id"], payload)
        return v0_call.request_document(call.binding, call.operation, given)
    rows = document.references(opened)
    content = [binding_digest(call.binding), call.operation["id"], payload, rows]
    if surface is not None:
        content.append(surface)
    return document.request(
        invocation_id=f"capability-{canonical_digest(content)[:_ID_DIGITS]}",
        goal_id=call.binding["goal_id"],
        capability_id=call.capability_id,
        operation=call.operation["id"],
        protocol=call.provider.protocol,
        asked=payload,
        references=rows,
        surface=surface,
    )


def what_is_read(call: GovernedCall, opened: dict[str, str], references: References) -> dict[str, object]:
    """Return what a call reads beside its request, for its plan."""
    return {
        "binding": binding_digest(call.binding),
        "operation": call.operation,
        "references": {name: references.standing(path) for name, path in opened.items()},
    }


def sealed_request(call: GovernedCall, request: AnyRequest) -> Mapping[str, object]:
    """Return the request with its envelope; a v0 read has none. Raises Refused `envelope_invalid`."""
    entry = call.provider.entry
    if v0_call.is_v0(call.operation):
        return {**request}
    return {**request, envelopes.ENVELOPE_KEY: envelopes.envelope_for(request, entry.id, entry.active.id)}


def hold_to_call(sealed: Mapping[str, object], anew: GovernedCall, request: AnyRequest) -> dict[str, str]:
    """Refuse a sealed request that is not the one of `anew`, the same call derived once more from what is kept.

    `request` is what `anew` asks, without an envelope. Returns the variables that tell the provider what it is
    started for. Raises Refused `envelope_invalid`.
    """
    entry = anew.provider.entry
    expected = envelopes.envelope_for(request, entry.id, entry.active.id)
    if v0_call.is_v0(anew.operation):
        envelopes.refuse_envelope(sealed, entry.id)
    else:
        envelopes.check_envelope(sealed.get(envelopes.ENVELOPE_KEY), expected)
    # And the request it stands in has no other: its digest, and with it every byte, is that of `request`.
    envelopes.check_envelope(envelopes.envelope_for(sealed, entry.id, entry.active.id), expected)
    return envelopes.expectation(request, entry.id, entry.active.id)


def _not_bound(binding: Binding, operation_id: str) -> Refused:
    shown = one_line(operation_id, 60)
    operations = ", ".join(binding["operations"])
    return refusal(
        "operation_not_bound",
        shown,
        f"goal `{binding['goal_id']}` is bound to {operations} of `{binding['capability_id']}`, not to `{shown}`",
        hint="bind the goal to it as well",
        next_command=bind_command(binding, shown),
    )


def _drift(binding: Binding, why: str) -> Refused:
    return refusal(
        "binding_drift",
        binding["capability_id"],
        f"the binding of goal `{binding['goal_id']}` no longer holds: {why}",
        hint="bind again to what is there now",
        next_command=bind_command(binding),
        binding=binding,
    )
