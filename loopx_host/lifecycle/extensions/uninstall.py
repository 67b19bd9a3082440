"""`extension uninstall`: forget one extension, its revisions and the schemas only it used."""

from __future__ import annotations

from loopx_host.documents import operation
from loopx_host.lifecycle.extensions.plan import hold_to_plan, plan_digest
from loopx_host.lifecycle.extensions.state import State
from loopx_host.lifecycle.extensions.transitions import installed_entry
from loopx_host.lifecycle.extensions.writing import remove_entry

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Protocol

    from loopx_host.documents.operation import Operation
    from loopx_host.lifecycle.extensions.ports import HasClock, HasPackages, HasProjections, HasStore
    from loopx_host.lifecycle.extensions.requests import ChangeRequest

    class UninstallPorts(HasStore, HasPackages, HasProjections, HasClock, Protocol):
        """What uninstalling needs: neither the package nor a passing doctor."""


VERB = "uninstall"


def uninstall(request: ChangeRequest, ports: UninstallPorts) -> Operation:
    """Uninstall one extension (contract section 5); what it published and its byte code go with it."""
    entry = installed_entry(State.parse(ports.store.read(), ports.store.location), request.extension_id, VERB)
    preview_command = ("extension", VERB, entry.id)
    digest = plan_digest(VERB, entry.id, entry, reads={"published": ports.projections.published_by(entry.id)})
    hold_to_plan(digest, request.plan, entry.id, preview_command)
    receipt = operation.uninstall(
        extension_id=entry.id,
        version=entry.manifest.version,
        active_revision=entry.active.id,
        revisions=[revision.id for revision in entry.revisions],
        executed=request.execute,
        plan=digest,
    )
    if not request.execute:
        return operation.to_do(receipt, next_command=(*preview_command, "--execute"))
    written = remove_entry(ports.store, entry)
    ports.projections.remove(entry.id)
    ports.packages.forget_bytecode(entry.id)
    return operation.done(receipt, at=ports.clock.now(), written=written)
