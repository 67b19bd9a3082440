"""The friendly rules: what an honest provider may get wrong, and the words in which every rule is judged."""

from __future__ import annotations

import json

from loopx_host.core.limits import REQUEST_BYTES
from loopx_host.core.strict_json import JsonViolation, parse_object
from loopx_host.core.text import excerpt
from loopx_host.lifecycle.dispatch.outcome import SUCCEEDED, outcome

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from loopx_host.authoring.subject import Subject
    from loopx_host.lifecycle.extensions.process import Ended

    Verdict = str | None  # what is wrong, as a clause, or None
    Rule = Callable[[Subject], Verdict]

NOT_JSON = b"\xff{not json"
EMPTY = b""
ARRAY = b"[]"
OTHER_VERSION = b'{"schema_version": "of_another_protocol_v0"}'
LARGE = json.dumps({"schema_version": "of_another_protocol_v0", "text": "x" * (REQUEST_BYTES - 200)}).encode()


def doctor_passes(subject: Subject) -> Verdict:
    """The doctor exits 0 within its timeout."""
    failure = subject.probe().failure
    return failure[1] if failure else None


def doctor_leaves_nothing_running(subject: Subject) -> Verdict:
    """No process the doctor started goes on after it."""
    return survivors(subject.probe())


def doctor_is_repeatable(subject: Subject) -> Verdict:
    """A second doctor comes to the same verdict as the first."""
    first, second = (subject.probe(turn).failure for turn in range(2))
    return None if (first is None) == (second is None) else "two doctors in a row disagree"


def example_succeeds(subject: Subject) -> Verdict:
    """The example is answered with one JSON object, `ok` absent or true, exit status 0."""
    judged = outcome(subject.run_example(), subject.response_violations)
    return None if judged.status == SUCCEEDED else judged.error


def example_is_answered_alike(subject: Subject) -> Verdict:
    """The example asked twice is answered with the same fields."""
    first, second = (outcome(subject.run_example(turn)).result for turn in range(2))
    if first is None or second is None:
        return "the example was not answered with a JSON object"
    return None if first.keys() == second.keys() else "two answers to the example have different fields"


def run_leaves_nothing_running(subject: Subject) -> Verdict:
    """No process a run started goes on after it."""
    return survivors(subject.run_example())


def bytes_that_are_not_json(subject: Subject) -> Verdict:
    """Bytes that are not JSON are answered with a failure, in time."""
    return fails_cleanly(subject.run(NOT_JSON))


def empty_request(subject: Subject) -> Verdict:
    """An empty standard input is answered with a failure, in time."""
    return fails_cleanly(subject.run(EMPTY))


def array_request(subject: Subject) -> Verdict:
    """A JSON array instead of an object is answered with a failure, in time."""
    return fails_cleanly(subject.run(ARRAY))


def unknown_schema_version(subject: Subject) -> Verdict:
    """A request of another schema version is answered with a failure, in time."""
    return fails_cleanly(subject.run(OTHER_VERSION))


def large_request(subject: Subject) -> Verdict:
    """A request of almost the limit is taken without a hang; what is answered is the provider's affair."""
    return "it ran into its timeout" if subject.run(LARGE).stopped_by == "timeout" else None


def failures_are_objects(subject: Subject) -> Verdict:
    """What is printed on a failure is nothing, or one JSON object that says why; never half of one."""
    ended = subject.run(OTHER_VERSION)
    if not ended.stdout.strip():
        return None
    try:
        parse_object(ended.stdout)
    except JsonViolation as violation:
        return f"standard output is not one JSON object: {violation}; it began: {excerpt(ended.stdout)}"
    return None


RULES: tuple[Rule, ...] = (
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


def fails_cleanly(ended: Ended) -> Verdict:
    """A failure is an exit status that is not 0, or `ok` false; a hang, a signal or a success is not."""
    if ended.start_error is not None or ended.stopped_by is not None or ended.signal is not None:
        return (ended.failure or ("", "it did not end by itself"))[1]
    if ended.exit_code != 0:
        return None
    judged = outcome(ended)
    return "it was answered as if it were a valid request" if judged.status == SUCCEEDED else None


def survivors(ended: Ended) -> Verdict:
    """Say whether anything went on when the provider had ended; that the sweep then ended it is no excuse."""
    if ended.start_error is not None:
        return f"it could not be started: {ended.start_error}"
    left_running = ended.containment.get("left_running")
    if left_running:
        return f"{left_running} of the processes it started were still running when it had ended"
    return None if ended.containment.get("survivors") in (0, None) else "a process it started could not be ended"
