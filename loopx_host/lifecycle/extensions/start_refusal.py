"""What the environment puts in the way of starting a provider: a preview says it, an executed verb refuses it."""

from __future__ import annotations

from loopx_host.lifecycle.extensions import prerequisites
from loopx_host.lifecycle.extensions.identity import LauncherNotFound
from loopx_host.lifecycle.extensions.refusals import missing_entrypoint

TYPE_CHECKING = False
if TYPE_CHECKING:
    from loopx_host.core.errors import Refused
    from loopx_host.lifecycle.extensions.identity import Launcher
    from loopx_host.lifecycle.extensions.ports import Packages
    from loopx_host.registry.manifest import Runtime


def obstacle(
    extension_id: str,
    runtime: Runtime,
    target: Launcher | LauncherNotFound,
    packages: Packages,
    again: tuple[str, ...],
    *,
    ask: bool,
) -> Refused | None:
    """Return `entrypoint_missing` or ``<name>_unavailable`` for a launch of `target`, or None when it can start.

    `ask` lets a prerequisite be started for its version; a preview starts nothing.
    """
    if isinstance(target, LauncherNotFound) or packages.identify(target) is None:
        return missing_entrypoint(target, again)
    return prerequisites.missing(extension_id, runtime, packages, ask=ask)
