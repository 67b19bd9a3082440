"""The contract of a report sink: what `deliver` and `probe` are given, and what they answer."""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NoReturn

from loopx_host import OperationFailed

CAPABILITY = "report-sink"
PROTOCOL = "loopx_report_sink_v0"
TARGET_PREFIX = "report:"
BODY_BYTES = 500_000
EXTENSIONS = {"text/html": "html", "application/json": "json", "text/plain": "txt"}

ReplayClass = Literal["readable", "unsafe"]

if TYPE_CHECKING:
    from typing import TypedDict

    class EffectReceipt(TypedDict):
        """What is known of a delivery that has happened; `evidence` is the sink's own."""

        delivered: bool
        target_key: str
        replay_class: ReplayClass
        body_sha256: str
        evidence: Mapping[str, object]

    class ProbeObservation(TypedDict):
        """What `probe` saw."""

        target_key: str
        report_id: str
        body_sha256: str
        present: bool
        other_body_present: bool


_REPORT_ID = re.compile(r"[a-z0-9](?:[a-z0-9._-]{0,98}[a-z0-9])?", re.ASCII)
_TARGET = re.compile(r"report:[!-~]{1,300}", re.ASCII)
_KEY = re.compile(r"[!-~]{8,200}", re.ASCII)
_DIGEST = re.compile(r"[0-9a-f]{64}", re.ASCII)

_NAMED = {"report_id", "content_type", "body_sha256", "target_key"}


@dataclass(frozen=True, slots=True)
class Named:
    """A report as a place outside may hold it: its name, its kind and its digest."""

    report_id: str
    content_type: str
    body_sha256: str
    target_key: str

    @property
    def file_name(self) -> str:
        """The name of the report with the suffix of its kind; no separator can be in it."""
        return f"{self.report_id}.{EXTENSIONS[self.content_type]}"


@dataclass(frozen=True, slots=True)
class Delivery(Named):
    """A report to be delivered; `idempotency_key` is the host's name of this one effect."""

    body: bytes
    idempotency_key: str


def read_delivery(given: Mapping[str, object]) -> Delivery:
    """Return the delivery that the input of `deliver` asks for. Raises OperationFailed, before any effect."""
    content = [key for key in ("text", "body_base64") if key in given]
    if set(given) != {*_NAMED, "idempotency_key", *content} or len(content) != 1:
        _refuse("the input holds the five fields of a delivery, and one of text and body_base64")
    named = _named(given)
    key = _matching(_KEY, given["idempotency_key"])
    if key is None:
        _refuse("idempotency_key is 8 to 200 printable ASCII characters without a space")
    body = _body(content[0], given[content[0]])
    if len(body) > BODY_BYTES:
        raise OperationFailed("body_too_large", f"the body is larger than {BODY_BYTES} bytes")
    if hashlib.sha256(body).hexdigest() != named.body_sha256:
        raise OperationFailed("body_digest_mismatch", "body_sha256 is not the digest of the body")
    return Delivery(
        named.report_id,
        named.content_type,
        named.body_sha256,
        named.target_key,
        body,
        key,
    )


def read_probe(given: Mapping[str, object]) -> Named:
    """Return the report that the input of `probe` asks after. Raises OperationFailed."""
    if set(given) != _NAMED:
        _refuse("the input holds report_id, content_type, body_sha256 and target_key")
    return _named(given)


def receipt(delivery: Delivery, replay_class: ReplayClass, evidence: Mapping[str, object]) -> EffectReceipt:
    """Return the effect receipt of a delivery that is known to have happened."""
    return {
        "delivered": True,
        "target_key": delivery.target_key,
        "replay_class": replay_class,
        "body_sha256": delivery.body_sha256,
        "evidence": evidence,
    }


def observation(named: Named, *, present: bool, other: bool) -> ProbeObservation:
    """Return what `probe` saw: these bytes are there, or others have their name, or neither."""
    return {
        "target_key": named.target_key,
        "report_id": named.report_id,
        "body_sha256": named.body_sha256,
        "present": present,
        "other_body_present": other,
    }


def _named(given: Mapping[str, object]) -> Named:
    kind = given["content_type"]
    report_id = _matching(_REPORT_ID, given["report_id"])
    digest, target = _matching(_DIGEST, given["body_sha256"]), _matching(_TARGET, given["target_key"])
    if report_id is None or ".." in report_id:
        _refuse("report_id is at most 100 of a-z 0-9 . _ -, with a letter or digit at both ends and no two dots")
    if not isinstance(kind, str) or kind not in EXTENSIONS:
        _refuse(f"content_type is none of {', '.join(sorted(EXTENSIONS))}")
    if digest is None:
        _refuse("body_sha256 is not 64 lower-case hex digits")
    if target is None:
        raise OperationFailed("target_invalid", f"target_key is not printable ASCII that begins with {TARGET_PREFIX}")
    return Named(report_id, kind, digest, target)


def _body(how: str, content: object) -> bytes:
    if not isinstance(content, str):
        _refuse(f"{how} is not text")
    try:
        return content.encode("utf-8") if how == "text" else base64.b64decode(content, validate=True)
    except (binascii.Error, ValueError):
        _refuse(f"{how} cannot be read")


def _matching(pattern: re.Pattern[str], value: object) -> str | None:
    return value if isinstance(value, str) and pattern.fullmatch(value) else None


def _refuse(sentence: str) -> NoReturn:
    raise OperationFailed("input_invalid", sentence)
