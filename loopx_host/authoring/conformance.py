"""The conformance engine: one provider, every rule, one report.

Each rule is a few bounded runs through the same process port as any other, judged from the outside, so that a
provider in any language can be held to it. `rules_friendly` holds what an honest provider may get wrong,
`rules_hostile` what a hostile one or a hostile caller does.
"""

from __future__ import annotations

from loopx_host.authoring import rules_friendly, rules_hostile
from loopx_host.authoring.rules_friendly import Skip
from loopx_host.core.errors import Refused
from loopx_host.lifecycle.dispatch.launch import run_launch
from loopx_host.lifecycle.extensions.candidate import Candidate
from loopx_host.lifecycle.extensions.launching import doctor_launch, keep_bytecode
from loopx_host.lifecycle.extensions.preconditions import runtime_to_prove
from loopx_host.lifecycle.extensions.probe import changed_since
from loopx_host.lifecycle.extensions.process import Grants

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Protocol

    from loopx_host.authoring.ports import HasPackageSources
    from loopx_host.authoring.rules_friendly import Rule
    from loopx_host.documents.normal_form import SchemaFile
    from loopx_host.documents.parts import Violation
    from loopx_host.lifecycle.dispatch.ports import HasJudging, Judging
    from loopx_host.lifecycle.extensions.candidate import Program
    from loopx_host.lifecycle.extensions.ports import HasPackages, HasProcesses, Packages, Processes
    from loopx_host.lifecycle.extensions.process import Ended, Launch
    from loopx_host.lifecycle.extensions.source import Source
    from loopx_host.registry.manifest import Runtime

    Rows = list[Violation]

    class ConformancePorts(HasPackageSources, HasPackages, HasProcesses, HasJudging, Protocol):
        """What holding a provider to the rules needs."""


CONFORMANCE_SCHEMA = "loopx_extension_conformance_v0"
PASSED, FAILED, SKIPPED, NOT_RUN = "passed", "failed", "skipped", "not_run"
GROUPS: dict[str, tuple[Rule, ...]] = {"friendly": rules_friendly.RULES, "hostile": rules_hostile.RULES}
RULES: tuple[Rule, ...] = tuple(rule for rules in GROUPS.values() for rule in rules)


class Subject:
    """One provider under test, and the runs the rules make of it; the same run is made once."""

    def __init__(
        self,
        source: Source,
        program: Program,
        example: bytes | None,
        *,
        packages: Packages,
        processes: Processes,
        judging: Judging,
    ) -> None:
        self.source = source
        self.example = example
        self._program = program
        self._packages = packages
        self._processes = processes
        self._judging = judging
        self._probes: dict[int, Ended] = {}
        self._runs: dict[tuple[bytes, int], Ended] = {}

    @property
    def runtime(self) -> Runtime:
        """The runtime of the manifest."""
        return self._program.runtime

    def probe(self, turn: int = 0) -> Ended:
        """Return how the doctor ended; each `turn` is a run of its own."""
        if turn not in self._probes:
            self._probes[turn] = self._run(self._doctor())
        return self._probes[turn]

    def run(self, request: bytes, turn: int = 0) -> Ended:
        """Return how one request ended, whatever bytes it is; each `turn` is a run of its own."""
        if (request, turn) not in self._runs:
            self._runs[request, turn] = self._run(self._launch(request))
        return self._runs[request, turn]

    def run_example(self, turn: int = 0) -> Ended:
        """Return how the example request ended."""
        if self.example is None:
            raise Skip("there is no examples/request.json")
        return self.run(self.example, turn)

    def run_below_shell(self, script: str, *, seconds: float, request: bytes = b"", doctor: bool = False) -> Ended:
        """Run the provider as the ``"$@"`` of a shell script, stopped after `seconds`; once for every call."""
        launch = self._doctor() if doctor else self._launch(request)
        launch.argv = ["/bin/sh", "-c", script, "sh", *launch.argv]
        launch.limits.timeout_seconds = seconds
        return self._run(launch, keep=False)

    def probe_with_a_home(self) -> list[str]:
        """Run the doctor with an empty home directory it may write to; return what it wrote there, sorted."""
        import os
        from tempfile import TemporaryDirectory

        launch = self._doctor()
        with TemporaryDirectory(prefix="loopx-home-") as made:
            home = os.path.realpath(made)
            launch.env_set = {**launch.env_set, "HOME": home}
            launch.grants = Grants(
                launch.grants.reads,
                launch.grants.lists,
                permissions=["fs.write:home"],
                references={"home": home},
            )
            self._run(launch, keep=False)
            return sorted(os.listdir(home))

    def changed(self) -> list[str]:
        """Return which parts of the provider are not what they were before its first run."""
        return changed_since(self._program, self._packages)

    def request_violations(self, request: dict[str, Any]) -> Rows:
        """Return how a request breaks the declared schema; empty without one."""
        return self._violations(self.runtime.form.get("request_schema"), request)

    def response_violations(self, result: dict[str, Any]) -> Rows:
        """Return how a response breaks the declared schema; empty without one."""
        return self._violations(self.runtime.form.get("response_schema"), result)

    def _doctor(self) -> Launch:
        return doctor_launch(self._program, self._packages)

    def _launch(self, request: bytes) -> Launch:
        return run_launch(self._program, self._packages, request=request)

    def _run(self, launch: Launch, *, keep: bool = True) -> Ended:
        """Run one launch; `keep` the byte code of an unchanged provider for the runs that follow, or drop it."""
        ended = self._processes.run(launch)
        proved = keep and not self.changed()
        keep_bytecode(launch, ended, self._program, self._packages, proved=proved)
        return ended

    def _violations(self, named: SchemaFile | None, instance: dict[str, Any]) -> Rows:
        if named is None:
            return []
        from loopx_host.registry.schemas import Bundle

        bundle = Bundle.of(named, self.source.manifest.snapshot)
        rows = self._judging.violations(bundle, instance)
        return [{"pointer": "", "message": "could not be judged in time"}] if rows is None else rows


