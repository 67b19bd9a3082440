"""The launch of one request: the active arguments, the request as standard input, the grants of the call."""

from __future__ import annotations

from loopx_host.lifecycle.extensions.launching import process_launch

TYPE_CHECKING = False
if TYPE_CHECKING:
    from loopx_host.lifecycle.extensions.candidate import Program
    from loopx_host.lifecycle.extensions.ports import Packages
    from loopx_host.lifecycle.extensions.process import Launch


class CallGrants:
    """What one call may do beyond running: `permissions` are tokens, `references` the absolute paths of their names.

    Without any, a call may do nothing beyond running. `told` are the variables by which a provider learns what it is
    started for, whatever the caller has under their names.
    """

    __slots__ = ("permissions", "references", "told")

    def __init__(
        self,
        permissions: list[str] | None = None,
        references: dict[str, str] | None = None,
        told: dict[str, str] | None = None,
    ) -> None:
        self.permissions = permissions or []
        self.references = references or {}
        self.told = told or {}


def run_launch(
    program: Program,
    packages: Packages,
    *,
    request: bytes,
    grants: CallGrants | None = None,
    seconds: float | None = None,
) -> Launch:
    """Return the launch of one request; `seconds` only shortens the manifest's timeout."""
    declared = float(program.runtime.timeout_seconds)
    granted = grants or CallGrants()
    launch = process_launch(
        program,
        args=program.runtime.args,
        cache=packages.bytecode_cache(program.bytecode_key),
        seconds=declared if seconds is None else max(0.0, min(declared, seconds)),
        stdin=request,
        permissions=granted.permissions,
        references=granted.references,
    )
    launch.env_set = {**launch.env_set, **granted.told}
    return launch
