"""The hostile rules: what a careless or malicious provider does to its host, and what a hostile caller sends it.

Where several rules look at the same run, it is made once. Two rules start the provider below a shell of the
system, because what they ask cannot be seen otherwise: an input that never ends, and a reader that waits for the
end of the output.
"""

from __future__ import annotations

import json

from loopx_host.authoring.rules_friendly import (
    ARRAY,
    EMPTY,
    LARGE,
    NOT_JSON,
    OTHER_VERSION,
    fails_cleanly,
    survivors,
)
from loopx_host.authoring.subject import Skip
from loopx_host.core.limits import DEPTH
from loopx_host.core.strict_json import JsonViolation, parse_object
from loopx_host.core.text import excerpt
from loopx_host.lifecycle.extensions.process import STDERR, STDOUT, TIMEOUT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from loopx_host.authoring.rules_friendly import Rule, Verdict
    from loopx_host.authoring.subject import Subject
    from loopx_host.lifecycle.extensions.process import Ended

    Runs = list[tuple[str, Ended]]

UNKNOWN_FIELD = "not_in_the_schema"
# Opened for both, the input has a writer as long as the provider itself is there: it never comes to an end.
ENDLESS_INPUT = 'mkfifo "$TMPDIR/input" && exec "$@" <>"$TMPDIR/input"'
# The reader ends with the last writer; the mark tells that the provider itself is not among those it waits for.
ENDED_MARK = b"loopx: the provider has ended"
PATIENT_READER = f'( "$@"; echo "{ENDED_MARK.decode()}" >&2 ) | cat'
_CRASHING_DEPTH = 100_000
_MARK = "\0the value to replace\0"
_REQUESTS = {
    "bytes that are not JSON": NOT_JSON,
    "an empty request": EMPTY,
    "an array": ARRAY,
    "a request of another schema version": OTHER_VERSION,
    "a large request": LARGE,
}


def stdout_is_no_flood(subject: Subject) -> Verdict:
    """Nothing makes it write line after line to standard output, beyond the limit of one response."""
    flooded = [label for label, ended in _runs(subject) if ended.stopped_by == STDOUT and b"\n" in ended.stdout]
    return f"{flooded[0]} made it flood standard output" if flooded else None


def stdout_comes_to_an_end(subject: Subject) -> Verdict:
    """Nothing makes it write to standard output on and on without ever ending a line."""
    stopped = [(label, ended.stdout) for label, ended in _runs(subject) if ended.stopped_by in (STDOUT, TIMEOUT)]
    endless = [label for label, stdout in stopped if stdout and b"\n" not in stdout]
    return f"{endless[0]} made it write without a line end until it was stopped" if endless else None


def stderr_is_no_flood(subject: Subject) -> Verdict:
    """Nothing makes it write more to standard error than the limit."""
    flooded = [label for label, ended in _runs(subject) if ended.stopped_by == STDERR]
    return f"{flooded[0]} made it flood standard error" if flooded else None


def nothing_around_the_answer(subject: Subject) -> Verdict:
    """An answer stands alone on standard output, whether it is a result or a failure."""
    for label, ended in _answers(subject):
        if _has_noise(ended.stdout):
            return f"{label} was answered with more than one JSON object; it began: {excerpt(ended.stdout)}"
    return None


def deep_request(subject: Subject) -> Verdict:
    """A value nested too deep is answered with a failure, not with a result and not with a crash."""
    example = _example(subject)
    for depth in (DEPTH, _CRASHING_DEPTH):  # the request itself is one level more
        request = _replaced(example | {_field(example): _MARK}, "[" * depth + "]" * depth)
        wrong = fails_cleanly(subject.run(request))
        if wrong:
            return f"a value {depth} levels deep: {wrong}"
    return None


def nan_request(subject: Subject) -> Verdict:
    """A request with NaN in it is not JSON and is answered with a failure."""
    example = _example(subject)
    instead = _with_mark_for_number(example) or example | {_field(example): _MARK}
    for request in (instead, example | {UNKNOWN_FIELD: _MARK}):
        wrong = fails_cleanly(subject.run(_replaced(request, "NaN")))
        if wrong:
            return f"NaN: {wrong}"
    return None


def duplicate_key_request(subject: Subject) -> Verdict:
    """A request with the same key twice is answered with a failure, whichever of the two is the good one."""
    example = _example(subject)
    good, bad = json.dumps(example)[1:-1], f"{json.dumps(_field(example))}: null"
    for members in ((bad, good), (good, bad)):
        wrong = fails_cleanly(subject.run(f"{{{', '.join(members)}}}".encode()))
        if wrong:
            return f"`{_field(example)}` twice: {wrong}"
    return None


def unknown_field_request(subject: Subject) -> Verdict:
    """A field that the request schema excludes is answered with a failure."""
    example = _example(subject)
    request = example | {UNKNOWN_FIELD: True}
    if subject.request_violations(example):
        raise Skip("the example breaks the request schema")
    if not subject.request_violations(request):
        raise Skip("no request schema excludes unknown fields")
    return fails_cleanly(subject.run(json.dumps(request).encode()))


