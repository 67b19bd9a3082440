"""How a run counts, rule by rule (contract section 6): limits, then the end of the process, then its output."""

from __future__ import annotations

import pytest

from loopx_host.lifecycle.dispatch.outcome import outcome
from loopx_host.lifecycle.extensions.process import Ended

GOOD = b'{"ok": true}'


@pytest.mark.parametrize("output", [b'{"ok": true}', b'{"answer": 1}', b"{}", b'\n {"a": [1]} \n'])
def test_exit_0_with_an_object_whose_ok_is_absent_or_true_is_success(output: bytes) -> None:
    judged = outcome(Ended(exit_code=0, stdout=output))

    assert (judged.status, judged.failure_kind, judged.error) == ("succeeded", None, None)
    assert judged.result is not None


@pytest.mark.parametrize("ok", [b"false", b"1", b"1.0", b'"true"', b"null", b"[]", b"{}"])
def test_an_ok_that_is_not_exactly_true_is_a_reported_failure(ok: bytes) -> None:
    """run_provider_ok_false (case 77)."""
    judged = outcome(Ended(exit_code=0, stdout=b'{"ok": ' + ok + b"}"))

    assert (judged.status, judged.failure_kind) == ("provider_failed", "provider_reported_failure")
    assert judged.result is not None


BAD = {
    "nothing": b"",
    "white space": b" \n\t ",
    "an array": b"[]",
    "a scalar": b"1",
    "a string": b'"x"',
    "null": b"null",
    "two objects": b"{}\n{}",
    "text after it": b"{} done",
    "a log line first": b"starting\n{}",
    "not UTF-8": b'{"a": "\xff"}',
    "UTF-16": '{"a": 1}'.encode("utf-16"),
    "a byte order mark": b"\xef\xbb\xbf{}",
    "a duplicate key": b'{"ok": true, "ok": true}',
    "NaN": b'{"a": NaN}',
    "Infinity": b'{"a": -Infinity}',
    "overflow": b'{"a": 1e999}',
    "too deep": b'{"a":' * 65 + b"1" + b"}" * 65,
    "a lone surrogate": b'{"a": "\\ud800"}',
    "a long integer": b'{"a": ' + b"1" * 4301 + b"}",
}


@pytest.mark.parametrize("kind", BAD)
def test_output_that_is_not_one_strict_object_is_invalid(kind: str) -> None:
    """run_bad_output (case 80)."""
    judged = outcome(Ended(exit_code=0, stdout=BAD[kind]))

    assert (judged.status, judged.failure_kind) == ("invalid_provider_output", "response_not_json_object")
    assert judged.result is None


FAILED: dict[str, tuple[Ended, str]] = {
    "timeout": (Ended(signal="SIGTERM", stopped_by="timeout", stdout=GOOD), "timeout"),
    "standard output over its limit": (
        Ended(exit_code=0, stopped_by="response_too_large", stdout=GOOD),
        "response_too_large",
    ),
    "standard error over its limit": (
        Ended(exit_code=0, stopped_by="stderr_too_large", stdout=GOOD),
        "stderr_too_large",
    ),
    "a signal": (Ended(signal="SIGSEGV", stdout=GOOD), "signalled"),
    "a non-zero exit": (Ended(exit_code=3, stdout=GOOD), "exit_nonzero"),
    "no start": (Ended(start_error="Exec format error"), "start_failed"),
}


@pytest.mark.parametrize("way", FAILED)
def test_a_process_that_failed_counts_before_what_it_printed(way: str) -> None:
    """run_nonzero_exit, run_crash_no_json, run_timeout (cases 78, 79, 83)."""
    ended, kind = FAILED[way]

    judged = outcome(ended)

    assert (judged.status, judged.failure_kind) == ("provider_failed", kind)
    assert judged.error


@pytest.mark.parametrize("bound", ["timeout", "response_too_large", "stderr_too_large"])
def test_a_broken_bound_counts_before_the_exit_status_it_led_to(bound: str) -> None:
    judged = outcome(Ended(exit_code=9, stopped_by=bound, stdout=b"no object"))

    assert judged.failure_kind == bound


def test_a_failed_process_keeps_the_object_it_printed() -> None:
    judged = outcome(Ended(exit_code=3, stdout=b'{"ok": true, "partial": 1}'))

    assert judged.result == {"ok": True, "partial": 1}


def test_a_crash_without_an_object_is_a_failed_provider_and_not_invalid_output() -> None:
    judged = outcome(Ended(exit_code=1, stdout=b"", stderr=b"Traceback (most recent call last):"))

    assert (judged.status, judged.result) == ("provider_failed", None)


def test_what_is_shown_of_bad_output_holds_no_credential_and_no_control_character() -> None:
    judged = outcome(Ended(exit_code=0, stdout=b"\x1b[31mpassword=hunter2hunter2\n"))

    assert judged.error is not None
    assert "hunter2" not in judged.error
    assert judged.error.isprintable()


def test_a_process_that_ended_well_has_no_failure_whatever_it_printed() -> None:
    assert Ended(exit_code=0, stdout=b"anything", stderr=b"at all").failure is None


def test_bad_output_is_shown_by_its_beginning_and_none_is_not() -> None:
    shown, nothing = outcome(Ended(exit_code=0, stdout=b"log line")), outcome(Ended(exit_code=0))

    assert shown.error is not None
    assert shown.error.endswith("; it began: log line")
    assert nothing.error is not None
    assert "it began" not in nothing.error
