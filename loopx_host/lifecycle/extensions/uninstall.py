"""`extension uninstall`: forget one extension, its revisions and the schemas only it used."""

from __future__ import annotations

from loopx_host.lifecycle.extensions import receipts
from loopx_host.lifecycle.extensions.plan import hold_to_plan, plan_digest
from loopx_host.lifecycle.extensions.state import State
from loopx_host.lifecycle.extensions.transitions import installed_entry
from loopx_host.lifecycle.extensions.writing import remove_entry

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Protocol

    from loopx_host.lifecycle.extensions.ports import HasClock, HasProjections, HasStore
    from loopx_host.lifecycle.extensions.requests import ChangeRequest

    class UninstallPorts(HasStore, HasProjections, HasClock, Protocol):
        """What uninstalling needs: neither the package nor a passing doctor."""


VERB = "uninstall"


def uninstall(request: ChangeRequest, ports: UninstallPorts) -> dict[str, Any]:
    """Uninstall one extension (contract section 5); what it published goes with it."""
    entry = installed_entry(State.parse(ports.store.read(), ports.store.location), request.extension_id, VERB)
    preview_command = ("extension", VERB, entry.id)
    digest = plan_digest(VERB, entry.id, entry)
    hold_to_plan(digest, request.plan, entry.id, preview_command)
    execute = request.execute
    receipt = {
        **receipts.operation(VERB, entry.manifest, executed=execute, changed=execute, doctor=None),
        "revision": None if execute else entry.active.id,
        "previous_revision": entry.active.id,
        "enabled": None,
        "revisions": [revision.id for revision in entry.revisions],
        "plan": digest,
    }
    if not execute:
        return {**receipt, "next_command": (*preview_command, "--execute")}
    remove_entry(ports.store, entry)
    ports.projections.remove(entry.id)
    return {**receipt, "at": ports.clock.now()}
