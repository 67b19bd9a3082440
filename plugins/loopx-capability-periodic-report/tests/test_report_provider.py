"""The provider process: one request in, one answer out, and the manifest that names it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tomllib
from importlib import resources
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from loopx_periodic_report.canonical import encoded

from loopx_host import governed_environment, governed_request

Json = dict[str, object]

DATA = Path(str(resources.files("loopx_periodic_report")))
CAPABILITY, PROTOCOL = "periodic-report", "loopx_periodic_report_v0"
EXTENSION = "loopx-capability-periodic-report"
REPORT = {
    "schema_version": "loopx_periodic_report_v0",
    "title": "Über",
    "period": {"from": "2026-11-02", "to": "2026-11-08", "kind": "week"},
    "generated_at": "2026-11-09T06:00:00Z",
    "sections": [],
    "missing": [],
}


def run(data: bytes, *args: str) -> subprocess.CompletedProcess[bytes]:
    argv = [sys.executable, "-m", "loopx_periodic_report.cli", *args]
    environment = {**os.environ, **told(data)}
    return subprocess.run(argv, input=data, capture_output=True, check=False, timeout=60, env=environment)


def told(data: bytes) -> dict[str, str]:
    """The variables that the host sets for a request; none for bytes that it would not send."""
    try:
        return governed_environment(json.loads(data))
    except (ValueError, TypeError, KeyError, RecursionError):
        return {}


def answered(data: bytes) -> Any:
    ended = run(data)
    assert ended.returncode == 0, ended.stderr
    return json.loads(ended.stdout)


def asked(given: Json, operation: str = "render", extension_id: str = EXTENSION) -> Json:
    return dict(governed_request(extension_id, CAPABILITY, operation, given, protocol=PROTOCOL))


@pytest.mark.parametrize("form", ["html", "json"])
def test_the_process_renders_and_follows_its_result_schema(form: str) -> None:
    operation = json.loads((DATA / "profile.json").read_text(encoding="utf-8"))["operations"][0]
    given: Json = {"report": REPORT, "format": form}
    jsonschema.Draft202012Validator(operation["request_schema"]).validate(given)

    made = answered(encoded(asked(given)))

    jsonschema.Draft202012Validator(operation["result_schema"]).validate(made)
    assert made["observations"][0]["format"] == form


def test_the_invocation_is_the_one_that_was_asked_for() -> None:
    sent = asked({"report": REPORT, "format": "json"})

    assert answered(encoded(sent))["invocation_id"] == sent["invocation_id"]


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"", "request_invalid"),
        (b"\xef\xbb\xbf{}", "request_invalid"),
        (b'{"a": 1, "a": 2}', "request_invalid"),
        (b'{"a": -Infinity}', "request_invalid"),
        (b'{"a": 1e999}', "request_invalid"),
        (b'{"a": "\\ud800"}', "request_invalid"),
        (b'{"a": ' + b"9" * 5000 + b"}", "request_invalid"),
        (b'{"a": ' + b"[" * 64 + b"]" * 64 + b"}", "request_invalid"),
        (b'"' + b"x" * 1_000_000, "request_too_large"),
        (encoded({**asked({}), "capability_id": "other"}), "envelope_invalid"),
        (encoded({**asked({}), "protocol": "other_v0"}), "envelope_invalid"),
        (encoded(asked({}, "deliver")), "operation_unknown"),
        (encoded({**asked({}), "goal_id": "other"}), "envelope_invalid"),
        (encoded({**asked({}), "execution_envelope": {}}), "envelope_invalid"),
        (encoded(asked({}, extension_id="other")), "envelope_invalid"),
        (encoded(asked({})), "input_invalid"),
    ],
)
def test_what_cannot_be_served_is_answered_with_its_code(data: bytes, code: str) -> None:
    made = answered(data)

    assert (made["ok"], made["code"]) == (False, code)


def test_nan_in_a_point_is_refused_by_the_process_too() -> None:
    report = {**REPORT, "generated_at": "@"}
    data = encoded(asked({"report": report, "format": "json"})).replace(b'"@"', b"NaN")

    assert answered(data)["code"] == "request_invalid"


def test_the_doctor_passes_and_a_wrong_argument_does_not() -> None:
    assert (run(b"", "--doctor").returncode, run(b"", "--other").returncode) == (0, 2)


def test_the_manifest_is_in_the_package_and_shown_at_the_root() -> None:
    manifest = tomllib.loads((DATA / "extension.toml").read_text(encoding="utf-8"))
    link = Path(__file__).parents[1] / "extension.toml"

    assert manifest["id"] == EXTENSION
    assert not link.readlink().is_absolute()
    assert link.read_bytes() == (DATA / "extension.toml").read_bytes()
    for entry in manifest["provides"]:
        profile = json.loads((DATA / entry["integration_profile"]).read_text(encoding="utf-8"))
        assert profile["capability_id"] == entry["id"]
        assert {operation["required_permission"] for operation in profile["operations"]} <= set(
            manifest["permissions"]
        )


def test_the_example_is_served() -> None:
    made = answered((Path(__file__).parents[1] / "examples" / "request.json").read_bytes())

    assert (made["status"], made["observations"][0]["format"]) == ("succeeded", "html")
