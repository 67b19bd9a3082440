"""A capability package written for plain v0, unmodified: installed, bound, called through the command line.

Its provider checks what v0 says of a request: exact keys, every digest, the id of the invocation.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.cli import Answer, Loopx
from tests.support.lifecycle import ROOT, build_wheel, make_venv, pip

pytestmark = pytest.mark.timeout(300)

PACKAGE = ROOT / "tests/data/v0-capability"
REFERENCE = {"kind": "barn", "ref": "barn-1", "digest": "sha256:" + "a" * 64}
INPUT: dict[str, Any] = {"context_refs": [REFERENCE], "input": {"fruit": "pear"}}
BIND = ("capability", "bind", "orchard-stock", "--goal-id", "g1")
LOOK = ("capability", "invoke", "orchard-stock", "--goal-id", "g1", "--operation", "look")


class Orchard(Loopx):
    """The host and the package as wheels in one environment, at the containment that is the default."""

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        self.scripts = make_venv(root / "venv")
        wheels = [str(build_wheel(source, root / "dist")) for source in (ROOT, PACKAGE)]
        pip("--python", str(self.scripts / "python"), "install", *wheels)

    def command(self, *words: str | bytes, options: bool = True) -> list[str | bytes]:
        return [str(self.scripts / "loopx"), *super().command(*words, options=options)[1:]]

    def look(self, given: object, *words: str, execute: bool = True) -> Answer:
        """Call the one read with this provider input, from a file."""
        file = self.root / "input.json"
        file.write_text(json.dumps(given), "utf-8")
        return self(*LOOK, "--input-json", str(file), *words, *(("--execute",) if execute else ()))


def digest(value: object) -> str:
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return "sha256:" + hashlib.sha256(text.encode()).hexdigest()


@pytest.fixture(scope="module")
def orchard(tmp_path_factory: pytest.TempPathFactory) -> Orchard:
    made = Orchard(tmp_path_factory.mktemp("orchard"))
    manifest = str(PACKAGE / "extension.toml")
    for words in (
        ("extension", "install", "--manifest", manifest, "--execute"),
        (*BIND, "--operation", "look", "--execute"),
    ):
        answer = made(*words)
        assert answer.status == 0, answer
    return made


def test_it_validates_without_a_warning(orchard: Orchard) -> None:
    answer = orchard("extension", "validate", str(PACKAGE), "--strict")

    assert answer.status == 0, answer
    assert answer.document["warnings"] == []


@pytest.mark.req("X10")
def test_it_answers_and_what_it_answers_is_passed_on(orchard: Orchard) -> None:
    receipt = orchard.look(INPUT).document

    assert (receipt["status"], receipt["error"]) == ("succeeded", None)
    assert receipt["provider_result"] == {
        "schema_version": "orchard_stock_look_result_v0",
        "invocation_id": receipt["invocation_id"],
        "status": "succeeded",
        "observations": [{"kind": "stock", "of": "barn-1", "crates": 12}],
    }
    assert receipt["context_ref_count"] == 1
    assert receipt["effects"]["external_write_performed"] is False


def test_the_binding_and_the_request_have_the_digests_of_v0(orchard: Orchard) -> None:
    bound = orchard(*BIND, "--operation", "look").document
    receipt = orchard.look(INPUT, execute=False).document
    asked = {
        "goal_binding_digest": digest(bound["binding"]),
        "capability_id": "orchard-stock",
        "operation": "look",
        "provider_input_digest": digest(INPUT),
    }
    invocation_id = "capability-" + digest(asked).removeprefix("sha256:")[:24]
    request = {
        "schema_version": "orchard_stock_look_request_v0",
        "invocation_id": invocation_id,
        "capability_id": "orchard-stock",
        "operation": "look",
        "goal": {"goal_id": "g1", "capability_binding_digest": digest(bound["binding"])},
        "provider": bound["binding"]["provider"],
        **INPUT,
    }

    assert set(bound["binding"]) == {"schema_version", "goal_id", "capability_id", "operations", "provider"}
    assert bound["binding"]["schema_version"] == "loopx_goal_external_capability_binding_v0"
    assert bound["binding_digest"] == digest(bound["binding"])
    assert (receipt["invocation_id"], receipt["request_digest"]) == (invocation_id, digest(request))


@pytest.mark.parametrize(
    "said",
    [
        {},
        {"status": "no_change", "observations": []},
        {"observations": [{"n": number} for number in range(64)]},
        {"domain_state_mutations": [], "domain_transition_receipts": [], "transition_proposals": []},
        {"effect_receipt": None, "follow_up": {"kind": "none"}},
        {"follow_up": None},
    ],
    ids=str,
)
def test_every_clean_v0_result_is_taken(orchard: Orchard, said: dict[str, Any]) -> None:
    receipt = orchard.look({**INPUT, "input": {"say": said}}).document

    assert (receipt["ok"], receipt["status"]) == (True, "succeeded"), receipt
    assert said.items() <= receipt["provider_result"].items()


@pytest.mark.parametrize(
    "said",
    [
        {"schema_version": "loopx_external_domain_capability_result_v0"},
        {"schema_version": "orchard_stock_look_request_v0"},
        {"invocation_id": "capability-" + "0" * 24},
        {"status": "failed"},
        {"observations": [{"n": number} for number in range(65)]},
        {"observations": ["text"]},
        {"domain_state_mutations": [{}]},
        {"domain_transition_receipts": [{}]},
        {"transition_proposals": [{}]},
        {"effect_receipt": {}},
        {"follow_up": {"kind": "call-again"}},
        {"more": 1},
        {"observations": [{"password": "correct horse"}]},
    ],
    ids=lambda said: str(said)[:50],
)
def test_what_is_no_clean_v0_result_is_not_passed_on(orchard: Orchard, said: dict[str, Any]) -> None:
    receipt = orchard.look({**INPUT, "input": {"say": said}}).document

    assert (receipt["ok"], receipt["failure_kind"], receipt["provider_result"]) == (False, "response_schema", None)


@pytest.mark.parametrize("execute", [False, True])
@pytest.mark.parametrize(
    "given",
    [
        {},
        {"input": {}},
        {"context_refs": [REFERENCE]},
        {**INPUT, "more": 1},
        {**INPUT, "context_refs": []},
        {**INPUT, "context_refs": [REFERENCE] * 33},
        {**INPUT, "context_refs": {}},
        {**INPUT, "context_refs": [{**REFERENCE, "path": "/"}]},
        {**INPUT, "context_refs": [{"kind": "barn", "ref": "barn-1"}]},
        {**INPUT, "context_refs": [{**REFERENCE, "digest": "a" * 64}]},
        {**INPUT, "context_refs": [{**REFERENCE, "kind": 1}]},
        {**INPUT, "input": []},
    ],
    ids=lambda given: str(given)[:60],
)
def test_what_is_no_provider_input_is_refused_before_a_start(orchard: Orchard, given: object, execute: bool) -> None:
    answer = orchard.look(given, execute=execute)

    assert (answer.status, answer.code) == (2, "request_invalid")


def test_a_v0_operation_opens_no_path(orchard: Orchard) -> None:
    answer = orchard.look(INPUT, "--ref", f"barn={orchard.root}")

    assert (answer.status, answer.code) == (2, "reference_invalid")


@pytest.mark.req("X10")
def test_its_write_is_bound_and_never_runs_directly(orchard: Orchard) -> None:
    goal = ("--goal-id", "g2", "--operation", "order")
    bound = orchard("capability", "bind", "orchard-stock", *goal, "--execute")
    file = orchard.root / "order.json"
    file.write_text(json.dumps(INPUT), "utf-8")

    answer = orchard("capability", "invoke", "orchard-stock", *goal, "--input-json", str(file), "--execute")

    assert (bound.status, answer.status, answer.code) == (0, 2, "operations_unavailable")
