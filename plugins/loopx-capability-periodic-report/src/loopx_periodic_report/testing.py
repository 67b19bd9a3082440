"""One suite that every report sink passes, and a fake sink that passes it: subclass `ReportSinkContract`."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import subprocess
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypedDict

from loopx_host import Effect, OperationFailed, governed_environment, governed_request, serve_operations
from loopx_periodic_report.canonical import encoded
from loopx_periodic_report.process import Operation
from loopx_periodic_report.sink import (
    BODY_BYTES,
    CAPABILITY,
    PROTOCOL,
    TARGET_PREFIX,
    ReplayClass,
    observation,
    read_delivery,
    read_probe,
    receipt,
)

KEY = "op-0123456789abcdef"
BODY = "<!DOCTYPE html>\n<title>Résumé</title>\n.\n..\nfrom here\n"

if TYPE_CHECKING:
    from loopx_periodic_report.sink import EffectReceipt, ProbeObservation


class TodoContract(TypedDict):
    """What of a todo a delivery may serve."""

    action_kinds: list[str]
    target_key_prefixes: list[str]


class SinkOperation(TypedDict):
    """One operation of a sink's profile."""

    id: str
    effect_class: str
    required_permission: str
    request_schema: dict[str, object]
    result_schema: Any  # a JSON Schema that is looked into
    todo_contract: TodoContract


class SinkProfile(TypedDict):
    """The profile of a sink, as its file has it."""

    schema_version: str
    capability_id: str
    protocol: str
    operations: list[SinkOperation]


class Answer(TypedDict, total=False):
    """What a provider answers: a result, or `ok` false with a code, a sentence and what became of the effect."""

    status: str
    observations: list[ProbeObservation]
    effect_receipt: EffectReceipt
    ok: bool
    code: str
    error: str
    effect: str


class Sink(Protocol):
    """What the suite needs to know of one sink under test."""

    extension_id: str
    target_key: str
    profile: SinkProfile
    references: Mapping[str, str]

    def call(self, data: bytes) -> Answer:
        """Return the sink's answer to the bytes of one request."""

    def bodies(self) -> list[bytes]:
        """Return every body that reached the outside so far, looked at without the sink."""


@dataclass
class ProcessSink:
    """A sink run as the host runs it: one process for each request."""

    extension_id: str
    target_key: str
    profile: SinkProfile
    argv: Sequence[str]
    look: Callable[[], list[bytes]]
    environment: Mapping[str, str] = field(default_factory=dict)
    references: Mapping[str, str] = field(default_factory=dict)

    def call(self, data: bytes) -> Answer:
        """Return the answer of the process, which must exit 0."""
        environment = {"PATH": os.environ["PATH"], **_told(data), **self.environment}
        ended = subprocess.run(self.argv, input=data, capture_output=True, check=True, env=environment, timeout=60)
        made: Answer = json.loads(ended.stdout)
        return made

    def bodies(self) -> list[bytes]:
        """Return what `look` sees outside."""
        return self.look()


class FakeSink:
    """A sink that keeps reports in memory: for tests of what calls a sink."""

    extension_id = "fake-sink"
    target_key = "report:fake"

    def __init__(self, replay_class: ReplayClass) -> None:
        self.replay_class = replay_class
        self.references: Mapping[str, str] = {}
        self.profile = narrowed(contract_profile(), replay_class, self.target_key)
        self._kept: list[tuple[str, bytes]] = []
        self._operations: dict[str, Operation] = {"deliver": self._deliver}
        if replay_class == "readable":
            self._operations["probe"] = self._probe

    def call(self, data: bytes) -> Answer:
        """Answer through the same code as a real provider."""
        with tempfile.TemporaryFile() as asked, tempfile.TemporaryFile() as answered:
            asked.write(data)
            asked.seek(0)
            descriptors = (asked.fileno(), answered.fileno())
            serve_operations(
                self._operations, manifest_id=self.extension_id, descriptors=descriptors, environment=_told(data)
            )
            answered.seek(0)
            made: Answer = json.loads(answered.read())
            return made

    def bodies(self) -> list[bytes]:
        """Return what was delivered, in order."""
        return [body for _, body in self._kept]

    def _deliver(self, given: Mapping[str, object], _references: dict[str, str]) -> Effect:
        delivery = read_delivery(given)
        if delivery.target_key != self.target_key:
            raise OperationFailed("target_invalid", "this sink has one target")
        entry = (delivery.file_name, delivery.body)
        if self.replay_class == "readable" and any(
            name == entry[0] and entry[1] != body for name, body in self._kept
        ):
            raise OperationFailed("report_exists", "another body has this name")
        if self.replay_class == "unsafe" or entry not in self._kept:
            self._kept.append(entry)
        return Effect(receipt(delivery, self.replay_class, {"place": len(self._kept)}))

    def _probe(self, given: Mapping[str, object], _references: dict[str, str]) -> list[ProbeObservation]:
        named = read_probe(given)
        digests = [hashlib.sha256(body).hexdigest() for name, body in self._kept if name == named.file_name]
        present = named.body_sha256 in digests
        return [observation(named, present=present, other=bool(digests) and not present)]


