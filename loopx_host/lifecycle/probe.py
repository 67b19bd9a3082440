"""Run a provider's own doctor once, bounded, and say whether it proves the runtime that is there."""

from __future__ import annotations

from loopx_host.core.text import stderr_tail
from loopx_host.lifecycle.identity import changes
from loopx_host.lifecycle.launch import Launch, Limits
from loopx_host.lifecycle.outcome import process_failure
from loopx_host.lifecycle.prerequisites import folders

TYPE_CHECKING = False
if TYPE_CHECKING:
    from loopx_host.lifecycle.identity import RuntimeIdentity, Target
    from loopx_host.lifecycle.launch import Ended
    from loopx_host.lifecycle.ports import Packages, Processes
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


def probe(target: Target, runtime: Runtime, packages: Packages, processes: Processes) -> Probe:
    """Identify, run the doctor, identify again: a doctor that changes its own files proves nothing."""
    before = packages.identify(target)
    if before is None:
        reason = f"{target.path} is not an executable file"
        return Probe(failure_kind="entrypoint_missing", reason=reason)
    ended = processes.run(probe_launch(target, runtime, before, packages))
    failure = process_failure(ended)
    if failure:
        return Probe(ended=ended, failure_kind=failure[0], reason=failure[1])
    after = packages.identify(target)
    changed = changes(before.groups, after.groups) if after else ["launcher"]
    if changed:
        reason = f"{', '.join(changed)} changed while the doctor ran"
        return Probe(ended=ended, failure_kind="changed_during_probe", reason=reason)
    packages.remember(before)
    return Probe(identity=before, ended=ended)


def probe_launch(target: Target, runtime: Runtime, identity: RuntimeIdentity, packages: Packages) -> Launch:
    """Return the launch of a probe: the doctor's arguments, nothing on standard input."""
    return Launch(
        target.argv(runtime.doctor_args),
        limits(runtime, runtime.doctor_timeout_seconds),
        env_names=runtime.env,
        env_set=environment(target, identity, packages),
        path_first=folders(runtime, packages),
    )


def limits(runtime: Runtime, timeout_seconds: float) -> Limits:
    """Return the bounds the manifest declares, for one run of `timeout_seconds`."""
    return Limits(timeout_seconds, open_files=runtime.open_files_limit, memory_mb=runtime.memory_limit_mb)


def environment(target: Target, identity: RuntimeIdentity, packages: Packages) -> dict[str, str]:
    """Return the variables the lifecycle sets: the byte-code cache, and UTF-8 for a module.

    The cache is the host's and keyed by identity, so that provider trees are neither written nor are
    byte-code files in them executed.
    """
    cache = packages.bytecode_cache(identity)
    made = {"PYTHONPYCACHEPREFIX": cache} if cache else {"PYTHONDONTWRITEBYTECODE": "1"}
    return made if target.module is None else {**made, "PYTHONUTF8": "1"}
