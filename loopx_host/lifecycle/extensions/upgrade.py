"""`extension upgrade`: trust another revision of an installed extension, once its doctor proved it."""

from __future__ import annotations

from loopx_host.core.errors import refusal
from loopx_host.documents import operation
from loopx_host.lifecycle.extensions.candidate import Candidate
from loopx_host.lifecycle.extensions.differences import added_permissions
from loopx_host.lifecycle.extensions.identity import Launcher
from loopx_host.lifecycle.extensions.pins import pins
from loopx_host.lifecycle.extensions.plan import hold_to_plan, plan_digest
from loopx_host.lifecycle.extensions.preconditions import refuse_capability_clash, runtime_to_prove
from loopx_host.lifecycle.extensions.source import source_to_trust
from loopx_host.lifecycle.extensions.state import State
from loopx_host.lifecycle.extensions.switch import Switch, carry_out
from loopx_host.lifecycle.extensions.transitions import installed_entry

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Protocol

    from loopx_host.core.errors import Refused
    from loopx_host.documents import state as shapes
    from loopx_host.documents.operation import Operation
    from loopx_host.lifecycle.extensions.identity import LauncherNotFound
    from loopx_host.lifecycle.extensions.ports import CanProve, Packages
    from loopx_host.lifecycle.extensions.requests import TrustRequest
    from loopx_host.lifecycle.extensions.source import HasSources, Source
    from loopx_host.lifecycle.extensions.state import Entry

    class UpgradePorts(CanProve, HasSources, Protocol):
        """What upgrading by id or path needs."""


VERB = "upgrade"
ACCEPT = "--accept-permissions"


def upgrade(request: TrustRequest, ports: UpgradePorts) -> Operation:
    """Upgrade one extension, or say what upgrading it would do (contract section 5).

    A disabled extension stays disabled; the same revision is refused unless its launcher moved, which is
    then only pinned anew. Raises Refused; after a failed probe the document says what is active and how usable.
    """
    source = source_to_trust(VERB, request, ports)
    manifest, packages = source.manifest, ports.packages
    state = State.parse(ports.store.read(), ports.store.location)
    entry = installed_entry(state, manifest.id, VERB)
    refuse_capability_clash(manifest, state)
    candidate = Candidate.resolve(runtime_to_prove(manifest), source.folder, packages)
    _refuse_same(entry, source, candidate.launcher, packages)
    added = added_permissions(entry.manifest, manifest)
    if added and not request.accept_permissions:
        raise _permissions_grow(source, added)
    digest = plan_digest(VERB, entry.id, entry, to=manifest, candidate=candidate, permissions_added=added)
    flags = (ACCEPT,) if added else ()
    hold_to_plan(digest, request.plan, entry.id, source.preview(VERB, *flags))
    revision = _revision(source, candidate.launcher, packages, ports.clock.now())
    switch = Switch(VERB, entry, manifest, candidate, revision, source.command(VERB, *flags))
    receipt = carry_out(switch, digest, ports) if request.execute else switch.preview(digest, packages)
    warnings = source.warnings(revision.get("distribution"))
    return operation.with_source(receipt, manifest_path=source.path, warnings=warnings)


def _revision(source: Source, launcher: Launcher | LauncherNotFound, packages: Packages, at: str) -> shapes.Revision:
    """Return the revision as it would be kept; one without a launcher is only previewed, and pinned to nothing."""
    if not isinstance(launcher, Launcher):
        return source.unpinned(at)
    return source.revision(launcher, packages, at)


def _is_pinned(entry: Entry, launcher: Launcher, packages: Packages) -> bool:
    """Whether the active revision is pinned to this launcher, and to what its package brings into the host now.

    A search path counts by what is found on it.
    """
    raw, pin, runtime = entry.active.raw, entry.active.launcher, entry.manifest.runtime
    now = pins(launcher, entry.id, packages)
    if pin is None or runtime is None or now["launcher"] != pin:
        return False
    kept = packages.identify(Launcher.from_pin(pin, runtime, entry.active.search_path))
    found = packages.identify(launcher)
    return (kept and kept.digest, now["plugins"], now["commands"]) == (
        found and found.digest,
        raw.get("plugins", []),
        raw.get("commands", []),
    )


def _refuse_same(entry: Entry, source: Source, launcher: Launcher | LauncherNotFound, packages: Packages) -> None:
    same = source.manifest.revision == entry.active.id
    if same and (not isinstance(launcher, Launcher) or _is_pinned(entry, launcher, packages)):
        raise refusal(
            "same_revision",
            entry.id,
            f"revision {entry.active.id} of `{entry.id}` is already active",
            hint="a changed package under the same manifest is proved by the doctor",
            next_command=("extension", "doctor", entry.id, "--execute"),
        )


def _permissions_grow(source: Source, added: list[str]) -> Refused:
    return refusal(
        "permissions_grow",
        source.manifest.id,
        f"version {source.manifest.version} asks for more permissions: {', '.join(added)}",
        hint="accept them explicitly if that is intended",
        next_command=source.command(VERB, ACCEPT),
        permissions_added=added,
    )