def contract_profile() -> SinkProfile:
    """Return the integration profile of the capability `report-sink`."""
    made: SinkProfile = json.loads(Path(__file__).with_name("sink-profile.json").read_text(encoding="utf-8"))
    return made


def narrowed(profile: SinkProfile, replay_class: ReplayClass, prefix: str) -> SinkProfile:
    """Return the contract's profile as one sink declares it."""
    operations = [entry for entry in profile["operations"] if entry["id"] == "deliver" or replay_class == "readable"]
    deliver = operations[0]
    deliver["todo_contract"]["target_key_prefixes"] = [prefix]
    deliver["result_schema"]["properties"]["effect_receipt"]["properties"]["replay_class"] = {"const": replay_class}
    return {**profile, "operations": operations}


def holds(claim: object, what: str) -> None:
    """Fail the test that makes a claim which does not hold."""
    if not claim:
        raise AssertionError(what)


class ReportSinkContract(ABC):
    """The promises of a sink; a subclass makes one, and pytest finds the tests there."""

    @abstractmethod
    def make_sink(self, folder: Path) -> Sink:
        """Return a sink that has delivered nothing yet; `folder` is empty and its own."""

    def test_a_delivery_brings_the_very_bytes_once_and_the_receipt_says_so(self, tmp_path: Path) -> None:
        """The body outside is the body that was asked for."""
        sink = self.make_sink(tmp_path)

        made = _deliver(sink)

        holds(made["status"] == "succeeded", f"it failed: {made}")
        given, effect = _input(sink), made["effect_receipt"]
        holds(set(effect) == {"delivered", "target_key", "replay_class", "body_sha256", "evidence"}, "keys")
        holds(effect["delivered"] is True, "delivered is not true")
        holds(effect["target_key"] == sink.target_key, "another target")
        holds(effect["body_sha256"] == given["body_sha256"], "another digest")
        holds(sink.bodies() == [BODY.encode()], "not these bytes, once")

    def test_a_body_in_base64_is_delivered_as_its_bytes(self, tmp_path: Path) -> None:
        """Bytes that are no text survive."""
        sink, body = self.make_sink(tmp_path), bytes(range(256))
        given = _input(sink, body_sha256=hashlib.sha256(body).hexdigest())
        del given["text"]

        made = _deliver(sink, {**given, "body_base64": base64.b64encode(body).decode()})

        holds(made["status"] == "succeeded", f"it failed: {made}")
        holds(sink.bodies() == [body], "not these bytes")

    def test_the_largest_body_is_delivered_and_one_byte_more_is_refused(self, tmp_path: Path) -> None:
        """The limit is the contract's, not the sink's."""
        sink = self.make_sink(tmp_path)
        largest = "x" * BODY_BYTES

        more = _deliver(sink, _input(sink, text=largest + "x"))
        made = _deliver(sink, _input(sink, text=largest))

        holds(more["code"] == "body_too_large", f"not refused: {more}")
        holds(made["status"] == "succeeded", f"it failed: {made}")
        holds(sink.bodies() == [largest.encode()], "not these bytes")

    def test_answers_follow_the_result_schema_of_the_profile(self, tmp_path: Path) -> None:
        """What the host will judge is judged here already."""
        import jsonschema

        sink = self.make_sink(tmp_path)
        operation = _operation(sink, "deliver")
        jsonschema.Draft202012Validator(operation["request_schema"]).validate(_input(sink))

        made = _deliver(sink)

        jsonschema.Draft202012Validator(operation["result_schema"]).validate(made)

    def test_the_profile_declares_one_replay_class_and_every_receipt_has_it(self, tmp_path: Path) -> None:
        """A class that was not declared is worth nothing to a recovery."""
        sink = self.make_sink(tmp_path)

        made = _deliver(sink)

        holds(_replay_class(sink) in {"readable", "unsafe"}, "no class is declared")
        holds(made["effect_receipt"]["replay_class"] == _replay_class(sink), "another class than declared")

    def test_the_profile_narrows_the_contract_and_changes_nothing_else(self, tmp_path: Path) -> None:
        """A sink chooses its targets, its permission, its class and its evidence."""
        sink, contract = self.make_sink(tmp_path), contract_profile()

        deliver = _operation(sink, "deliver")

        wanted = contract["operations"][0]
        prefixes = deliver["todo_contract"]["target_key_prefixes"]
        holds((sink.profile["capability_id"], sink.profile["protocol"]) == (CAPABILITY, PROTOCOL), "capability")
        holds(deliver["effect_class"] == "external_write", "effect class")
        holds(deliver["request_schema"] == wanted["request_schema"], "another request than the contract's")
        holds(deliver["todo_contract"]["action_kinds"] == wanted["todo_contract"]["action_kinds"], "action kinds")
        holds(all(prefix.startswith(TARGET_PREFIX) for prefix in prefixes), "a prefix outside the contract's")
        holds(sink.target_key.startswith(tuple(prefixes)), "the target is outside the sink's own prefixes")
        operations = {entry["id"] for entry in sink.profile["operations"]}
        holds(("probe" in operations) == (_replay_class(sink) == "readable"), "probe goes with readable")

    def test_what_breaks_the_contract_is_refused_before_any_effect(self, tmp_path: Path) -> None:
        """Every refusal has its code, and says that nothing happened."""
        sink = self.make_sink(tmp_path)
        for given, code in _refused(sink):
            made = _deliver(sink, given)

            holds(made.get("ok") is False, f"{given} was accepted")
            holds(made["code"] == code, f"{made['code']} instead of {code}")
            holds(made["effect"] == "none", "a refusal left the effect open")
        holds(sink.bodies() == [], "something was delivered")

    def test_a_request_that_its_envelope_was_not_made_for_is_refused(self, tmp_path: Path) -> None:
        """Any changed byte, and another extension's envelope, fail closed."""
        sink = self.make_sink(tmp_path)
        good = _request(sink, "deliver", _input(sink))
        envelope: Any = good["execution_envelope"]
        changed = [
            {**good, "input": _input(sink, report_id="other")},
            {**good, "goal_id": "g2"},
            {**good, "execution_envelope": {**envelope, "extension_id": "another-sink"}},
            {**good, "execution_envelope": {**envelope, "scope": {**envelope["scope"], "references": ["more"]}}},
            {**good, "execution_envelope": None},
        ]
        for other in changed:
            made = sink.call(encoded(other))

            holds(made["code"] == "envelope_invalid", f"accepted: {made}")
        holds(sink.bodies() == [], "something was delivered")

    def test_bytes_that_are_no_request_are_answered_with_a_code(self, tmp_path: Path) -> None:
        """Strict JSON: one object, no key twice, no NaN, UTF-8."""
        sink = self.make_sink(tmp_path)
        for data in (b"", b"[]", b"\xff", b'{"a":1,"a":1}', b'{"a":NaN}', b"[" * 100_000, b'"' + b"x" * 1_000_001):
            made = sink.call(data)

            holds(made["code"] in {"request_invalid", "request_too_large"}, f"accepted: {data[:20]!r}")

    def test_delivering_twice_is_once_outside_when_readable(self, tmp_path: Path) -> None:
        """An unsafe sink delivers again, which is why its class says so."""
        sink = self.make_sink(tmp_path)
        _deliver(sink)

        made = _deliver(sink)

        times = 1 if _replay_class(sink) == "readable" else 2
        holds(made["status"] == "succeeded", f"it failed: {made}")
        holds(sink.bodies() == [BODY.encode()] * times, f"not {times} times outside")

    def test_a_name_that_holds_another_body_is_not_overwritten_when_readable(self, tmp_path: Path) -> None:
        """What was delivered stays what the receipt said."""
        sink = self.make_sink(tmp_path)
        _deliver(sink)

        made = _deliver(sink, _input(sink, text="other"))

        if _replay_class(sink) == "readable":
            holds(made.get("code") == "report_exists", f"not refused: {made}")
            holds(sink.bodies() == [BODY.encode()], "the first body is gone")
        else:
            holds(sink.bodies() == [BODY.encode(), b"other"], "not both")

    def test_probe_tells_there_from_not_there_from_another_or_is_refused(self, tmp_path: Path) -> None:
        """A readable sink can be asked; an unsafe one says that it cannot."""
        sink = self.make_sink(tmp_path)
        asked = {key: _input(sink)[key] for key in ("report_id", "content_type", "body_sha256", "target_key")}
        answers = [_probe(sink, asked)]
        _deliver(sink)
        answers += [_probe(sink, asked), _probe(sink, {**asked, "body_sha256": "0" * 64})]

        if _replay_class(sink) == "unsafe":
            holds({made["code"] for made in answers} == {"operation_unknown"}, "an unsafe sink was read")
        else:
            seen = [
                (made["observations"][0]["present"], made["observations"][0]["other_body_present"])
                for made in answers
            ]
            holds(seen == [(False, False), (True, False), (False, True)], f"seen {seen}")


