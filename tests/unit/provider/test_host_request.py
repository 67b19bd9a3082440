"""`governed_request`: what a provider's own tests send is what the host would send, and is served as such."""

from __future__ import annotations

import json
import tempfile
from typing import Any

import pytest

from loopx_host import governed_environment, governed_request, serve_operations
from loopx_host.core.limits import SCOPE_BYTES
from tests.support.fakes import code_of
from tests.support.invocations import answering, world

INPUT: dict[str, object] = {"city": "Ürümqi"}


def served(request: Any, extension_id: str = "probe-me", told: dict[str, str] | None = None) -> Any:
    """Return what a provider with one operation answers, started for this request unless `told` another."""
    with tempfile.TemporaryFile() as source, tempfile.TemporaryFile() as sink:
        source.write(json.dumps(request).encode())
        source.seek(0)
        serve_operations(
            {"inspect": lambda given, references: [{"input": given, "references": references}]},
            manifest_id=extension_id,
            descriptors=(source.fileno(), sink.fileno()),
            environment=governed_environment(request) if told is None else told,
        )
        sink.seek(0)
        return json.loads(sink.read())


@pytest.mark.req("X10")
def test_it_is_the_request_that_the_host_sends() -> None:
    made = answering(world())
    made.invoke()
    sent = json.loads(made.processes.launches[-1].stdin)
    protocol, revision = sent["protocol"], sent["execution_envelope"]["extension"]["revision"]

    built: Any = governed_request(
        "probe-me",
        "weather",
        "inspect",
        sent["input"],
        protocol=protocol,
        goal_id="g1",
        references={"repo": "/made/up/here"},
        revision=revision,
    )

    assert set(built) == set(sent)
    assert {key for key in sent if built[key] != sent[key]} == {"invocation_id", "execution_envelope"}
    envelope, bound = built["execution_envelope"], sent["execution_envelope"]
    assert {key for key in bound if envelope[key] != bound[key]} == {"request_digest"}
    assert len(built["invocation_id"]) == len(sent["invocation_id"])
    told = made.processes.launches[-1].env_set
    environment = governed_environment(built)
    assert {key for key in environment if environment[key] != told[key]} == {"LOOPX_EXPECTED_REQUEST_SHA256"}


def test_a_provider_serves_it_with_its_input_and_references() -> None:
    request = governed_request(
        "probe-me", "weather", "inspect", INPUT, protocol="test_v0", references={"b": "/", "a": "/x"}
    )

    answer = served(request)

    assert answer["status"] == "succeeded"
    assert answer["invocation_id"] == request["invocation_id"]
    assert answer["observations"] == [{"input": INPUT, "references": {"a": "/x", "b": "/"}}]


@pytest.mark.req("X10")
def test_it_is_bound_to_one_extension_and_to_every_byte() -> None:
    request = governed_request("probe-me", "weather", "inspect", INPUT, protocol="test_v0")

    assert served(request, "another")["code"] == "envelope_invalid"
    assert served({**request, "input": {}})["code"] == "envelope_invalid"
    assert served({**request, "input": {}}, told=governed_environment(request))["code"] == "envelope_invalid"


def test_two_inputs_are_two_invocations_and_one_is_one() -> None:
    ids = [
        governed_request("probe-me", "weather", "inspect", given, protocol="test_v0")["invocation_id"]
        for given in (INPUT, INPUT, {})
    ]

    assert ids[0] == ids[1] != ids[2]


def test_a_scope_that_is_too_large_is_refused_as_the_host_would() -> None:
    def build() -> object:
        return governed_request("probe-me", "weather", "inspect", {}, protocol="test_v0", goal_id="g" * SCOPE_BYTES)

    assert code_of(build) == "envelope_invalid"
