"""The conformance engine: friendly rules that a provider in any language can be held to.

Each rule is one bounded run through the same process port as any other, judged from the outside. The rules
here are what an honest provider may get wrong; hostile behaviour has rules of its own in a later release.
"""

from __future__ import annotations

import json

from loopx_host.core.limits import REQUEST_BYTES
from loopx_host.core.strict_json import JsonViolation, parse_object
from loopx_host.core.text import excerpt
from loopx_host.lifecycle.admission import runtime_to_prove
from loopx_host.lifecycle.identity import Missing
from loopx_host.lifecycle.launch import Launch
from loopx_host.lifecycle.obstacle import obstacle
from loopx_host.lifecycle.outcome import SUCCEEDED, outcome, process_failure
from loopx_host.lifecycle.pinned import identified
from loopx_host.lifecycle.prerequisites import folders
from loopx_host.lifecycle.probe import environment, limits, probe_launch
from loopx_host.lifecycle.refusals import missing_entrypoint

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from loopx_host.lifecycle.admission import Source
    from loopx_host.lifecycle.identity import RuntimeIdentity, Target
    from loopx_host.lifecycle.launch import Ended
    from loopx_host.lifecycle.ports import Judging, Packages, Processes
    from loopx_host.registry.manifest import Runtime

    Verdict = str | None  # what is wrong, as a clause, or None

CONFORMANCE_SCHEMA = "loopx_extension_conformance_v0"
PASSED, FAILED, SKIPPED = "passed", "failed", "skipped"
_LARGE_TEXT = "x" * (REQUEST_BYTES - 200)


class Skip(Exception):  # noqa: N818 (not an error: the rule has nothing to look at)
    """A rule that does not apply; the message says why."""


class Subject:
    """One provider under test, and the runs the rules make of it."""

    def __init__(
        self,
        source: Source,
        target: Target,
        identity: RuntimeIdentity,
        example: bytes | None,
        *,
        packages: Packages,
        processes: Processes,
        judging: Judging,
    ) -> None:
        self.source = source
        self.example = example
        self._target = target
        self._identity = identity
        self._packages = packages
        self._processes = processes
        self._judging = judging

    @property
    def runtime(self) -> Runtime:
        """The runtime of the manifest; a subject has one."""
        runtime = self.source.manifest.runtime
        if runtime is None:
            raise Skip("the manifest declares no runtime")
        return runtime

    def probe(self) -> Ended:
        """Run the doctor once."""
        return self._processes.run(probe_launch(self._target, self.runtime, self._identity, self._packages))

    def run(self, request: bytes) -> Ended:
        """Run one request, whatever bytes it is."""
        runtime = self.runtime
        launch = Launch(
            self._target.argv(runtime.args),
            limits(runtime, runtime.timeout_seconds),
            env_names=runtime.env,
            env_set=environment(self._target, self._identity, self._packages),
            path_first=folders(runtime, self._packages),
            stdin=request,
        )
        return self._processes.run(launch)

    def run_example(self) -> Ended:
        """Run the example request."""
        if self.example is None:
            raise Skip("there is no examples/request.json")
        return self.run(self.example)

    def response_violations(self, result: dict[str, Any]) -> list[dict[str, str]]:
        """Return how a response breaks the declared schema; empty without one."""
        named = self.runtime.form.get("response_schema")
        if named is None:
            return []
        from loopx_host.registry.schemas import Bundle

        bundle = Bundle.of(named, self.source.manifest.snapshot)
        rows = self._judging.violations(bundle, result)
        return [{"pointer": "", "message": "could not be judged in time"}] if rows is None else rows

    def report(self) -> dict[str, Any]:
        """Hold this subject to every rule."""
        return conformance(self)


def subject_of(
    source: Source,
    example: tuple[str, bytes] | None,
    *,
    packages: Packages,
    processes: Processes,
    judging: Judging,
    again: tuple[str, ...],
) -> Subject:
    """Return the subject of a package.

    Raises Refused: `doctor_not_configured`, `entrypoint_missing`, or that of a prerequisite.
    """
    runtime = runtime_to_prove(source.manifest)
    target = packages.resolve(runtime, source.folder)
    refused = obstacle(source.manifest.id, runtime, target, packages, again, ask=True)
    identity = identified(target, packages)
    if refused is not None or isinstance(target, Missing) or identity is None:
        raise refused or missing_entrypoint(target, again)
    data = example[1] if example else None
    return Subject(source, target, identity, data, packages=packages, processes=processes, judging=judging)


def doctor_passes(subject: Subject) -> Verdict:
    """The doctor exits 0 within its timeout."""
    failure = process_failure(subject.probe())
    return failure[1] if failure else None


def doctor_leaves_nothing_running(subject: Subject) -> Verdict:
    """No process the doctor started goes on after it."""
    return _survivors(subject.probe())


def doctor_is_repeatable(subject: Subject) -> Verdict:
    """A second doctor comes to the same verdict as the first."""
    first, second = (process_failure(subject.probe()) for _ in range(2))
    return None if (first is None) == (second is None) else "two doctors in a row disagree"


