"""For every hostile rule a provider that breaks it and, as far as that can be, no other (row B7)."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import cast

import pytest

from loopx_host.authoring import rules_hostile
from loopx_host.authoring.conformance import GROUPS, RULES
from loopx_host.authoring.subject import Skip, Subject
from loopx_host.lifecycle.extensions.process import STDOUT, TIMEOUT, Ended
from tests.support.cli import Answer, Loopx

HOSTILE = [rule.__name__ for rule in GROUPS["hostile"]]
EXAMPLE = {"schema_version": "greeter_request_v0", "name": "world", "times": 1}
REQUEST_SCHEMA = {
    "type": "object",
    "additionalProperties": False,
    "required": ["schema_version", "name", "times"],
    "properties": {
        "schema_version": {"const": "greeter_request_v0"},
        "name": {"type": "string"},
        "times": {"type": "number"},
    },
}
# Honest, and strict about its request. A bad provider is this one with one line replaced.
HONEST = f"""\
#!{sys.executable} -IS
import json, os, signal, subprocess, sys, time

def unique(pairs):
    if len(dict(pairs)) != len(pairs):
        raise ValueError("a key stands twice")
    return dict(pairs)

def no_constant(name):
    raise ValueError(name)

def say(line=b"line\\n", stream=1):
    while True:
        os.write(stream, line * 1000)

def linger(output, **settings):
    quiet = subprocess.DEVNULL
    subprocess.Popen(["sleep", "50"], stdin=quiet, stdout=output, stderr=quiet, close_fds=True, **settings)

def append(path, text):
    try:
        with open(path, "a") as file:
            file.write(text)
    except OSError:
        pass  # the sandbox does not let it

def greet(request):
    if set(request) != {{"schema_version", "name", "times"}}:
        raise ValueError("fields")
    if not isinstance(request["name"], str):
        raise ValueError("name")
    if not isinstance(request["times"], (int, float)):
        raise ValueError("times")
    return {{"ok": True, "greeting": "hello " + str(request["name"])}}

pass  # at the start
if sys.argv[1:] == ["--doctor"]:
    pass  # in the doctor
    raise SystemExit(0)
data = sys.stdin.buffer.read()
pass  # with the request
try:
    request = json.loads(data, object_pairs_hook=unique, parse_constant=no_constant)
    if not isinstance(request, dict) or request.get("schema_version") != "greeter_request_v0":
        raise ValueError("schema_version")
    answer = greet(request)
except (ValueError, RecursionError) as error:
    answer = {{"ok": False, "error": str(error)}}
