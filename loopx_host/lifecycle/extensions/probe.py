"""Run a provider's own doctor once, bounded, and say whether it proves the runtime that is there."""

from __future__ import annotations

from loopx_host.core.text import stderr_tail
from loopx_host.lifecycle.extensions.identity import changes
from loopx_host.lifecycle.extensions.launching import doctor_launch, keep_bytecode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from loopx_host.lifecycle.extensions.identity import Launcher, RuntimeIdentity
    from loopx_host.lifecycle.extensions.ports import Packages, Processes
    from loopx_host.lifecycle.extensions.process import Ended
    from loopx_host.registry.manifest import Runtime


class Probe:
    """One executed doctor: `identity` is what it proved, or None with `failure_kind` and `reason`."""

    __slots__ = ("ended", "failure_kind", "identity", "reason")

    def __init__(
        self,
        *,
        identity: RuntimeIdentity | None = None,
        ended: Ended | None = None,
        failure_kind: str | None = None,
        reason: str | None = None,
    ) -> None:
        self.identity = identity
        self.ended = ended
        self.failure_kind = failure_kind
        self.reason = reason

    @property
    def verified(self) -> bool:
        """Whether the probe proves anything."""
        return self.failure_kind is None

    @property
    def tail(self) -> str | None:
        """The cleaned end of the doctor's standard error."""
        return stderr_tail(self.ended.stderr) if self.ended else None


def probe(target: Launcher, runtime: Runtime, packages: Packages, processes: Processes) -> Probe:
    """Identify, run the doctor, identify again: a doctor that changes its own files proves nothing."""
    before = packages.identify(target)
    if before is None:
        reason = f"{target.path} is not an executable file"
        return Probe(failure_kind="entrypoint_missing", reason=reason)
    launch = doctor_launch(target, runtime, before, packages)
    ended = processes.run(launch)
    failure = ended.failure
    changed = [] if failure else changed_since(before, target, packages)
    keep_bytecode(launch, ended, before, packages, proved=not failure and not changed)
    if failure:
        return Probe(ended=ended, failure_kind=failure[0], reason=failure[1])
    if changed:
        reason = f"{', '.join(changed)} changed while the doctor ran"
        return Probe(ended=ended, failure_kind="changed_during_probe", reason=reason)
    packages.remember(before)
    return Probe(identity=before, ended=ended)


def changed_since(identity: RuntimeIdentity, target: Launcher, packages: Packages) -> list[str]:
    """Return what is not as it was when `identity` was taken: groups, or files that were written and put back.

    Empty means that what was hashed is what was executed in between.
    """
    touched = packages.touched(identity)
    if not touched:
        return []
    now = packages.identify(target)
    return (changes(identity.groups, now.groups) if now else ["launcher"]) or touched
