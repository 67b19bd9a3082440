"""The process port: one bounded provider process, and the end of all it started on every way out."""

from __future__ import annotations

import os

from loopx_host.lifecycle.extensions.process import Ended

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from loopx_host.adapters.process.confinement import Level
    from loopx_host.adapters.process.interrupts import Interrupts
    from loopx_host.adapters.process.run_spec import NotReached, RunSpec
    from loopx_host.adapters.process.warm import WarmSupervisor, WarmSupervisors
    from loopx_host.core.errors import Refused
    from loopx_host.lifecycle.extensions.process import Launch


class ProcessRunner:
    """Runs providers under supervision, on the rung that `level` asks for; else `contained`, as far as it goes.

    A process that serves one command only forks its supervisors. An embedding program, which has threads and
    children of its own, gives `warm`: they are forked by a helper process then. `waiting` is called with the
    seconds so far, about once a second, while a provider takes longer than two. `before_start` is called before each
    run and refuses, by raising, to start anything.
    """

    def __init__(
        self,
        interrupts: Interrupts,
        *,
        warm: WarmSupervisors | None = None,
        waiting: Callable[[float], None] | None = None,
        level: Level | None = None,
        before_start: Callable[[], None] | None = None,
    ) -> None:
        self._before_start = before_start
        self._interrupts = interrupts
        self._warm = warm
        self._waiting = waiting
        self._level = level

    def run(self, launch: Launch) -> Ended:
        """Run one launch (see the port). A signal meanwhile is raised when everything has ended.

        Raises Refused `containment_unavailable` when the demanded level cannot be reached, and `no_processes` when
        processes, descriptors or memory ran out, `kernel_refused` when a filter takes a call away that runs need.
        """
        if self._before_start is not None:
            self._before_start()
        from loopx_host.adapters.process.confinement import default_level
        from loopx_host.adapters.process.environment import provider_environment
        from loopx_host.adapters.process.run_spec import RunSpec

        level = self._level or default_level()
        environment = provider_environment(os.environ, launch.env_names, launch.env_set, launch.search_path)
        spec = RunSpec.of(launch, environment, level)
        with self._interrupts:
            outcome = self._supervised(spec)
        if not isinstance(outcome, Ended):
            raise _unavailable(level.rung, outcome)
        if outcome.lacks is not None:
            raise _lacking(*outcome.lacks)
        return outcome

    def _supervised(self, spec: RunSpec) -> Ended | NotReached:
        from loopx_host.adapters.process.supervisor import ForkedSupervisor, Report, not_run

        supervisor: ForkedSupervisor | WarmSupervisor
        try:
            supervisor = ForkedSupervisor(spec) if self._warm is None else self._warm.begin(spec)
        except OSError as error:
            return not_run(error)
        reporting = Report(
            supervisor.reporting,
            interrupts=self._interrupts.descriptor,
            stop=supervisor.stop,
            waiting=self._waiting,
        )
        report = None
        try:
            report = reporting.read(spec.limits.timeout_seconds)
        finally:
            outcome = supervisor.finish(report)
        return outcome


_HINTS = {
    "no_processes": "raise the limits on processes, files and memory (`ulimit -a`), or wait, then repeat the command",
    "kernel_refused": "run loopx where its filter, that of a container perhaps, lets this call through",
}


def _lacking(code: str, why: str) -> Refused:
    from loopx_host.core.errors import refusal

    return refusal(code, "loopx", f"{why}; whatever was started has ended", hint=_HINTS[code])


def _unavailable(rung: str, reached: NotReached) -> Refused:
    from loopx_host.core.errors import refusal

    return refusal(
        "containment_unavailable",
        rung,
        f"containment `{rung}` cannot be enforced here ({reached['missing']}); nothing was started",
        hint="see which level this machine reaches",
        next_command=("doctor",),
        containment={"rung": reached["rung"], "limits": reached["limits"]},
    )
