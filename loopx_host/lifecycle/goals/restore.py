"""`extension restore`: install what an export names and bind what it bound, where exactly the same is at hand."""

from __future__ import annotations

from loopx_host.core.digest import sha256_hex
from loopx_host.core.errors import Refused
from loopx_host.documents import restore as document
from loopx_host.lifecycle.extensions.install import install_source
from loopx_host.lifecycle.extensions.plan import content_digest, hold_to_plan
from loopx_host.lifecycle.extensions.state import BadEntry, State
from loopx_host.lifecycle.goals.exported import read_export
from loopx_host.lifecycle.goals.rebind import previewed, rebound
from loopx_host.lifecycle.goals.restorable import restorables

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Protocol

    from loopx_host.documents.restore import Restore
    from loopx_host.lifecycle.goals.rebind import RebindPorts
    from loopx_host.lifecycle.goals.restorable import Restorable, RestorablePorts

    class RestorePorts(RestorablePorts, RebindPorts, Protocol):
        """What restoring needs."""


class RestoreRequest:
    """Install what the export in `data` names; `path` is where it was read from, as it is shown."""

    __slots__ = ("data", "execute", "path", "plan")

    def __init__(self, data: bytes, path: str, *, execute: bool, plan: str | None = None) -> None:
        self.data = data
        self.path = path
        self.execute = execute
        self.plan = plan


def restore(request: RestoreRequest, ports: RestorePorts) -> Restore:
    """Install the extensions of an export whose manifest has the same digest here; list the rest.

    Each is an install of its own, doctor included, held to the plan it was previewed with; the bindings come after
    them. For what is missing the row carries the pip command that would bring it; it is never run. ``ok`` is false
    when an executed restore is incomplete.
    """
    exported, preview_command = read_export(request.data, request.path), ("extension", "restore", request.path)
    state = State.parse(ports.store.read(), ports.store.location)
    found, to_be = restorables(exported.items, state, ports)
    coming = {one.item["id"] for one in found if one.status == document.WOULD_INSTALL}
    bindings = [previewed(binding, to_be, coming, ports) for binding in exported.bindings]
    content = [sha256_hex(request.data), _standing(state), [one.reads for one in found], bindings]
    digest = content_digest("restore", content)
    hold_to_plan(digest, request.plan, "restore", preview_command)
    if request.execute:
        for one in found:
            _install(one, ports)
        bindings = [rebound(binding, ports) for binding in exported.bindings]
    return document.restore(
        [one.row(ports.packages) for one in found],
        bindings,
        executed=request.execute,
        plan=digest,
        next_command=None if request.execute else (*preview_command, "--execute"),
    )


def _standing(state: State) -> list[list[object]]:
    """Return what is installed, as far as it decides what else can be."""
    return [
        [entry.id, entry.code] if isinstance(entry, BadEntry) else [entry.id, entry.active.id, entry.enabled]
        for entry in state.entries()
    ]


def _install(one: Restorable, ports: RestorePorts) -> None:
    """Install one extension as it was previewed; a refusal becomes its row's."""
    if one.source is None:
        return
    try:
        install_source(one.source, ports, execute=True, plan=one.plan, enabled=one.item["enabled"])
        one.status = document.INSTALLED
    except Refused as refused:
        one.refuse(refused.code, refused.diagnostic.summary)
