"""The envelope binds: what the host started a real provider for is what it answers, and nothing else (section 7).

The provider is served by the public library. It is called through the command line, and started by hand with what
the command line hands to it, altered.
"""

from __future__ import annotations

import copy
import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support.capabilities import Station, operation
from tests.support.levels import LEAVES_MARKS

Json = dict[str, Any]

TELLING = """\
#!{python}
import json, os, sys

if "--doctor" in sys.argv:
    sys.exit(0)
request = json.load(sys.stdin)
told = {{name: value for name, value in os.environ.items() if name.startswith("LOOPX_")}}
print(json.dumps({{
    "schema_version": "loopx_external_domain_capability_result_v0",
    "invocation_id": request["invocation_id"],
    "status": "succeeded",
    "observations": [{{"request": request, "told": told}}],
    "domain_state_mutations": [],
    "domain_transition_receipts": [],
    "transition_proposals": [],
    "effect_receipt": None,
    "follow_up": {{"kind": "none"}},
}}))
"""
SERVED = """\
#!{python}
import os, sys

from loopx_host import OperationFailed, serve_operations


def inspect(given, references):
    if os.environ.get("ACME_PASS") != "let me in":
        raise OperationFailed("credential_missing", "the service asks who is calling")
    return [{{"input": given}}]


sys.exit(0 if "--doctor" in sys.argv else serve_operations({{"inspect": inspect}}, manifest_id="station"))
"""
CHECK = """\
import json

from loopx_host import hookimpl

@hookimpl
def loopx_check_invocation(request):
    {body}
"""


def read(permission: str = "note.read") -> Json:
    return operation(permission=permission)


def telling(root: Path) -> Station:
    """A bound provider that answers with what it was given: the request and the host's variables."""
    station = Station(root)
    station.put("station", read())
    program(station, TELLING)
    station.install_id("station")
    return station.bound()


def program(station: Station, text: str) -> Path:
    """Put another program in the place of the package's provider, as its installer would have."""
    provider = station.site / "station/provider"
    provider.write_text(text.format(python=sys.executable), "utf-8")
    record = station.site / "station_package-1.0.dist-info/RECORD"
    kept = [line for line in record.read_text("utf-8").splitlines() if not line.startswith("station/provider,")]
    record.write_text("\n".join([*kept, "station/provider,,"]) + "\n", "utf-8")
    return provider


@pytest.fixture(scope="module")
def call(tmp_path_factory: pytest.TempPathFactory) -> tuple[Json, dict[str, str]]:
    """The request of one governed call as the host made it, and the variables it set beside it."""
    answer = telling(tmp_path_factory.mktemp("telling")).invoke("pass", reference=None)
    (seen,) = answer.document["provider_result"]["observations"]
    return seen["request"], seen["told"]


