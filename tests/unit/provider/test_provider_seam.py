"""`serve_operations`: the provider's side of a governed call looks at the envelope again and answers in the v0 shape.

The envelope of these tests is made by hand after the contract (section 7), not by the code that checks it.
"""

from __future__ import annotations

import hashlib
import json
import tempfile
from collections.abc import Callable
from typing import Any

import pytest

from loopx_host import Effect, OperationFailed, serve_operations

Json = dict[str, Any]

EXTENSION = "sample"
RECEIPT: Json = {"delivered": True, "evidence": {"place": 1}}
ENVELOPE_KEYS = ("schema_version", "action", "scope", "extension", "request_digest")
REVISION = "0123456789abcdef"
TEXTS = (
    "invocation_id",
    "goal_id",
    "capability_id",
    "operation",
    "protocol",
    "surface",
    "agent",
    "workspace",
    "delivery",
)
NO_TEXTS: list[object] = [None, "", 1, True, [], {}]
SCOPE = {"goal_id": "g1", "capability_id": "sample-capability", "operation": "inspect", "references": ["repo"]}
LISTS = ("domain_state_mutations", "domain_transition_receipts", "transition_proposals")


def canonical(value: object) -> bytes:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


def request(operation: str = "inspect", given: Json | None = None, **changes: object) -> Json:
    """Return a request with the envelope that belongs to it; `changes` are made before the envelope."""
    unbound = {
        "schema_version": "loopx_external_domain_capability_request_v1",
        "invocation_id": "capability-" + "0" * 24,
        "goal_id": "g1",
        "capability_id": "sample-capability",
        "operation": operation,
        "protocol": "sample_v0",
        "input": {"depth": 1} if given is None else given,
        "context_refs": [{"name": "repo", "kind": "path", "path": "/made/up"}],
        **changes,
    }
    references = unbound["context_refs"]
    envelope = {
        "schema_version": "loopx_extension_execution_envelope_v0",
        "action": f"capability.invoke:{unbound['capability_id']}.{unbound['operation']}",
        "scope": {
            "goal_id": unbound["goal_id"],
            "capability_id": unbound["capability_id"],
            "operation": unbound["operation"],
            "references": [one["name"] for one in references] if isinstance(references, list) else [],
        },
        "extension": {"id": EXTENSION, "revision": REVISION},
        "request_digest": f"sha256:{digest(unbound)}",
    }
    return {**unbound, "execution_envelope": envelope}


def digest(unbound: Json) -> str:
    return hashlib.sha256(canonical(unbound)).hexdigest()


def told(sent: Json) -> dict[str, str]:
    """Return what the host sets beside a request, after the contract."""
    unbound = {key: value for key, value in sent.items() if key != "execution_envelope"}
    return {
        "LOOPX_EXPECTED_ID": EXTENSION,
        "LOOPX_EXPECTED_REVISION": REVISION,
        "LOOPX_EXPECTED_REQUEST_SHA256": digest(unbound),
    }


class Provider:
    """A provider with one operation of each kind; `calls` is what reached them."""

    def __init__(self) -> None:
        self.calls: list[tuple[Json, dict[str, str]]] = []

    def inspect(self, given: Json, references: dict[str, str]) -> list[Json]:
        self.calls.append((given, references))
        return [{"seen": 1}, {"seen": 2}]

    def deliver(self, given: Json, references: dict[str, str]) -> Effect:
        self.calls.append((given, references))
        return Effect(RECEIPT, [{"seen": 3}])

    def fail(self, given: Json, references: dict[str, str]) -> list[Json]:
        self.calls.append((given, references))
        raise OperationFailed("not_today", "it is closed today", **given)

    def answer(self, data: bytes, environment: dict[str, str] | None = None) -> Json:
        """Return the answer to the bytes of one request, started for exactly that one unless told otherwise."""
        if environment is None:
            try:
                environment = told(json.loads(data))
            except (ValueError, AttributeError, RecursionError):
                environment = {}
        operations: dict[str, Callable[[Json, dict[str, str]], list[Json] | Effect]] = {
            "inspect": self.inspect,
            "deliver": self.deliver,
            "fail": self.fail,
        }
        with tempfile.TemporaryFile() as asked, tempfile.TemporaryFile() as answered:
            asked.write(data)
            asked.seek(0)
            status = serve_operations(
                operations,
                manifest_id=EXTENSION,
                descriptors=(asked.fileno(), answered.fileno()),
                environment=environment,
            )
            answered.seek(0)
            made: Json = json.loads(answered.read())
        assert status == 0
        return made


@pytest.fixture
def provider() -> Provider:
    return Provider()


def test_an_operation_is_given_its_input_and_the_paths_of_its_references(provider: Provider) -> None:
    provider.answer(canonical(request()))

    assert provider.calls == [({"depth": 1}, {"repo": "/made/up"})]


def test_observations_are_answered_with_exactly_the_v0_keys(provider: Provider) -> None:
    made = provider.answer(canonical(request()))

    assert made == {
        "schema_version": "loopx_external_domain_capability_result_v0",
        "invocation_id": "capability-" + "0" * 24,
        "status": "succeeded",
        "observations": [{"seen": 1}, {"seen": 2}],
        **{key: [] for key in LISTS},
        "effect_receipt": None,
        "follow_up": {"kind": "none"},
    }


