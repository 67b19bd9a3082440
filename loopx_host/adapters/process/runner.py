"""The process port: one bounded provider process, and the end of all it started on every way out."""

from __future__ import annotations

import os
import signal

from loopx_host.lifecycle.extensions.process import Ended

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from loopx_host.adapters.process.confinement import Level
    from loopx_host.adapters.process.interrupts import Interrupts
    from loopx_host.adapters.process.run_spec import RunSpec
    from loopx_host.adapters.process.warm import WarmSupervisors
    from loopx_host.core.errors import Refused
    from loopx_host.lifecycle.extensions.process import Launch


class ProcessRunner:
    """Runs providers under supervision, on the rung that `level` asks for; else `contained`, as far as it goes.

    A process that serves one command only forks its supervisors. An embedding program, which has threads and
    children of its own, gives `warm`: they are forked by a helper process then. `waiting` is called with the
    seconds so far, about once a second, while a provider takes longer than two. `admit` is asked before each run
    and refuses, by raising, to start anything.
    """

    def __init__(
        self,
        interrupts: Interrupts,
        *,
        warm: WarmSupervisors | None = None,
        waiting: Callable[[float], None] | None = None,
        level: Level | None = None,
        admit: Callable[[], None] | None = None,
    ) -> None:
        self._admit = admit
        self._interrupts = interrupts
        self._warm = warm
        self._waiting = waiting
        self._level = level

    def run(self, launch: Launch) -> Ended:
        """Run one launch (see the port). A signal meanwhile is raised when everything has ended.

        Raises Refused `containment_unavailable` when the demanded level cannot be reached; nothing was started then.
        """
        if self._admit is not None:
            self._admit()
        from loopx_host.adapters.process.confinement import default_level
        from loopx_host.adapters.process.environment import provider_environment
        from loopx_host.adapters.process.run_spec import RunSpec

        level = self._level or default_level()
        environment = provider_environment(os.environ, launch.env_names, launch.env_set, launch.path_first)
        spec = RunSpec.of(launch, environment, level)
        with self._interrupts:
            said = self._supervised(spec)
        if isinstance(said, dict):
            raise _unavailable(level.rung, said)
        return said

    def _supervised(self, spec: RunSpec) -> Ended | dict[str, Any]:
        from loopx_host.adapters.process.supervisor import Report

        try:
            reporting, stop, finish = self._warm.begin(spec) if self._warm is not None else _forked(spec)
        except OSError as error:
            return Ended(start_error=f"no process to supervise it: {error.strerror or error}")
        report = Report(reporting, interrupts=self._interrupts.descriptor, stop=stop, waiting=self._waiting)
        said = None
        try:
            said = report.read(spec.limits.timeout_seconds)
        finally:
            left = finish(said is not None)
        return left if said is None else said


def _forked(spec: RunSpec) -> tuple[int, Callable[[], None], Callable[[bool], Ended]]:
    """Fork a supervisor; return its report's descriptor, how to stop it, and how to finish with it."""
    from loopx_host.adapters.process import descendants, private_directory, supervisor

    private_directory.sweep()
    subreaper = descendants.become_subreaper()
    before = descendants.snapshot() if subreaper else descendants.NOBODY
    pid, stopping, reporting = supervisor.fork(spec)
    open_ends = [stopping]

    def stop() -> None:
        while open_ends:
            os.close(open_ends.pop())

    def finish(reported: bool) -> Ended:
        """Take the supervisor's status; one that ended without a report is cleaned up after."""
        stop()
        os.close(reporting)
        if not reported:
            os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        return lost(*descendants.sweep(before)) if not reported else Ended()

    return reporting, stop, finish


def _unavailable(rung: str, said: dict[str, Any]) -> Refused:
    from loopx_host.core.errors import refusal

    return refusal(
        "containment_unavailable",
        rung,
        f"containment `{rung}` cannot be enforced here ({said['missing']}); nothing was started",
        hint="see which level this machine reaches",
        next_command=("doctor",),
        containment={"rung": said["rung"], "limits": said["limits"]},
    )


def lost(survivors: int | None, proof: str) -> Ended:
    """Return how a run ended whose supervisor was killed."""
    return Ended(
        start_error="the process that supervises it was killed",
        containment={"group": True, "survivors": survivors, "proof": proof},
    )
