"""A publication for a goal: a governed call by the bound operation that opens the same reference (decision 0016)."""

from __future__ import annotations

from loopx_host.core.canonical import canonical_bytes
from loopx_host.core.errors import refusal
from loopx_host.core.permissions import reference_of
from loopx_host.core.strict_json import parse_object
from loopx_host.core.text import one_line
from loopx_host.lifecycle.dispatch.call_provider import parse_request
from loopx_host.lifecycle.dispatch.launch import CallGrants
from loopx_host.lifecycle.dispatch.publish_projection import SealedCall
from loopx_host.lifecycle.extensions.state import State
from loopx_host.lifecycle.goals.bind import bind_command, binding_missing
from loopx_host.lifecycle.goals.bindings import Bindings, binding_digest
from loopx_host.lifecycle.goals.capability_providers import READ_ONLY, providers_of
from loopx_host.lifecycle.goals.domain_check import seconds_allowed
from loopx_host.lifecycle.goals.governed_call import (
    bound_call,
    hold_to_call,
    opened_references,
    refuse_effect,
    request_document,
    sealed_request,
    what_is_read,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Protocol

    from loopx_host.core.errors import Refused
    from loopx_host.documents.integration_profile import ProfileOperation
    from loopx_host.documents.publish_receipt import PublishingGoal
    from loopx_host.lifecycle.dispatch.ports import HasPlugins, HasReferences
    from loopx_host.lifecycle.dispatch.publish_projection import PublishRequest
    from loopx_host.lifecycle.goals.governed_call import AnyRequest, BoundPorts, GovernedCall

    class GoverningPorts(BoundPorts, HasPlugins, HasReferences, Protocol):
        """What the call of a goal needs behind a publication."""


class GovernedPublication:
    """The call of a goal behind a publication: decided when it is made, derived anew when it is sealed."""

    def __init__(
        self, goal_id: str, references: dict[str, str], request: PublishRequest, ports: GoverningPorts
    ) -> None:
        """Raises Refused: `reference_invalid`, `operation_not_bound`, and those of a governed call."""
        self._goal_id = goal_id
        self._references = references
        self._publication = request
        self._ports = ports
        self._call, self._opened, self._asked = self._derived()

    @property
    def request(self) -> bytes:
        """The request that the provider will read, before it is sealed."""
        return canonical_bytes(self._asked)

    @property
    def reads(self) -> dict[str, object]:
        """What the call reads beside the request, for its plan."""
        return what_is_read(self._call, self._opened, self._ports.references)

    @property
    def goal_binding(self) -> PublishingGoal:
        """For which goal, and by which operation of its binding."""
        return {
            "goal_id": self._goal_id,
            "binding_digest": binding_digest(self._call.binding),
            "capability_id": self._call.capability_id,
            "operation": self._call.operation["id"],
        }

    @property
    def permission(self) -> str:
        """The one permission that is granted: that of the operation."""
        return self._call.operation["required_permission"]

    def seal(self) -> SealedCall:
        """Ask the domain check, and return the request under its envelope with what it may do.

        The check is code of a package and takes its time, so the call is derived once more before it is held to.
        Raises Refused: `domain_check_denied`, `envelope_invalid`, those of a governed call.
        """
        seconds = seconds_allowed(self._call.provider.entry, self._asked, self._ports.plugins)
        sealed = canonical_bytes(sealed_request(self._call, self._asked))
        call, opened, asked = self._derived()
        told = hold_to_call(parse_object(sealed), call, asked)
        return SealedCall(sealed, CallGrants([self.permission], opened, told), seconds)

    def _derived(self) -> tuple[GovernedCall, dict[str, str], AnyRequest]:
        publication, ports = self._publication, self._ports
        call = _call_that_opens(self._goal_id, publication.extension_id, self._references, ports)
        refuse_effect(call)
        opened = opened_references(call, self._references, ports.references)
        asked = request_document(call, parse_request(publication.data), opened, publication.surface_id)
        return call, opened, asked


def goal_required(extension_id: str, references: dict[str, str], ports: BoundPorts) -> Refused:
    """Return the refusal of references that no goal asks for. Raises Refused where the extension is not there."""
    served = next(_operations_that_open(extension_id, references, ports), None)
    shown = ("extension", "show", extension_id)
    return refusal(
        "goal_required",
        extension_id,
        "a context reference is opened for a bound goal and nothing else",
        hint="bind a goal to an operation that opens it, then name the goal with --goal-id",
        next_command=shown if served is None else ("capability", "show", served[0]),
    )


def _call_that_opens(
    goal_id: str, extension_id: str, references: dict[str, str], ports: GoverningPorts
) -> GovernedCall:
    """Return the call of the first bound operation, by name, that only reads and opens what is named, no more.

    Raises Refused: `reference_invalid`, `binding_missing`, `operation_not_bound`, those of `bound_call`.
    """
    wanted = list(_operations_that_open(extension_id, references, ports))
    if not wanted:
        names = ", ".join(f"`{one_line(name, 60)}`" for name in sorted(references)) or "nothing"
        raise refusal(
            "reference_invalid",
            extension_id,
            f"no operation of `{extension_id}` that only reads opens {names}",
            hint="name the reference that one of its operations opens, with --ref NAME=PATH",
        )
    bindings = Bindings.parse(ports.bindings.read(), ports.bindings.location)
    own = [row for row in bindings.rows if row["provider"]["extension_id"] == extension_id]
    bound = {row["capability_id"]: row for row in own if row["goal_id"] == goal_id}
    for capability_id, operation in wanted:
        if capability_id in bound and operation["id"] in bound[capability_id]["operations"]:
            return bound_call(goal_id, capability_id, operation["id"], ports)
    capability_id, operation = wanted[0]
    if capability_id not in bound:
        raise binding_missing(goal_id, capability_id, operation["id"])
    raise refusal(
        "operation_not_bound",
        operation["id"],
        f"goal `{goal_id}` is not bound to an operation of `{extension_id}` that opens what it names",
        hint="bind the goal to it as well",
        next_command=bind_command(bound[capability_id], operation["id"]),
    )


def _operations_that_open(
    extension_id: str, references: dict[str, str], ports: BoundPorts
) -> Iterator[tuple[str, ProfileOperation]]:
    """Yield capability and operation, by name, for each that only reads and opens exactly what is named."""
    state = State.parse(ports.store.read(), ports.store.location)
    manifest = state.entry(extension_id).manifest
    served = sorted({*_ids(manifest.capabilities, "id"), *_ids(manifest.implementations, "capability_id")})
    for capability_id in served:
        for provider in providers_of(capability_id, state, ports.packages):
            if provider.entry.id == extension_id:
                for operation in sorted(provider.operations, key=lambda one: one["id"]):
                    opens = reference_of(operation["required_permission"])
                    if operation["effect_class"] == READ_ONLY and {opens} == set(references):
                        yield capability_id, operation


def _ids(rows: Iterable[object], key: str) -> list[str]:
    return [str(row[key]) for row in rows if isinstance(row, dict)]