print(json.dumps(answer))
raise SystemExit(0 if answer["ok"] else 1)
"""
READ, DOCTOR, START = "pass  # with the request", "pass  # in the doctor", "pass  # at the start"
TYPE_OF_TIMES = 'if not isinstance(request["times"], (int, float))'
# What a bad provider does differently: the rule it breaks by that, what is replaced, and by what.
BAD = {
    "flood of lines": ("stdout_is_no_flood", READ, "len(data) > 900_000 and say()"),
    "flood of lines in the doctor": ("stdout_is_no_flood", DOCTOR, "say()"),
    "output without a line end": ("stdout_comes_to_an_end", READ, "len(data) > 900_000 and say(b'x')"),
    "flood of standard error": ("stderr_is_no_flood", READ, "len(data) > 900_000 and say(stream=2)"),
    "noise before the answer": ("nothing_around_the_answer", READ, "data == b'[]' and print('loading', flush=True)"),
    "noise after the answer": (
        "nothing_around_the_answer",
        "print(json.dumps(answer))",
        "print(json.dumps(answer) + ('done' if data == b'[]' else ''))",
    ),
    "two objects": ("nothing_around_the_answer", READ, "data == b'[]' and print('{\"log\": 1}', flush=True)"),
    "a value of any type": ("deep_request", TYPE_OF_TIMES, "if False"),
    "a crash far below": ("deep_request", READ, "b'[' * 1000 in data and os.kill(os.getpid(), signal.SIGSEGV)"),
    "NaN as a number": ("nan_request", "raise ValueError(name)", "return float(name)"),
    "the last of two keys": ("duplicate_key_request", "len(dict(pairs)) != len(pairs)", "False"),
    "the first of two keys": (
        "duplicate_key_request",
        'raise ValueError("a key stands twice")\n    return dict(pairs)',
        "return dict(reversed(pairs))\n    return dict(pairs)",
    ),
    "fields nobody knows": (
        "unknown_field_request",
        'if set(request) != {"schema_version", "name", "times"}',
        'if not {"schema_version", "name", "times"} <= set(request)',
    ),
    "deaf to TERM": ("ends_when_asked", START, "signal.signal(signal.SIGTERM, signal.SIG_IGN)"),
    "deaf to TERM while busy": (
        "ends_when_asked",
        READ,
        "len(data) > 900_000 and (signal.signal(signal.SIGTERM, signal.SIG_IGN), say())",
    ),
    "a daemon": (
        "refusals_leave_nothing_running",
        READ,
        "data == b'[]' and linger(subprocess.DEVNULL, start_new_session=True)",
    ),
    "a held pipe": ("nothing_holds_the_output", READ, "data[:2] == b'{\"' and b'world' in data and linger(None)"),
    "a held pipe of the doctor": ("nothing_holds_the_output", DOCTOR, "linger(None)"),
    "a doctor that writes": ("doctor_has_no_side_effects", DOCTOR, "append(os.environ['HOME'] + '/mark', 'x')"),
    "a doctor that changes itself": ("doctor_has_no_side_effects", DOCTOR, "append(sys.argv[0], '# again\\n')"),
}
# What nobody can do to one rule alone: the friendly rules that look at the same thing.
ALSO = {
    "flood of lines in the doctor": {"doctor_passes"},
    "deaf to TERM while busy": {"stdout_is_no_flood"},
    "a held pipe": {"run_leaves_nothing_running"},
    "a held pipe of the doctor": {"doctor_leaves_nothing_running"},
}


def write(loopx: Loopx, provider: str, *, schema: object = REQUEST_SCHEMA, example: object = EXAMPLE) -> Path:
    """Write a package with an example and, unless None, a request schema; return its folder."""
    keys = {} if schema is None else {"request_schema": "request.json"}
    folder = loopx.write_extension("greeter", provider, args=[], timeout_seconds=20, **keys).parent
    (folder / "request.json").write_text(json.dumps(schema))
    (folder / "examples").mkdir()
    (folder / "examples" / "request.json").write_text(json.dumps(example))
    return folder


def suite(loopx: Loopx, folder: Path, level: str = "limits") -> Answer:
    """Hold a provider to the rules; by default where the kernel does not keep it from showing what it is."""
    return loopx("extension", "conformance", str(folder), "--execute", env={"LOOPX_CONTAINMENT": level})


def statuses(answer: Answer) -> dict[str, str]:
    return {row["rule"]: row["status"] for row in answer.document["rules"]}


def failed(answer: Answer) -> set[str]:
    return {rule for rule, status in statuses(answer).items() if status == "failed"}


@pytest.fixture
def loopx(tmp_path: Path) -> Loopx:
    return Loopx(tmp_path)


@pytest.mark.req("B7")
def test_an_honest_and_strict_provider_passes_every_rule(loopx: Loopx) -> None:
    answer = suite(loopx, write(loopx, HONEST))

    assert statuses(answer) == {rule.__name__: "passed" for rule in RULES}, answer


def test_there_is_a_bad_provider_for_every_hostile_rule() -> None:
    assert {rule for rule, _, _ in BAD.values()} == set(HOSTILE)


@pytest.mark.req("B7")
@pytest.mark.parametrize("kind", BAD)
def test_a_bad_provider_fails_the_rule_it_breaks_and_no_other(kind: str, loopx: Loopx) -> None:
    rule, old, new = BAD[kind]
    assert HONEST.count(old) == 1

    answer = suite(loopx, write(loopx, HONEST.replace(old, new)))

    assert failed(answer) == {rule} | ALSO.get(kind, set()), answer
    assert answer.status == 1
    assert all(row["reason"] for row in answer.document["rules"] if row["status"] == "failed")


@pytest.mark.parametrize("kind", [None, "deaf to TERM", "a daemon", "a held pipe", "a doctor that writes"])
def test_the_rules_see_the_same_inside_the_sandbox(kind: str | None, loopx: Loopx) -> None:
    rule, old, new = BAD[kind] if kind else ("", "", "")

    answer = suite(loopx, write(loopx, HONEST.replace(old, new) if kind else HONEST), level="contained")

    if answer.status == 2 and answer.code == "containment_unavailable":
        pytest.skip("this kernel cannot contain a provider")
    assert failed(answer) == ({rule} | ALSO.get(str(kind), set()) if kind else set()), answer
    assert "skipped" not in statuses(answer).values()


@pytest.mark.req("B7")
def test_nan_is_looked_for_beside_the_known_fields_too(loopx: Loopx) -> None:
    careless = HONEST.replace("raise ValueError(name)", "return float(name)").replace(
        'if set(request) != {"schema_version", "name", "times"}', 'if type(request.get("times")) is not int'
    )

    answer = suite(loopx, write(loopx, careless, schema=None))

    assert failed(answer) == {"nan_request"}


@pytest.mark.parametrize("schema", [None, {**REQUEST_SCHEMA, "additionalProperties": True}], ids=["none", "open"])
def test_unknown_fields_are_skipped_where_no_schema_excludes_them(schema: object, loopx: Loopx) -> None:
    answer = suite(loopx, write(loopx, HONEST, schema=schema))

    assert answer.status == 0
    assert {rule for rule, status in statuses(answer).items() if status == "skipped"} == {"unknown_field_request"}


@pytest.mark.parametrize(
    "keyword", [{"unevaluatedProperties": False}, {"propertyNames": {"enum": list(EXAMPLE)}}], ids=str
)
def test_a_schema_may_exclude_unknown_fields_in_any_way(keyword: dict[str, object], loopx: Loopx) -> None:
    schema = {key: value for key, value in REQUEST_SCHEMA.items() if key != "additionalProperties"} | keyword
    _, old, new = BAD["fields nobody knows"]

    answer = suite(loopx, write(loopx, HONEST.replace(old, new), schema=schema))

    assert failed(answer) == {"unknown_field_request"}


def test_an_example_without_a_field_to_change_skips_the_rules_that_would_change_it(loopx: Loopx) -> None:
    folder = write(loopx, HONEST, schema=None, example={"schema_version": "greeter_request_v0"})

    answer = suite(loopx, folder)

    skipped = {rule for rule, status in statuses(answer).items() if status == "skipped"}
    assert skipped == {"deep_request", "nan_request", "duplicate_key_request", "unknown_field_request"}


def test_a_provider_that_does_not_wait_for_its_request_is_not_asked_to_end(loopx: Loopx) -> None:
    answer = suite(loopx, write(loopx, HONEST.replace("sys.stdin.buffer.read()", 'b""')))

    assert statuses(answer)["ends_when_asked"] == "skipped"


def test_the_suite_leaves_no_file_behind(loopx: Loopx) -> None:
    suite(loopx, write(loopx, HONEST))

    assert loopx.private_directories() == []
    assert list((loopx.root / "tmp").iterdir()) == []
    assert not loopx.state_file.exists()


class Told:
    """A subject whose runs end as the test says."""

    example = json.dumps(EXAMPLE).encode()

    def __init__(self, *, request: Ended | None = None, held: Ended | None = None) -> None:
        self._request = request or Ended(exit_code=1, containment={"left_running": 0, "survivors": 0})
        self._held = held or Ended(stopped_by=TIMEOUT, signal="SIGTERM")

    def probe(self) -> Ended:
        return Ended(exit_code=0)

    def run_example(self) -> Ended:
        return Ended(exit_code=0)

    def run(self, request: bytes) -> Ended:
        return self._request if request != self.example else Ended(exit_code=0)

    def run_below_shell(self, script: str, *, seconds: float, **which: object) -> Ended:
        assert script == (rules_hostile.PATIENT_READER if which else rules_hostile.ENDLESS_INPUT)
        assert seconds > 0
        return self._held


@pytest.mark.parametrize(
    "held",
    [
        Ended(stopped_by=TIMEOUT, signal="SIGKILL"),
        Ended(stopped_by=TIMEOUT, exit_code=0, containment={"killed": True}),
        Ended(stopped_by=TIMEOUT, signal="SIGKILL", containment={"killed": True}),
    ],
    ids=["by signal", "as told", "both"],
)
def test_a_provider_that_had_to_be_killed_did_not_end_when_asked(held: Ended) -> None:
    assert rules_hostile.ends_when_asked(cast("Subject", Told(held=held))) is not None


@pytest.mark.parametrize(
    "held",
    [
        Ended(stopped_by=TIMEOUT, signal="SIGTERM"),
        Ended(stopped_by=TIMEOUT, exit_code=143),
        Ended(stopped_by=TIMEOUT, exit_code=0, containment={"killed": False}),
    ],
    ids=["by signal", "with a status of its own", "as told"],
)
def test_a_provider_that_ended_within_the_grace_did(held: Ended) -> None:
    assert rules_hostile.ends_when_asked(cast("Subject", Told(held=held))) is None


def test_a_run_stopped_at_a_limit_counts_as_asked_too() -> None:
    flooding = Ended(stopped_by=STDOUT, signal="SIGKILL")

    assert rules_hostile.ends_when_asked(cast("Subject", Told(request=flooding))) is not None


def test_daemons_are_not_judged_where_they_cannot_be_counted() -> None:
    blind = Ended(exit_code=1, containment={"left_running": None, "survivors": None})

    with pytest.raises(Skip):
        rules_hostile.refusals_leave_nothing_running(cast("Subject", Told(request=blind)))


def test_a_provider_that_is_merely_slow_is_not_said_to_hold_its_output() -> None:
    slow = Ended(stopped_by=TIMEOUT, signal="SIGTERM")

    with pytest.raises(Skip):
        rules_hostile.nothing_holds_the_output(cast("Subject", Told(held=slow)))