def test_an_effect_is_answered_with_its_receipt_and_what_was_observed(provider: Provider) -> None:
    made = provider.answer(canonical(request("deliver")))

    assert (made["effect_receipt"], made["observations"]) == (RECEIPT, [{"seen": 3}])
    assert [made[key] for key in LISTS] == [[], [], []]


def test_an_effect_without_observations_has_an_empty_list_of_them() -> None:
    assert Effect(RECEIPT).observations == []


@pytest.mark.parametrize(
    ("given", "effect"), [({}, "none"), ({"effect": "none"}, "none"), ({"effect": "unknown"}, "unknown")]
)
def test_a_failure_says_its_code_its_sentence_and_whether_anything_can_have_left(
    given: Json, effect: str, provider: Provider
) -> None:
    made = provider.answer(canonical(request("fail", given)))

    assert made == {"ok": False, "code": "not_today", "error": "it is closed today", "effect": effect}


@pytest.mark.req("X10")
@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("schema_version", "loopx_extension_execution_envelope_v1"),
        ("action", "capability.invoke:sample-capability.deliver"),
        ("action", "capability.invoke:*"),
        ("scope", {**SCOPE, "goal_id": "g2"}),
        ("scope", {**SCOPE, "capability_id": "other"}),
        ("scope", {**SCOPE, "operation": "deliver"}),
        ("scope", {**SCOPE, "references": []}),
        ("scope", {**SCOPE, "references": ["repo", "x"]}),
        ("scope", {**SCOPE, "more": 1}),
        ("scope", {}),
        ("scope", None),
        ("extension", {"id": "another", "revision": REVISION}),
        ("extension", {"id": EXTENSION, "revision": "fedcba9876543210"}),
        ("extension", {"id": EXTENSION, "revision": "0123456789ABCDEF"}),
        ("extension", {"id": EXTENSION, "revision": "0123456789abcdef\n"}),
        ("extension", {"id": EXTENSION, "revision": ""}),
        ("extension", {"id": EXTENSION, "revision": 123456789}),
        ("extension", {"id": EXTENSION}),
        ("extension", {"id": EXTENSION, "revision": REVISION, "more": 1}),
        ("extension", None),
        ("extension_id", EXTENSION),
        ("request_digest", f"sha256:{'0' * 64}"),
        ("request_digest", None),
        ("another", "key"),
    ],
)
def test_an_envelope_that_is_not_exactly_that_of_the_call_is_refused(
    key: str, value: object, provider: Provider
) -> None:
    good = request()

    made = provider.answer(canonical({**good, "execution_envelope": {**good["execution_envelope"], key: value}}))

    assert (made["ok"], made["code"], made["effect"]) == (False, "envelope_invalid", "none")
    assert provider.calls == []


@pytest.mark.req("X10")
@pytest.mark.parametrize("key", ENVELOPE_KEYS)
def test_an_envelope_that_lacks_a_key_is_refused(key: str, provider: Provider) -> None:
    good = request()
    del good["execution_envelope"][key]

    made = provider.answer(canonical(good))

    assert (made["code"], provider.calls) == ("envelope_invalid", [])


@pytest.mark.req("X10")
@pytest.mark.parametrize("envelope", [None, [], "", {}, True])
def test_what_is_no_envelope_is_refused(envelope: object, provider: Provider) -> None:
    made = provider.answer(canonical({**request(), "execution_envelope": envelope}))

    assert (made["code"], provider.calls) == ("envelope_invalid", [])


@pytest.mark.req("X10")
def test_a_request_without_an_envelope_is_refused(provider: Provider) -> None:
    good = request()
    del good["execution_envelope"]

    made = provider.answer(canonical(good))

    assert (made["code"], provider.calls) == ("envelope_invalid", [])


@pytest.mark.req("X10")
@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("input", {"depth": 2}),
        ("input", {"depth": True}),
        ("input", {"depth": 1.0}),
        ("input", {"depth": "1"}),
        ("input", {}),
        ("invocation_id", "capability-" + "1" * 24),
        ("goal_id", "g2"),
        ("capability_id", "other"),
        ("operation", "deliver"),
        ("protocol", "other_v0"),
        ("context_refs", []),
        ("context_refs", [{"name": "repo", "kind": "path", "path": "/another"}]),
    ],
)
def test_a_request_that_was_changed_after_its_envelope_was_made_is_refused(
    key: str, value: object, provider: Provider
) -> None:
    made = provider.answer(canonical({**request(), key: value}))

    assert (made["code"], provider.calls) == ("envelope_invalid", [])


@pytest.mark.req("X10")
@pytest.mark.parametrize("name", sorted(told(request())))
@pytest.mark.parametrize("value", [None, "", "another", "fedcba9876543210", "0" * 64])
def test_a_request_the_process_was_not_started_for_is_refused(
    name: str, value: str | None, provider: Provider
) -> None:
    said = told(request())
    del said[name]

    made = provider.answer(canonical(request()), said if value is None else {**said, name: value})

    assert (made["code"], provider.calls) == ("envelope_invalid", [])


