"""The launch of one request: the active arguments, the request as standard input, the grants of the run."""

from __future__ import annotations

from loopx_host.lifecycle.extensions.launching import process_launch

TYPE_CHECKING = False
if TYPE_CHECKING:
    from loopx_host.lifecycle.extensions.identity import Launcher, RuntimeIdentity
    from loopx_host.lifecycle.extensions.ports import Packages
    from loopx_host.lifecycle.extensions.process import Launch
    from loopx_host.registry.manifest import Runtime


def run_launch(
    target: Launcher,
    runtime: Runtime,
    identity: RuntimeIdentity,
    packages: Packages,
    *,
    request: bytes,
    seconds: float | None = None,
    permissions: list[str] | None = None,
    references: dict[str, str] | None = None,
) -> Launch:
    """Return the launch of one request; `seconds` only shortens the manifest's timeout.

    `permissions` are the tokens granted to this run, `references` the paths behind their names.
    """
    declared = float(runtime.timeout_seconds)
    return process_launch(
        target,
        runtime,
        identity,
        packages,
        args=runtime.args,
        seconds=declared if seconds is None else min(declared, seconds),
        stdin=request,
        permissions=permissions,
        references=references,
    )