@pytest.fixture(scope="module")
def provider(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("by-hand") / "provider"
    path.write_text(SERVED.format(python=sys.executable), "utf-8")
    path.chmod(0o755)
    return path


def by_hand(provider: Path, request: Json, told: dict[str, str]) -> Json:
    """Return what a provider answers that somebody starts without the host."""
    environment = {"PATH": os.environ["PATH"], "ACME_PASS": "let me in", **told}
    ended = subprocess.run(
        [provider], input=json.dumps(request).encode(), env=environment, capture_output=True, check=True, timeout=60
    )
    made: Json = json.loads(ended.stdout)
    return made


def digest(request: Json) -> str:
    unbound = {key: value for key, value in request.items() if key != "execution_envelope"}
    return hashlib.sha256(
        json.dumps(unbound, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()
    ).hexdigest()


def resealed(request: Json, **changes: Any) -> Json:
    """Return a changed request under an envelope that agrees with it in every field."""
    made = {**copy.deepcopy(request), **changes}
    made["execution_envelope"]["request_digest"] = f"sha256:{digest(made)}"
    return made


@pytest.mark.req("X10")
def test_the_host_says_beside_the_request_what_it_started_the_provider_for(
    call: tuple[Json, dict[str, str]],
) -> None:
    request, told = call

    assert told == {
        "LOOPX_EXPECTED_ID": "station",
        "LOOPX_EXPECTED_REVISION": request["execution_envelope"]["extension"]["revision"],
        "LOOPX_EXPECTED_REQUEST_SHA256": digest(request),
    }


@pytest.mark.req("X10")
def test_the_call_as_the_host_made_it_is_answered(call: tuple[Json, dict[str, str]], provider: Path) -> None:
    """The two say what was asked and are no credential: whoever starts the provider can say them too."""
    made = by_hand(provider, *call)

    assert (made["status"], made["observations"]) == ("succeeded", [{"input": {"code": "pass"}}])


def _envelope(**changes: Any) -> Any:
    return lambda request: {**request, "execution_envelope": {**request["execution_envelope"], **changes}}


def _scope(**changes: Any) -> Any:
    return lambda request: _envelope(scope={**request["execution_envelope"]["scope"], **changes})(request)


ALTERED: dict[str, Any] = {
    "another revision": _envelope(extension={"id": "station", "revision": "fedcba9876543210"}),
    "another extension": _envelope(extension={"id": "other", "revision": "0123456789abcdef"}),
    "another action": _envelope(action="capability.invoke:weather.erase"),
    "every action": _envelope(action="capability.invoke"),
    "a wider scope: references": _scope(references=["repo"]),
    "a wider scope: agent": _scope(agent="a1"),
    "a wider scope: workspace": _scope(workspace="w1"),
    "a wider scope: delivery": _scope(delivery="d1"),
    "another goal": _scope(goal_id="g2"),
    "an altered input": lambda request: {**request, "input": {"code": "raise SystemExit"}},
    "an altered input and envelope": lambda request: resealed(request, input={}),
    "another goal's request": lambda request: resealed(request, goal_id="g2"),
    "a turn's request": lambda request: resealed(request, agent="a1"),
    "no envelope": lambda request: {k: v for k, v in request.items() if k != "execution_envelope"},
}


@pytest.mark.req("X10", "M071")
@pytest.mark.parametrize("case", ALTERED)
def test_what_the_host_did_not_start_it_for_is_refused_by_the_provider(
    call: tuple[Json, dict[str, str]], provider: Path, case: str
) -> None:
    request, told = call

    made = by_hand(provider, ALTERED[case](request), told)

    assert (made["ok"], made["code"]) == (False, "envelope_invalid")


@pytest.mark.req("X10")
@pytest.mark.parametrize("name", ["ID", "REVISION", "REQUEST_SHA256"])
@pytest.mark.parametrize("value", [None, "fedcba9876543210"])
def test_a_provider_that_is_told_nothing_or_another_call_refuses(
    call: tuple[Json, dict[str, str]], provider: Path, name: str, value: str | None
) -> None:
    request, said = call
    told = {key: text for key, text in said.items() if key != f"LOOPX_EXPECTED_{name}"}

    made = by_hand(provider, request, told if value is None else {**told, f"LOOPX_EXPECTED_{name}": value})

    assert (made["ok"], made["code"]) == (False, "envelope_invalid")


@pytest.mark.req("X10")
def test_a_call_s_request_in_the_next_call_s_process_is_refused(
    call: tuple[Json, dict[str, str]], provider: Path
) -> None:
    request, told = call
    replaying = {**told, "LOOPX_EXPECTED_REQUEST_SHA256": digest({**request, "input": {}})}

    assert by_hand(provider, request, replaying)["code"] == "envelope_invalid"


@pytest.mark.req("X10")
@pytest.mark.parametrize("names", [[], ["LOOPX_EXPECTED_ID", "LOOPX_EXPECTED_REVISION"]])
def test_what_the_caller_has_in_these_variables_reaches_no_provider(tmp_path: Path, names: list[str]) -> None:
    station = Station(tmp_path)
    station.put("station", read(), env=names)
    program(station, TELLING)
    station.install_id("station")
    station.env |= {"LOOPX_EXPECTED_ID": "other", "LOOPX_EXPECTED_REVISION": "fedcba9876543210"}

    (seen,) = station.bound().invoke(reference=None).document["provider_result"]["observations"]

    assert seen["told"]["LOOPX_EXPECTED_ID"] == "station"
    assert seen["told"]["LOOPX_EXPECTED_REVISION"] == seen["request"]["execution_envelope"]["extension"]["revision"]


@pytest.mark.req("X10")
@pytest.mark.parametrize(
    ("body", "code"),
    [
        ("rows.clear()", "binding_missing"),
        ("rows[0]['provider']['revision'] = 'fedcba9876543210'", "binding_drift"),
        ("rows[0]['operations'] = ['other']", "operation_not_bound"),
        ("rows[0]['provider']['profile_digest'] = 'sha256:' + '0' * 64", "binding_drift"),
    ],
    ids=["unbound", "other revision", "other operation", "other profile"],
)
def test_a_binding_that_changes_after_the_envelope_was_decided_starts_nothing(
    tmp_path: Path, body: str, code: str
) -> None:
    """The second look is at what is kept now: here the domain check itself takes its time to change it."""
    kept = tmp_path / "state.json.d/bindings.json"
    lines = (
        f"path = {str(kept)!r}",
        "document = json.load(open(path))",
        "rows = document['bindings']",
        body,
        "json.dump(document, open(path, 'w'))",
    )
    station = Station(tmp_path).served(
        "station", read(), operation("other", permission="note.read"), hooks=CHECK.format(body="; ".join(lines))
    )
    station.bound()
    assert kept.exists()

    answer = station.invoke(reference=None)

    assert (answer.status, answer.code) == (2, code)
    assert station.starts == []


@LEAVES_MARKS
@pytest.mark.req("X10")
@pytest.mark.parametrize(
    ("service", "passes"), [({}, False), ({"ACME_PASS": "wrong"}, False), ({"ACME_PASS": "let me in"}, True)]
)
def test_a_provider_without_its_own_credential_fails_under_the_right_envelope(
    tmp_path: Path, service: dict[str, str], passes: bool
) -> None:
    station = Station(tmp_path)
    station.put("station", read(), env=["ACME_PASS"])
    program(station, SERVED)
    station.install_id("station")
    station.env |= service

    receipt = station.bound().invoke("pass", reference=None).document

    assert receipt["ok"] is passes
    assert receipt["failure_kind"] == (None if passes else "provider_reported_failure")
    assert receipt["effects"]["provider_invoked"] is True