@pytest.mark.req("X10", "M071")
def test_a_whole_call_of_another_process_is_refused(provider: Provider) -> None:
    """replayed: request and envelope agree, and are those of another call"""
    made = provider.answer(canonical(request(given={"depth": 2})), told(request()))

    assert (made["code"], provider.calls) == ("envelope_invalid", [])


@pytest.mark.req("X10")
@pytest.mark.parametrize(
    ("names", "other"), [(["repo"], [["repo"]]), (["repo"], {"repo": 1}), ([], None), ([], False)]
)
def test_in_the_scope_the_types_count(names: list[str], other: object, provider: Provider) -> None:
    rows = [{"name": name, "kind": "path", "path": "/x"} for name in names]
    made_for = request(context_refs=rows)
    made_for["execution_envelope"]["scope"]["references"] = other

    made = provider.answer(canonical(made_for))

    assert (made["code"], provider.calls) == ("envelope_invalid", [])


def test_the_order_of_keys_and_white_space_do_not_matter(provider: Provider) -> None:
    good = request()

    made = provider.answer(json.dumps(dict(reversed(good.items())), indent=3).encode())

    assert made["status"] == "succeeded"


def test_text_beyond_ascii_is_bound_as_utf_8(provider: Provider) -> None:
    made = provider.answer(canonical(request(given={"words": "Zürich ✓ 𝄞"})))

    assert (made["status"], provider.calls[0][0]) == ("succeeded", {"words": "Zürich ✓ 𝄞"})


def test_an_operation_that_is_not_there_is_refused(provider: Provider) -> None:
    made = provider.answer(canonical(request("erase")))

    assert (made["ok"], made["code"], provider.calls) == (False, "operation_unknown", [])


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"null",
        b"[]",
        b"{",
        b"\xff\xfe",
        b"\xef\xbb\xbf{}",
        b'{"a": 1, "a": 1}',
        b'{"a": NaN}',
        b'{"a": 1e999}',
        b"[" * 100_000,
        canonical(request()) + b"{}",
        canonical({}),
    ],
)
def test_bytes_that_are_no_request_are_refused(data: bytes, provider: Provider) -> None:
    made = provider.answer(data)

    assert (made["ok"], made["code"], made["effect"]) == (False, "request_invalid", "none")


@pytest.mark.parametrize(
    "changes",
    [
        {"schema_version": "loopx_external_domain_capability_request_v0"},
        {"more": 1},
        {"input": []},
        {"input": None},
        {"context_refs": {}},
        {"context_refs": ["repo"]},
        {"context_refs": [{"name": "repo"}]},
        {"context_refs": [{"name": 1, "kind": "path", "path": "/x"}]},
        {"context_refs": [{"name": "a", "path": "/x"}]},
        {"context_refs": [{"name": "a", "kind": "file", "path": "/x"}]},
        {"context_refs": [{"name": "a", "kind": "path", "path": "/x", "more": 1}]},
        {"context_refs": [{"name": "a", "kind": "path", "path": path} for path in ("/x", "/y")]},
        *({key: value} for key in TEXTS for value in NO_TEXTS),
    ],
)
def test_a_request_of_another_shape_is_refused_whatever_its_envelope(changes: Json, provider: Provider) -> None:
    good = request()
    unbound = {key: value for key, value in good.items() if key != "execution_envelope"} | changes
    envelope = good["execution_envelope"] | {"request_digest": f"sha256:{digest(unbound)}"}

    made = provider.answer(canonical({**unbound, "execution_envelope": envelope}))

    assert (made["code"], provider.calls) == ("request_invalid", [])


@pytest.mark.parametrize("key", ["invocation_id", "goal_id", "capability_id", "operation", "protocol", "input"])
def test_a_request_that_lacks_a_key_is_refused(key: str, provider: Provider) -> None:
    good = request()
    del good[key]

    made = provider.answer(canonical(good))

    assert (made["code"], provider.calls) == ("request_invalid", [])


def test_a_request_of_exactly_the_limit_is_served_and_one_byte_more_is_not(provider: Provider) -> None:
    empty = len(canonical(request(given={"padding": ""})))
    largest = canonical(request(given={"padding": "x" * (1_000_000 - empty)}))

    served, refused = provider.answer(largest), provider.answer(largest + b" ")

    assert (len(largest), served.get("status")) == (1_000_000, "succeeded")
    assert (refused["ok"], refused["code"], len(provider.calls)) == (False, "request_too_large", 1)


def test_a_fault_of_the_operation_itself_is_no_answer() -> None:
    with tempfile.TemporaryFile() as asked, tempfile.TemporaryFile() as answered:
        asked.write(canonical(request()))
        asked.seek(0)

        with pytest.raises(ZeroDivisionError):
            serve_operations(
                {"inspect": lambda _given, _references: [{"x": 1 // 0}]},
                manifest_id=EXTENSION,
                descriptors=(asked.fileno(), answered.fileno()),
                environment=told(request()),
            )

        assert answered.seek(0, 2) == 0
