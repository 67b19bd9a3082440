"""What `deliver` and `probe` may be given: every refusal has its code, before anything could have left."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from importlib import resources
from pathlib import Path

import jsonschema
import pytest
from loopx_periodic_report.sink import read_delivery, read_probe

from loopx_host import OperationFailed

Json = dict[str, object]

PROFILE = Path(str(resources.files("loopx_periodic_report"))) / "sink-profile.json"
DELIVER = json.loads(PROFILE.read_text(encoding="utf-8"))["operations"][0]
JUDGE = jsonschema.Draft202012Validator(DELIVER["request_schema"])
GOOD = {
    "report_id": "weekly-2026-45",
    "content_type": "text/html",
    "text": "ok",
    "body_sha256": hashlib.sha256(b"ok").hexdigest(),
    "target_key": "report:there",
    "idempotency_key": "op-0123456789",
}
WITHOUT_TEXT = {key: value for key, value in GOOD.items() if key != "text"}
NAMES: list[object] = ["", "../x", "a/b", ".hidden", "A", "a\r\nBcc: x", "a\x00", "x" * 101, 1, None]
KINDS: list[object] = ["text/css", "text/html\r\nX: y", "TEXT/HTML", None, []]
KEYS: list[object] = ["short", "with a space", "k" * 201, "\u00e9" * 9, 12345678]
DIGESTS: list[object] = ["", "A" * 64, "0" * 63, "0" * 65, None]
REFUSED_BY_BOTH: list[tuple[str, object]] = [
    *(("report_id", name) for name in NAMES),
    *(("content_type", kind) for kind in KINDS),
    *(("idempotency_key", key) for key in KEYS),
    *(("body_sha256", digest) for digest in DIGESTS),
    ("text", 1),
    ("more", 1),
    ("body_base64", ""),
]
BAD_TARGETS = [
    "report:",
    "other:x",
    "report:a b",
    "report:a\r\nBcc:x",
    "report:\u00e9",
    "report:" + "x" * 301,
    7,
    None,
]


def refused(given: Mapping[str, object]) -> str:
    with pytest.raises(OperationFailed) as refusal:
        read_delivery(given)
    assert refusal.value.effect == "none"
    return refusal.value.code


def test_a_delivery_is_read_as_it_was_given() -> None:
    JUDGE.validate(GOOD)

    read = read_delivery(GOOD)

    assert (read.body, read.file_name, read.target_key) == (b"ok", "weekly-2026-45.html", "report:there")


@pytest.mark.parametrize(("key", "value"), REFUSED_BY_BOTH)
def test_code_and_schema_refuse_the_same(key: str, value: object) -> None:
    given = {**GOOD, key: value}

    assert refused(given) == "input_invalid"
    assert not JUDGE.is_valid(given)


@pytest.mark.parametrize("target", BAD_TARGETS)
def test_a_target_outside_the_contract_has_a_code_of_its_own(target: object) -> None:
    given = {**GOOD, "target_key": target}

    assert refused(given) == "target_invalid"
    assert not JUDGE.is_valid(given)


@pytest.mark.parametrize("key", sorted(GOOD))
def test_nothing_may_be_absent(key: str) -> None:
    given = {name: value for name, value in GOOD.items() if name != key}

    assert refused(given) == "input_invalid"
    assert not JUDGE.is_valid(given)


@pytest.mark.parametrize("key", ["report_id", "target_key", "idempotency_key", "body_sha256"])
def test_a_line_feed_at_the_end_is_not_overlooked(key: str) -> None:
    assert refused({**GOOD, key: GOOD[key] + "\n"}) in {"input_invalid", "target_invalid"}


@pytest.mark.parametrize(
    ("given", "code"),
    [
        ({**GOOD, "report_id": "a..b"}, "input_invalid"),
        ({**GOOD, "body_sha256": "0" * 64}, "body_digest_mismatch"),
        ({**WITHOUT_TEXT, "body_base64": "*"}, "input_invalid"),
        ({**WITHOUT_TEXT, "body_base64": "b2s"}, "input_invalid"),
        ({**WITHOUT_TEXT, "body_base64": "b2s=\n"}, "input_invalid"),
    ],
)
def test_what_a_schema_cannot_say_is_refused_too(given: Json, code: str) -> None:
    assert refused(given) == code


def test_a_probe_asks_after_a_name_and_not_after_a_body() -> None:
    with pytest.raises(OperationFailed):
        read_probe(GOOD)

    named = read_probe({key: GOOD[key] for key in ("report_id", "content_type", "body_sha256", "target_key")})
    assert named.file_name == "weekly-2026-45.html"
