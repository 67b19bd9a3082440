"""One provider under test, and the bounded runs that the rules make of it."""

from __future__ import annotations

from loopx_host.authoring.host_request import environment_of
from loopx_host.lifecycle.dispatch.launch import CallGrants, run_launch
from loopx_host.lifecycle.extensions.launching import doctor_launch, keep_bytecode
from loopx_host.lifecycle.extensions.probe import changed_since
from loopx_host.lifecycle.extensions.process import Grants

TYPE_CHECKING = False
if TYPE_CHECKING:
    from loopx_host.authoring.ports import TemporaryHomes
    from loopx_host.documents.normal_form import SchemaFile
    from loopx_host.documents.parts import Violation
    from loopx_host.lifecycle.dispatch.ports import Judging
    from loopx_host.lifecycle.extensions.candidate import Program
    from loopx_host.lifecycle.extensions.ports import Packages, Processes
    from loopx_host.lifecycle.extensions.process import Ended, Launch
    from loopx_host.lifecycle.extensions.source import Source
    from loopx_host.registry.manifest import Runtime

    Rows = list[Violation]


class Skip(Exception):  # noqa: N818 (not an error: the rule has nothing to look at)
    """A rule that does not apply; the message says why."""


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
        temporary_homes: TemporaryHomes,
    ) -> None:
        self.source = source
        self.example = example
        self._program = program
        self._packages = packages
        self._processes = processes
        self._judging = judging
        self._temporary_homes = temporary_homes
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
        launch = self._doctor()
        with self._temporary_homes.make() as home:
            launch.env_set = {**launch.env_set, "HOME": home.path}
            launch.grants = Grants(
                launch.grants.reads,
                launch.grants.lists,
                permissions=["fs.write:home"],
                references={"home": home.path},
            )
            self._run(launch, keep=False)
            return home.names()

    def changed(self) -> list[str]:
        """Return which parts of the provider are not what they were before its first run."""
        return changed_since(self._program, self._packages)

    def request_violations(self, request: dict[str, object]) -> Rows:
        """Return how a request breaks the declared schema; empty without one."""
        return self._violations(self.runtime.form.get("request_schema"), request)

    def response_violations(self, result: dict[str, object]) -> Rows:
        """Return how a response breaks the declared schema; empty without one."""
        return self._violations(self.runtime.form.get("response_schema"), result)

    def _doctor(self) -> Launch:
        return doctor_launch(self._program, self._packages)

    def _launch(self, request: bytes) -> Launch:
        # A governed request is one only beside what its host says it was started for.
        grants = CallGrants(told=environment_of(request))
        return run_launch(self._program, self._packages, request=request, grants=grants)

    def _run(self, launch: Launch, *, keep: bool = True) -> Ended:
        """Run one launch; `keep` the byte code of an unchanged provider for the runs that follow, or drop it."""
        ended = self._processes.run(launch)
        proved = keep and not self.changed()
        keep_bytecode(launch, ended, self._program, self._packages, proved=proved)
        return ended

    def _violations(self, named: SchemaFile | None, instance: dict[str, object]) -> Rows:
        if named is None:
            return []
        from loopx_host.registry.schemas import Bundle

        bundle = Bundle.of(named, self.source.manifest.snapshot)
        rows = self._judging.violations(bundle, instance)
        return [{"pointer": "", "message": "could not be judged in time"}] if rows is None else rows
