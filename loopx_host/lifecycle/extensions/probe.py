"""Run a provider's own doctor once, bounded, and say whether it proves the runtime that is there."""

from __future__ import annotations

from loopx_host.core.text import stderr_tail
from loopx_host.lifecycle.extensions.identity import changes
from loopx_host.lifecycle.extensions.launching import doctor_launch, keep_bytecode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from loopx_host.documents.doctor import Doctor
    from loopx_host.lifecycle.extensions.candidate import Program
    from loopx_host.lifecycle.extensions.identity import RuntimeIdentity
    from loopx_host.lifecycle.extensions.ports import Packages, Processes
    from loopx_host.lifecycle.extensions.process import Ended


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

    def block(self, extension_id: str, version: str) -> Doctor:
        """Return the doctor document of this probe."""
        from loopx_host.documents import doctor  # a run looks for changes only, and does not pay for it

        ended = self.ended
        return doctor.probed(
            extension_id,
            version,
            identity=self.identity.digest if self.identity else None,
            failure_kind=self.failure_kind,
            reason=self.reason,
            exit_code=ended.exit_code if ended else None,
            signal=ended.signal if ended else None,
            stderr_tail=stderr_tail(ended.stderr) if ended else None,
            duration_ms=ended.duration_ms if ended else 0,
            containment=ended.containment if ended else None,
        )

    @property
    def verified(self) -> bool:
        """Whether the probe proves anything."""
        return self.failure_kind is None


def probe(program: Program, packages: Packages, processes: Processes) -> Probe:
    """Run the doctor, then look again: one that changes its own files proves nothing."""
    launch = doctor_launch(program, packages)
    ended = processes.run(launch)
    failure = ended.failure
    changed = [] if failure else changed_since(program, packages)
    keep_bytecode(launch, ended, program, packages, proved=not failure and not changed)
    if failure:
        return Probe(ended=ended, failure_kind=failure[0], reason=failure[1])
    if changed:
        reason = f"{', '.join(changed)} changed while the doctor ran"
        return Probe(ended=ended, failure_kind="changed_during_probe", reason=reason)
    packages.remember(program.identity)
    return Probe(identity=program.identity, ended=ended)


def changed_since(program: Program, packages: Packages) -> list[str]:
    """Return what is not as it was when the program was identified: groups, or what was written and put back.

    Empty means that what was hashed is what was executed in between, and that nothing came that could be imported.
    """
    if packages.is_as_taken(program.identity):
        return []
    touched = packages.touched(program.identity)
    now = packages.identify(program.launcher)
    return (changes(program.identity.groups, now.groups) if now else ["launcher"]) or touched
