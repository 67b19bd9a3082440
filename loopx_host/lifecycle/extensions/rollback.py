"""`extension rollback`: return to a revision that was trusted before, once its doctor proved it again."""

from __future__ import annotations

from loopx_host.core.errors import refusal
from loopx_host.core.text import one_line
from loopx_host.lifecycle.extensions.candidate import Candidate
from loopx_host.lifecycle.extensions.differences import added_permissions
from loopx_host.lifecycle.extensions.identity import Launcher
from loopx_host.lifecycle.extensions.pins import pins
from loopx_host.lifecycle.extensions.plan import hold_to_plan, plan_digest
from loopx_host.lifecycle.extensions.preconditions import refuse_capability_clash, runtime_to_prove
from loopx_host.lifecycle.extensions.state import State
from loopx_host.lifecycle.extensions.switch import Switch, carry_out
from loopx_host.lifecycle.extensions.transitions import installed_entry

TYPE_CHECKING = False
if TYPE_CHECKING:
    from loopx_host.documents import state as shapes
    from loopx_host.documents.operation import Operation
    from loopx_host.lifecycle.extensions.identity import LauncherNotFound
    from loopx_host.lifecycle.extensions.ports import CanProve, Packages
    from loopx_host.lifecycle.extensions.requests import RollbackRequest
    from loopx_host.lifecycle.extensions.state import Entry, Revision

VERB = "rollback"


def rollback(request: RollbackRequest, ports: CanProve) -> Operation:
    """Roll one extension back to its previous revision, or to any kept one (contract section 5).

    It restores the trusted manifest and proves whatever code is installed now; `code_changed` in the receipt
    says whether that is what was proved for this revision before, `other_code` what would bring that back.
    Disabled stays disabled.
    """
    packages = ports.packages
    state = State.parse(ports.store.read(), ports.store.location)
    entry = installed_entry(state, request.extension_id, VERB)
    chosen = _chosen(entry, request.to)
    manifest = chosen.manifest
    refuse_capability_clash(manifest, state)
    candidate = Candidate.resolve(runtime_to_prove(manifest), chosen.folder, packages)
    added = added_permissions(entry.manifest, manifest)
    digest = plan_digest(VERB, entry.id, entry, to=manifest, candidate=candidate, permissions_added=added)
    preview_command = ("extension", VERB, entry.id, *(("--to", chosen.id) if request.to else ()))
    hold_to_plan(digest, request.plan, entry.id, preview_command)
    revision = _pinned(chosen, candidate.launcher, packages)
    retry_command = (*preview_command, "--execute")
    switch = Switch(VERB, entry, manifest, candidate, revision, retry_command, proved=chosen.raw)
    return carry_out(switch, digest, ports) if request.execute else switch.preview(digest, packages)


def _pinned(chosen: Revision, launcher: Launcher | LauncherNotFound, packages: Packages) -> shapes.Revision:
    if not isinstance(launcher, Launcher):
        return chosen.raw
    return {**chosen.raw, **pins(launcher, chosen.manifest.id, packages)}


def _chosen(entry: Entry, to: str | None) -> Revision:
    """Return the revision to go back to.

    Raises Refused: `rollback_unavailable`, `revision_unknown`, `same_revision`.
    """
    show = ("extension", "show", entry.id)
    wanted = to or entry.rollback_revision
    if wanted is None:
        summary = f"extension `{entry.id}` has no previous revision to return to"
        raise refusal("rollback_unavailable", entry.id, summary, hint="see which are kept", next_command=show)
    revision = next((kept for kept in entry.revisions if kept.id == wanted), None)
    if revision is None:
        summary = f"extension `{entry.id}` keeps no revision {one_line(wanted, 40)}"
        raise refusal("revision_unknown", entry.id, summary, hint="see which are kept", next_command=show)
    if revision.id == entry.active.id:
        summary = f"revision {revision.id} of `{entry.id}` is already active"
        raise refusal("same_revision", entry.id, summary, hint="see which others are kept", next_command=show)
    return revision