def ends_when_asked(subject: Subject) -> Verdict:
    """Asked to end by TERM, it ends within the second of grace; it need not be killed."""
    killed = [label for label, ended in _runs(subject) if ended.stopped_by is not None and _was_killed(ended)]
    if killed:
        return f"{killed[0]} had to be stopped, and it did not end when asked to but had to be killed"
    held = subject.run_below_shell(ENDLESS_INPUT, seconds=min(4.0, 0.5 + 3 * _usual_seconds(subject)))
    if held.stopped_by != TIMEOUT:
        raise Skip("it does not wait for its request, so there was no time to ask it to end")
    return "it waited for its request, did not end when asked to, and had to be killed" if _was_killed(held) else None


def refusals_leave_nothing_running(subject: Subject) -> Verdict:
    """A request it refuses leaves no process behind either, not even a daemon in a session of its own."""
    runs = [(label, ended) for label, ended in _refusals(subject) if ended.stopped_by is None]
    if all(ended.containment.get("left_running") is None for _, ended in runs):
        raise Skip("processes in a session of their own cannot be counted on this platform")
    wrong = [f"{label}: {left}" for label, ended in runs if (left := survivors(ended))]
    return wrong[0] if wrong else None


def nothing_holds_the_output(subject: Subject) -> Verdict:
    """Nothing it starts keeps its standard output open after it has ended."""
    request = subject.example or OTHER_VERSION
    if subject.probe().stopped_by or subject.run(request).stopped_by:
        raise Skip("it does not end by itself")
    seconds = 2 + 4 * _usual_seconds(subject)
    runs = {
        "the doctor": subject.run_below_shell(PATIENT_READER, seconds=seconds, doctor=True),
        "a request": subject.run_below_shell(PATIENT_READER, seconds=seconds, request=request),
    }
    late = {label: ENDED_MARK in ended.stderr for label, ended in runs.items() if ended.stopped_by == TIMEOUT}
    held = [label for label, has_ended in late.items() if has_ended]
    if late and not held:
        raise Skip("it took much longer than before")
    return f"after {held[0]} a process it had started still held standard output" if held else None


def doctor_has_no_side_effects(subject: Subject) -> Verdict:
    """The doctor writes nothing into the home directory, and the provider's own files stay as they were."""
    written = subject.probe_with_a_home()
    if written:
        return f"the doctor wrote {', '.join(written[:3])} into the home directory"
    changed = subject.changed()
    return f"{', '.join(changed)} of the provider changed" if changed else None


RULES: tuple[Rule, ...] = (
    stdout_is_no_flood,
    stdout_comes_to_an_end,
    stderr_is_no_flood,
    nothing_around_the_answer,
    deep_request,
    nan_request,
    duplicate_key_request,
    unknown_field_request,
    ends_when_asked,
    refusals_leave_nothing_running,
    nothing_holds_the_output,
    doctor_has_no_side_effects,
)


def _runs(subject: Subject) -> Runs:
    """Return the doctor and every request the friendly rules send, each with its name."""
    return [("the doctor", subject.probe()), *_answers(subject)]


def _answers(subject: Subject) -> Runs:
    example = [] if subject.example is None else [("the example", subject.run_example())]
    return example + _refusals(subject)


def _refusals(subject: Subject) -> Runs:
    return [(label, subject.run(request)) for label, request in _REQUESTS.items()]


def _usual_seconds(subject: Subject) -> float:
    """Return how long this provider takes on this machine."""
    runs = [subject.probe(), subject.run(subject.example or OTHER_VERSION)]
    return max(ended.duration_ms for ended in runs) / 1000


def _was_killed(ended: Ended) -> bool:
    return bool(ended.containment.get("killed", ended.signal == "SIGKILL"))


def _has_noise(stdout: bytes) -> bool:
    """Whether there is a JSON object on standard output, and something else as well."""
    if _is_object(stdout):
        return False
    inner = stdout[stdout.find(b"{") : stdout.rfind(b"}") + 1]
    return any(_is_object(part) for part in (inner, *stdout.splitlines()))


def _is_object(data: bytes) -> bool:
    try:
        parse_object(data)
    except JsonViolation:
        return False
    return True


def _example(subject: Subject) -> dict[str, object]:
    """Return the example request, to be changed into a bad one."""
    if subject.example is None:
        raise Skip("there is no examples/request.json")
    try:
        return parse_object(subject.example)
    except JsonViolation:
        raise Skip("examples/request.json is not one JSON object") from None


def _field(example: dict[str, object]) -> str:
    """Return the field whose value is replaced: the last one that is not the version."""
    fields = [name for name in example if name != "schema_version"]
    if not fields:
        raise Skip("the example has no field that could be changed")
    return fields[-1]


def _with_mark_for_number(value: object) -> dict[str, object] | None:
    """Return a copy with the mark in place of the first number, or None when there is none."""
    found = False

    def copy(node: object) -> object:
        nonlocal found
        if isinstance(node, dict):
            return {name: copy(child) for name, child in node.items()}
        if isinstance(node, list):
            return [copy(child) for child in node]
        if found or isinstance(node, bool) or not isinstance(node, (int, float)):
            return node
        found = True
        return _MARK

    made = copy(value)
    return made if found and isinstance(made, dict) else None


def _replaced(request: dict[str, object], text: str) -> bytes:
    """Return the request as bytes with `text`, which need not be JSON, where the mark stands."""
    return json.dumps(request).replace(json.dumps(_MARK), text).encode()
