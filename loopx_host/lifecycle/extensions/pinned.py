"""The launcher an entry is pinned to; one that a v0 tool wrote has no pin yet and gets one when it is proved."""

from __future__ import annotations

from loopx_host.lifecycle.extensions.identity import Launcher

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from loopx_host.lifecycle.extensions.identity import LauncherNotFound, RuntimeIdentity
    from loopx_host.lifecycle.extensions.ports import Packages
    from loopx_host.lifecycle.extensions.state import Entry


def pinned(entry: Entry, packages: Packages) -> Launcher | LauncherNotFound:
    """Return the pinned launcher of the active revision, or resolve it where there is no pin."""
    pin, runtime = entry.active.launcher, entry.manifest.runtime
    if runtime is None:
        raise ValueError(f"{entry.id} declares no runtime")
    return Launcher.from_pin(pin, runtime) if pin else packages.resolve(runtime, entry.active.folder)


def identified(target: Launcher | LauncherNotFound, packages: Packages) -> RuntimeIdentity | None:
    """Return the identity of a launcher, or None when there is none to identify."""
    return packages.identify(target) if isinstance(target, Launcher) else None


def with_pin(entry: Entry, target: Launcher) -> dict[str, Any]:
    """Return the entry with its active revision pinned to `target`, unless it is pinned already."""
    if entry.active.launcher is not None:
        return entry.raw
    revisions = [
        {**one.raw, "launcher": target.pin()} if one.id == entry.active.id else one.raw for one in entry.revisions
    ]
    return {**entry.raw, "revisions": revisions}
