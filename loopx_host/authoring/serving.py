"""The provider's side of a governed call: read the request, look at its envelope again, answer in the v0 shape.

For providers written in Python. Nothing of the host is asked and nothing is kept: one request in bytes, one
answer in bytes.
"""

from __future__ import annotations

import json

from loopx_host.core.errors import Refused
from loopx_host.core.limits import REQUEST_BYTES
from loopx_host.core.strict_json import JsonViolation, parse_object
from loopx_host.documents import governed_request, governed_result
from loopx_host.documents.governed_request import ENVELOPE_KEY, REFERENCES_KEY
from loopx_host.lifecycle.goals.envelope import check_envelope, expected_by_provider

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import TypeGuard

    from loopx_host.documents.governed_request import GovernedRequest
    from loopx_host.documents.parts import ContextReference

    # (input, reference name → path) → observations, or what was done to the outside
    Operation = Callable[[dict[str, object], dict[str, str]], "Sequence[Mapping[str, object]] | Effect"]
    # (the request to publish, reference name → path) → the view
    View = Callable[[dict[str, object], dict[str, str]], Mapping[str, object]]

PUBLISH_KEY = "publish"


class OperationFailed(Exception):  # noqa: N818 (what an operation says instead of an answer)
    """The operation cannot be done: `code` for programs, one sentence for people.

    `effect` is ``none`` when nothing outside was touched, ``unknown`` when that cannot be told; only an operation
    that writes to the outside has a reason to say the second.
    """

    def __init__(self, code: str, sentence: str, *, effect: str = "none") -> None:
        super().__init__(sentence)
        self.code = code
        self.effect = effect


class Effect:
    """What an operation did to the outside: its receipt, and what was observed on the way."""

    __slots__ = ("observations", "receipt")

    def __init__(
        self, receipt: Mapping[str, object], observations: Sequence[Mapping[str, object]] | None = None
    ) -> None:
        self.receipt = receipt
        self.observations = list(observations or [])


def answer(
    data: bytes | None,
    operations: Mapping[str, Operation],
    *,
    manifest_id: str,
    environment: Mapping[str, str],
    views: Mapping[str, View] | None = None,
) -> bytes:
    """Return the bytes that answer one request; `data` is None for a request that is too large to be read.

    `manifest_id`, `environment` and `views` are those of `loopx_host.serve_operations`. A failure is answered with
    ``ok: false``.
    """
    try:
        request = _request(data)
        surface_id = None if request.get("schema_version") == governed_request.ID else request.get(PUBLISH_KEY)
        if views and surface_id is not None:
            document = _viewed(views, surface_id, request, {})
        else:
            document = _answered(operations, views or {}, _governed(request, manifest_id, environment))
    except OperationFailed as failed:
        document = {"ok": False, "code": failed.code, "error": str(failed), "effect": failed.effect}
    return json.dumps(document).encode("ascii")


def _request(data: bytes | None) -> dict[str, object]:
    if data is None:
        raise OperationFailed("request_too_large", f"the request is larger than {REQUEST_BYTES} bytes")
    try:
        return parse_object(data)
    except JsonViolation as violation:
        raise OperationFailed("request_invalid", f"the request is not one JSON object: {violation}") from None


def _viewed(
    views: Mapping[str, View], surface_id: object, request: dict[str, object], opened: dict[str, str]
) -> dict[str, object]:
    """Return the answer to a request to publish. Raises OperationFailed.

    References are opened by a governed call and nothing else: one that a request to publish names is not believed.
    """
    make = views.get(surface_id) if isinstance(surface_id, str) else None
    if make is None:
        raise OperationFailed("surface_unknown", "this provider has no such surface")
    if REFERENCES_KEY in request:
        raise OperationFailed("request_invalid", "only the call of a goal names context references")
    return {"ok": True, "view": make(request, opened)}


def _answered(
    operations: Mapping[str, Operation], views: Mapping[str, View], request: GovernedRequest
) -> dict[str, object]:
    opened = _paths(request["context_refs"])
    if "surface" in request:
        return _viewed(views, request["surface"], request["input"], opened)
    operation = operations.get(request["operation"])
    if operation is None:
        raise OperationFailed("operation_unknown", "this provider has no such operation")
    done = operation(request["input"], opened)
    effect = done if isinstance(done, Effect) else Effect({}, done)
    return {
        "schema_version": governed_result.ID,
        "invocation_id": request["invocation_id"],
        "status": "succeeded",
        "observations": effect.observations,
        "domain_state_mutations": [],
        "domain_transition_receipts": [],
        "transition_proposals": [],
        "effect_receipt": effect.receipt if isinstance(done, Effect) else None,
        "follow_up": {"kind": "none"},
    }


def _governed(request: dict[str, object], manifest_id: str, environment: Mapping[str, str]) -> GovernedRequest:
    """Return a request that has its shape, and the envelope that belongs to it. Raises OperationFailed."""
    if request.get("schema_version") != governed_request.ID or not governed_request.has_its_keys(request):
        raise OperationFailed("request_invalid", f"the request is no {governed_request.ID}")
    if not _is_readable(request):
        raise OperationFailed("request_invalid", "the request has a value of another type than its schema")
    try:
        check_envelope(request.get(ENVELOPE_KEY), expected_by_provider(request, manifest_id, environment))
    except Refused as refused:
        raise OperationFailed("envelope_invalid", refused.diagnostic.summary) from None
    return request


def _is_readable(request: dict[str, object]) -> TypeGuard[GovernedRequest]:
    """Whether a request has the types that an operation reads it by; the envelope says that it is as it was."""
    return governed_request.has_its_types(request)


def _paths(rows: list[ContextReference]) -> dict[str, str]:
    return {row["name"]: row["path"] for row in rows}