class ConformanceRequest:
    """Hold the provider of a manifest, or of the package in a folder, to every rule, or say which there are."""

    __slots__ = ("execute", "path")

    def __init__(self, path: str, *, execute: bool) -> None:
        self.path = path
        self.execute = execute


def hold_to_rules(request: ConformanceRequest, ports: ConformancePorts) -> dict[str, Any]:
    """Return the report of the suite; a preview starts nothing.

    Raises Refused: `doctor_not_configured`, `entrypoint_missing`, or that of a prerequisite.
    """
    source, example = ports.package_sources.package(request.path)
    if not request.execute:
        return preview(source)
    retry_command = ("extension", "conformance", source.path, "--execute")
    packages = ports.packages
    candidate = Candidate.resolve(runtime_to_prove(source.manifest), source.folder, packages)
    program = candidate.startable(source.manifest.id, packages, retry_command, may_start=True)
    if isinstance(program, Refused):
        raise program
    data = example[1] if example else None
    return conformance(
        Subject(source, program, data, packages=packages, processes=ports.processes, judging=ports.judging)
    )


def conformance(subject: Subject) -> dict[str, Any]:
    """Hold the subject to every rule and return the report; ``ok`` is false when one failed."""
    rows = [_row(group, rule, subject) for group, rules in GROUPS.items() for rule in rules]
    return _report(subject.source, rows, executed=True)


def preview(source: Source) -> dict[str, Any]:
    """Return the report of a suite that was not run: the rules it would hold the provider to."""
    rows = [_entry(group, rule, NOT_RUN, None) for group, rules in GROUPS.items() for rule in rules]
    return _report(source, rows, executed=False)


def promise(rule: Rule) -> str:
    """Return what a rule promises to whoever relies on the provider."""
    return (rule.__doc__ or "").strip()


def _row(group: str, rule: Rule, subject: Subject) -> dict[str, Any]:
    try:
        reason = rule(subject)
        status = PASSED if reason is None else FAILED
    except Skip as skip:
        status, reason = SKIPPED, str(skip)
    return _entry(group, rule, status, reason)


def _entry(group: str, rule: Rule, status: str, reason: str | None) -> dict[str, Any]:
    return {"rule": rule.__name__, "group": group, "promise": promise(rule), "status": status, "reason": reason}


def _report(source: Source, rows: list[dict[str, Any]], *, executed: bool) -> dict[str, Any]:
    manifest = source.manifest
    return {
        "ok": all(row["status"] != FAILED for row in rows),
        "schema_version": CONFORMANCE_SCHEMA,
        "extension_id": manifest.id,
        "version": manifest.version,
        "revision": manifest.revision,
        "executed": executed,
        "dry_run": not executed,
        "rules": rows,
    }
