"""The verb `upgrade`: trust another revision of an installed extension, once its doctor proved it."""

from __future__ import annotations

from loopx_host.core.errors import refuse
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

    from loopx_host.lifecycle.extensions.admission import Source
    from loopx_host.lifecycle.extensions.identity import LauncherNotFound
    from loopx_host.lifecycle.extensions.ports import Clock, Packages, Processes, StateStore
    from loopx_host.lifecycle.extensions.state import Entry

VERB = "upgrade"
ACCEPT = "--accept-permissions"


def upgrade(
    source: Source,
    *,
    store: StateStore,
    packages: Packages,
    processes: Processes,
    clock: Clock,
    core_capabilities: frozenset[str],
    execute: bool,
    plan: str | None,
    accept_permissions: bool,
) -> dict[str, Any]:
    """Upgrade one extension, or say what upgrading it would do (contract section 5).

    A disabled extension stays disabled; the same revision is refused unless its launcher moved, which is
    then only pinned anew. Raises Refused; after a failed probe the document says what is active and how usable.
    """
    manifest = source.manifest
    state = State.parse(store.read(), store.location)
    entry = present(state, manifest.id, VERB)
    refuse_capability_clash(manifest, state, core_capabilities)
    runtime = runtime_to_prove(manifest)
    target = packages.resolve(runtime, source.folder)
    _refuse_same(entry, source, target, packages)
    added = added_permissions(entry.manifest, manifest)
    if added and not accept_permissions:
        raise _permissions_grow(source, added)
    identity = identified(target, packages)
    digest = plan_digest(
        VERB, entry.id, entry, to=manifest, target=target, identity=identity, permissions_added=added
    )
    flags = (ACCEPT,) if added else ()
    bind(digest, plan, entry.id, source.preview(VERB, *flags))
    revision = _revision(source, target, packages, clock)
    again = source.command(VERB, *flags)
    switch = Switch(VERB, entry, manifest, runtime, revision, target, again)
    if not execute:
        return {**switch.preview(digest, packages), **_kept(source, revision)}
    done = carry_out(switch, digest, store=store, packages=packages, processes=processes, clock=clock)
    return {**done, **_kept(source, revision)}


def _revision(
    source: Source, target: Launcher | LauncherNotFound, packages: Packages, clock: Clock
) -> dict[str, Any]:
    if not isinstance(target, Launcher):
        return {"revision": source.manifest.revision}
    return source.revision(target, packages, clock.now())


def _kept(source: Source, revision: dict[str, Any]) -> dict[str, Any]:
    return {
        "manifest_path": source.path,
        "warnings": source.warnings(revision.get("distribution")),
    }


def _is_pinned(entry: Entry, target: Launcher, packages: Packages) -> bool:
    """Whether the active revision is pinned to this launcher, and to what its package brings into the host now."""
    raw = entry.active.raw
    now = pins(target, entry.id, packages)
    return now["launcher"] == entry.active.launcher and all(
        now[key] == raw.get(key, []) for key in ("plugins", "commands")
    )


def _refuse_same(entry: Entry, source: Source, target: Launcher | LauncherNotFound, packages: Packages) -> None:
    same = source.manifest.revision == entry.active.id
    if same and (not isinstance(target, Launcher) or _is_pinned(entry, target, packages)):
        raise refuse(
            "same_revision",
            entry.id,
            f"revision {entry.active.id} of `{entry.id}` is already active",
            hint="a changed package under the same manifest is proved by the doctor",
            next_command=("extension", "doctor", entry.id, "--execute"),
        )


def _permissions_grow(source: Source, added: list[str]) -> Exception:
    return refuse(
        "permissions_grow",
        source.manifest.id,
        f"version {source.manifest.version} asks for more permissions: {', '.join(added)}",
        hint="accept them explicitly if that is intended",
        next_command=source.command(VERB, ACCEPT),
        permissions_added=added,
    )
