"""`extension list` and `show`: the activation state with its readiness now; no provider byte runs."""

from __future__ import annotations

from loopx_host.documents import detail, extension_list
from loopx_host.lifecycle.extensions.readiness import readiness, why_not_ready
from loopx_host.lifecycle.extensions.state import REPAIR, BadEntry, State

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Protocol

    from loopx_host.documents.detail import Detail
    from loopx_host.documents.extension_list import ExtensionList, Row
    from loopx_host.lifecycle.extensions.ports import HasPackages, HasStore, Packages
    from loopx_host.lifecycle.extensions.state import Entry

    class ListingPorts(HasStore, HasPackages, Protocol):
        """What looking at installed extensions needs."""


def list_extensions(ports: ListingPorts) -> ExtensionList:
    """Return one row per installed extension, a bad entry among them; no state file is an empty list."""
    state = State.parse(ports.store.read(), ports.store.location)
    return extension_list.extension_list([_any_row(entry, ports.packages) for entry in state.entries()])


def show(extension_id: str, ports: ListingPorts) -> Detail:
    """Return everything the state knows of one extension. Raises Refused `extension_not_installed`."""
    entry = State.parse(ports.store.read(), ports.store.location).entry(extension_id)
    return detail.detail(
        _row(entry, ports.packages),
        permissions=entry.manifest.permissions,
        launcher=entry.active.launcher,
        proof=entry.raw.get("proof"),
        manifest=entry.manifest.form,
        revisions=[revision.raw for revision in entry.revisions],
        history=entry.history,
    )


def _any_row(entry: Entry | BadEntry, packages: Packages) -> Row:
    if isinstance(entry, BadEntry):
        return extension_list.bad_row(extension_id=entry.id, code=entry.code, next_command=REPAIR)
    return _row(entry, packages)


def _row(entry: Entry, packages: Packages) -> Row:
    """Return the row of one extension: the v0 fields, then version, readiness and what would change it."""
    now = readiness(entry, packages)
    refused = None if now.is_ready else why_not_ready(now)
    runtime = entry.manifest.runtime
    return extension_list.row(
        extension_id=entry.id,
        enabled=entry.enabled,
        active_revision=entry.active.id,
        rollback_available=entry.rollback_revision is not None,
        revision_count=len(entry.revisions),
        version=entry.manifest.version,
        ready=now.is_ready,
        reason=refused.code if refused else None,
        changed=now.changed,
        changed_details=now.details,
        last_failure=entry.failure,
        env=runtime.env if runtime else [],
        next_command=refused.diagnostic.next_command if refused else None,
    )