def example_succeeds(subject: Subject) -> Verdict:
    """The example is answered with one JSON object, `ok` absent or true, exit status 0."""
    judged = outcome(subject.run_example(), subject.response_violations)
    return None if judged.status == SUCCEEDED else judged.error


def example_is_answered_alike(subject: Subject) -> Verdict:
    """The example asked twice is answered with the same fields."""
    first, second = (outcome(subject.run_example()).result for _ in range(2))
    if first is None or second is None:
        return "the example was not answered with a JSON object"
    return None if first.keys() == second.keys() else "two answers to the example have different fields"


def run_leaves_nothing_running(subject: Subject) -> Verdict:
    """No process a run started goes on after it."""
    return _survivors(subject.run_example())


def bytes_that_are_not_json(subject: Subject) -> Verdict:
    """Bytes that are not JSON are answered with a failure, in time."""
    return _fails_cleanly(subject.run(b"\xff{not json"))


def empty_request(subject: Subject) -> Verdict:
    """An empty standard input is answered with a failure, in time."""
    return _fails_cleanly(subject.run(b""))


def array_request(subject: Subject) -> Verdict:
    """A JSON array instead of an object is answered with a failure, in time."""
    return _fails_cleanly(subject.run(b"[]"))


def unknown_schema_version(subject: Subject) -> Verdict:
    """A request of another schema version is answered with a failure, in time."""
    return _fails_cleanly(subject.run(b'{"schema_version": "of_another_protocol_v0"}'))


def large_request(subject: Subject) -> Verdict:
    """A request of almost the limit is taken without a hang; what is answered is the provider's affair."""
    ended = subject.run(json.dumps({"schema_version": "of_another_protocol_v0", "text": _LARGE_TEXT}).encode())
    return "it ran into its timeout" if ended.stopped_by == "timeout" else None


def failures_are_objects(subject: Subject) -> Verdict:
    """What is printed on a failure is nothing, or one JSON object that says why; never half of one."""
    ended = subject.run(b'{"schema_version": "of_another_protocol_v0"}')
    if not ended.stdout.strip():
        return None
    try:
        parse_object(ended.stdout)
    except JsonViolation as violation:
        return f"standard output is not one JSON object: {violation}; it began: {excerpt(ended.stdout)}"
    return None


RULES: tuple[Callable[[Subject], Verdict], ...] = (
    doctor_passes,
    doctor_leaves_nothing_running,
    doctor_is_repeatable,
    example_succeeds,
    example_is_answered_alike,
    run_leaves_nothing_running,
    bytes_that_are_not_json,
    empty_request,
    array_request,
    unknown_schema_version,
    large_request,
    failures_are_objects,
)


def conformance(subject: Subject) -> dict[str, Any]:
    """Hold the subject to every rule and return the report; ``ok`` is false when one failed."""
    rows = [_row(rule, subject) for rule in RULES]
    manifest = subject.source.manifest
    return {
        "ok": all(row["status"] != FAILED for row in rows),
        "schema_version": CONFORMANCE_SCHEMA,
        "extension_id": manifest.id,
        "version": manifest.version,
        "revision": manifest.revision,
        "executed": True,
        "dry_run": False,
        "rules": rows,
    }


def preview(source: Source) -> dict[str, Any]:
    """Return the report of a suite that was not run: the rules it would hold the provider to."""
    return {
        "ok": True,
        "schema_version": CONFORMANCE_SCHEMA,
        "extension_id": source.manifest.id,
        "version": source.manifest.version,
        "revision": source.manifest.revision,
        "executed": False,
        "dry_run": True,
        "rules": [
            {"rule": rule.__name__, "promise": _promise(rule), "status": "not_run", "reason": None} for rule in RULES
        ],
    }


def _row(rule: Callable[[Subject], Verdict], subject: Subject) -> dict[str, Any]:
    try:
        reason = rule(subject)
        status = PASSED if reason is None else FAILED
    except Skip as skip:
        status, reason = SKIPPED, str(skip)
    return {"rule": rule.__name__, "promise": _promise(rule), "status": status, "reason": reason}


def _promise(rule: Callable[[Subject], Verdict]) -> str:
    return (rule.__doc__ or "").strip()


def _fails_cleanly(ended: Ended) -> Verdict:
    """A failure is an exit status that is not 0, or `ok` false; a hang, a signal or a success is not."""
    if ended.start_error is not None or ended.stopped_by is not None or ended.signal is not None:
        return (process_failure(ended) or ("", "it did not end by itself"))[1]
    if ended.exit_code != 0:
        return None
    judged = outcome(ended)
    return "it was answered as if it were a valid request" if judged.status == SUCCEEDED else None


def _survivors(ended: Ended) -> Verdict:
    """Say whether anything went on when the provider had ended; that the sweep then ended it is no excuse."""
    if ended.start_error is not None:
        return f"it could not be started: {ended.start_error}"
    left_running = ended.containment.get("left_running")
    if left_running:
        return f"{left_running} of the processes it started were still running when it had ended"
    return None if ended.containment.get("survivors") in (0, None) else "a process it started could not be ended"