def _input(sink: Sink, **changes: object) -> dict[str, object]:
    text = str(changes.get("text", BODY))
    return {
        "report_id": "weekly-2026-45",
        "content_type": "text/html",
        "text": text,
        "body_sha256": hashlib.sha256(text.encode()).hexdigest(),
        "target_key": sink.target_key,
        "idempotency_key": KEY,
        **changes,
    }


def _refused(sink: Sink) -> list[tuple[dict[str, object], str]]:
    good = _input(sink)
    bad_targets = ("report:", "other:x", "report:a\r\nBcc:x", f"{sink.target_key}\n", "report:../x")
    cases = [({**good, "report_id": name}, "input_invalid") for name in ("../x", "a\r\nBcc: x", "a\n")]
    cases += [({**good, "target_key": target}, "target_invalid") for target in bad_targets]
    cases += [
        ({**good, "content_type": "text/html\r\nX: y"}, "input_invalid"),
        ({**good, "idempotency_key": "short"}, "input_invalid"),
        ({**good, "body_sha256": ""}, "input_invalid"),
    ]
    cases += [
        ({**good, "body_sha256": "0" * 64}, "body_digest_mismatch"),
        ({**good, "body_base64": ""}, "input_invalid"),
        ({**good, "more": 1}, "input_invalid"),
        ({key: value for key, value in good.items() if key != "text"}, "input_invalid"),
        ({**{key: value for key, value in good.items() if key != "text"}, "body_base64": "*"}, "input_invalid"),
        ({key: value for key, value in good.items() if key != "idempotency_key"}, "input_invalid"),
    ]
    return cases


def _request(sink: Sink, operation: str, given: Mapping[str, object]) -> dict[str, object]:
    made = governed_request(
        sink.extension_id, CAPABILITY, operation, given, protocol=PROTOCOL, references=sink.references
    )
    return {**made}


def _told(data: bytes) -> dict[str, str]:
    """Return the variables that the host sets for this request; none for bytes that no host would send."""
    try:
        return governed_environment(json.loads(data))
    except (ValueError, TypeError, KeyError, RecursionError):
        return {}


def _deliver(sink: Sink, given: Mapping[str, object] | None = None) -> Answer:
    return sink.call(encoded(_request(sink, "deliver", given or _input(sink))))


def _probe(sink: Sink, given: Mapping[str, object]) -> Answer:
    return sink.call(encoded(_request(sink, "probe", given)))


def _operation(sink: Sink, name: str) -> SinkOperation:
    return next(entry for entry in sink.profile["operations"] if entry["id"] == name)


def _replay_class(sink: Sink) -> object:
    schema = _operation(sink, "deliver")["result_schema"]["properties"]["effect_receipt"]
    return schema["properties"]["replay_class"].get("const")
