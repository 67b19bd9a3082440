"""`extension disable`: take an extension out of dispatch, whatever is broken about it."""

from __future__ import annotations

from loopx_host.documents import operation
from loopx_host.lifecycle.extensions.plan import hold_to_plan, plan_digest
from loopx_host.lifecycle.extensions.proof import with_event
from loopx_host.lifecycle.extensions.state import State
from loopx_host.lifecycle.extensions.transitions import enabled_after, installed_entry
from loopx_host.lifecycle.extensions.writing import replace_entry

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Protocol

    from loopx_host.documents.operation import Operation
    from loopx_host.documents.state import Entry, Event
    from loopx_host.lifecycle.extensions.ports import HasClock, HasStore
    from loopx_host.lifecycle.extensions.requests import ChangeRequest

    class DisablePorts(HasStore, HasClock, Protocol):
        """What disabling needs: neither the package nor the provider."""


VERB = "disable"


def disable(request: ChangeRequest, ports: DisablePorts) -> Operation:
    """Disable one extension (contract section 5). Idempotent. Raises Refused `extension_not_installed` and others."""
    entry = installed_entry(State.parse(ports.store.read(), ports.store.location), request.extension_id, VERB)
    preview_command = ("extension", VERB, entry.id)
    digest = plan_digest(VERB, entry.id, entry)
    hold_to_plan(digest, request.plan, entry.id, preview_command)
    receipt = operation.disable(
        extension_id=entry.id,
        active_revision=entry.active.id,
        was_enabled=entry.enabled,
        executed=request.execute,
        plan=digest,
    )
    if not request.execute:
        return operation.to_do(receipt, next_command=(*preview_command, "--execute"))
    at, written = ports.clock.now(), True
    if entry.enabled:
        event: Event = {"at": at, "operation": VERB, "revision": entry.active.id}
        raw: Entry = {**entry.raw, "enabled": enabled_after(entry, VERB)}
        written = replace_entry(ports.store, entry, with_event(raw, event))
    return operation.done(receipt, at=at, written=written)
