"""The provider's own promises, against its own schemas; nothing of loopx is needed."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib import resources

import jsonschema
import pytest
from loopx_text_stats.stats import REQUEST_SCHEMA, answer, count

SCHEMAS = resources.files("loopx_text_stats") / "schemas"
RESPONSE = json.loads((SCHEMAS / "response.schema.json").read_text(encoding="utf-8"))


def call(data: bytes, *args: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-m", "loopx_text_stats.cli", *args], input=data, capture_output=True, check=False
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a", (1, 1, 1, 1)),
        ("one two\nthree", (13, 11, 3, 2)),
        ("é\u00a0ü", (3, 2, 2, 1)),
        ("a\n\nb\n", (5, 2, 2, 3)),
    ],
)
def test_counts(text: str, expected: tuple[int, ...]) -> None:
    assert tuple(count(text).values()) == expected


@pytest.mark.parametrize(
    "request_",
    [
        [],
        {},
        {"schema_version": REQUEST_SCHEMA},
        {"schema_version": REQUEST_SCHEMA, "text": " \n"},
        {"schema_version": REQUEST_SCHEMA, "text": 1},
        {"schema_version": "other", "text": "a"},
        {"schema_version": REQUEST_SCHEMA, "text": "a", "more": 1},
    ],
)
def test_a_request_outside_the_protocol_is_answered_with_a_reason(request_: object) -> None:
    response = answer(request_)

    assert response["ok"] is False
    jsonschema.validate(response, RESPONSE)


def test_the_process_answers_one_request() -> None:
    request = json.dumps({"schema_version": REQUEST_SCHEMA, "text": "hello world"}).encode()

    ended = call(request)

    assert ended.returncode == 0
    response = json.loads(ended.stdout)
    jsonschema.validate(response, RESPONSE)
    assert response["result"]["words"] == 2


def test_bytes_that_are_not_json_are_answered_too() -> None:
    ended = call(b"\xff{")

    assert ended.returncode == 1
    jsonschema.validate(json.loads(ended.stdout), RESPONSE)


def test_the_doctor_passes() -> None:
    assert call(b"", "--doctor").returncode == 0
