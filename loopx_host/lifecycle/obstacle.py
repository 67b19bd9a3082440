"""What the environment puts in the way of starting a provider: a preview says it, an executed verb refuses it."""

from __future__ import annotations

from loopx_host.lifecycle import prerequisites
from loopx_host.lifecycle.identity import Missing
from loopx_host.lifecycle.refusals import missing_entrypoint

TYPE_CHECKING = False
if TYPE_CHECKING:
    from loopx_host.core.errors import Refused
    from loopx_host.lifecycle.identity import Target
    from loopx_host.lifecycle.ports import Packages
    from loopx_host.registry.manifest import Runtime


def obstacle(
    extension_id: str,
    runtime: Runtime,
    target: Target | Missing,
    packages: Packages,
    again: tuple[str, ...],
    *,
    ask: bool,
) -> Refused | None:
    """Return `entrypoint_missing` or ``<name>_unavailable`` for a launch of `target`, or None when it can start.

    `ask` lets a prerequisite be started for its version; a preview starts nothing.
    """
    if isinstance(target, Missing) or packages.identify(target) is None:
        return missing_entrypoint(target, again)
    return prerequisites.missing(extension_id, runtime, packages, ask=ask)
