"""The verb `rollback`: return to a revision that was trusted before, once its doctor proved it again."""

from __future__ import annotations

from loopx_host.core.errors import refuse
from loopx_host.core.text import one_line
from loopx_host.lifecycle.extensions.admission import pins, refuse_capability_clash, runtime_to_prove
from loopx_host.lifecycle.extensions.differences import added_permissions
from loopx_host.lifecycle.extensions.identity import Launcher
from loopx_host.lifecycle.extensions.pinned import identified
from loopx_host.lifecycle.extensions.plan import bind, plan_digest
from loopx_host.lifecycle.extensions.state import State
from loopx_host.lifecycle.extensions.switch import Switch, carry_out
from loopx_host.lifecycle.extensions.transitions import present

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from loopx_host.lifecycle.extensions.identity import LauncherNotFound
    from loopx_host.lifecycle.extensions.ports import Clock, Packages, Processes, StateStore
    from loopx_host.lifecycle.extensions.state import Entry, Revision

VERB = "rollback"


def rollback(
    extension_id: str,
    *,
    store: StateStore,
    packages: Packages,
    processes: Processes,
    clock: Clock,
    core_capabilities: frozenset[str],
    execute: bool,
    plan: str | None,
    to: str | None,
) -> dict[str, Any]:
    """Roll one extension back to its previous revision, or to any kept one (contract section 5).

    It restores the trusted manifest and proves whatever code is installed now; `code_changed` in the receipt
    says whether that is what was proved for this revision before. Disabled stays disabled.
    """
    state = State.parse(store.read(), store.location)
    entry = present(state, extension_id, VERB)
    chosen = _chosen(entry, to)
    manifest = chosen.manifest
    refuse_capability_clash(manifest, state, core_capabilities)
    runtime = runtime_to_prove(manifest)
    target = packages.resolve(runtime, chosen.folder)
    identity = identified(target, packages)
    added = added_permissions(entry.manifest, manifest)
    digest = plan_digest(
        VERB, entry.id, entry, to=manifest, target=target, identity=identity, permissions_added=added
    )
    shown = ("extension", VERB, entry.id, *(("--to", chosen.id) if to else ()))
    bind(digest, plan, entry.id, shown)
    again = (*shown, "--execute")
    switch = Switch(VERB, entry, manifest, runtime, _pinned(chosen, target, packages), target, again)
    if not execute:
        return switch.preview(digest, packages)
    return carry_out(switch, digest, store=store, packages=packages, processes=processes, clock=clock)


def _pinned(chosen: Revision, target: Launcher | LauncherNotFound, packages: Packages) -> dict[str, Any]:
    if not isinstance(target, Launcher):
        return chosen.raw
    return {**chosen.raw, **pins(target, chosen.manifest.id, packages)}


def _chosen(entry: Entry, to: str | None) -> Revision:
    """Return the revision to go back to.

    Raises Refused: `rollback_unavailable`, `revision_unknown`, `same_revision`.
    """
    show = ("extension", "show", entry.id)
    wanted = to or entry.rollback_revision
    if wanted is None:
        summary = f"extension `{entry.id}` has no previous revision to return to"
        raise refuse("rollback_unavailable", entry.id, summary, hint="see which are kept", next_command=show)
    found = next((one for one in entry.revisions if one.id == wanted), None)
    if found is None:
        summary = f"extension `{entry.id}` keeps no revision {one_line(wanted, 40)}"
        raise refuse("revision_unknown", entry.id, summary, hint="see which are kept", next_command=show)
    if found.id == entry.active.id:
        summary = f"revision {found.id} of `{entry.id}` is already active"
        raise refuse("same_revision", entry.id, summary, hint="see which others are kept", next_command=show)
    return found
