"""A governed read by a plain v0 package: what the caller gives, what its provider is asked, what it may answer.

Such a profile has tokens where ours has JSON Schemas: the `schema_version` of its requests and of its results.
"""

from __future__ import annotations

import re

from loopx_host.core.canonical import canonical_digest
from loopx_host.core.errors import refusal
from loopx_host.documents import governed_request_v0 as document
from loopx_host.documents.governed_result_v0 import ABSENT, NO_FOLLOW_UPS
from loopx_host.lifecycle.goals.bindings import binding_digest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from loopx_host.documents.binding import Binding
    from loopx_host.documents.governed_request_v0 import GovernedRequestV0, ProviderInput
    from loopx_host.documents.integration_profile import ProfileOperation

_ID_DIGITS = 24
_DIGEST = re.compile("sha256:[0-9a-f]{64}")


def is_v0(operation: ProfileOperation) -> bool:
    """Whether an operation stands in a v0 profile; the form tells, for a state may hold ours under the id of v0."""
    return isinstance(operation["request_schema"], str)


def provider_input(operation_id: str, payload: dict[str, object]) -> ProviderInput:
    """Return what the caller gives to a v0 provider. Raises Refused `request_invalid`."""
    wrong = _wrong_input(payload)
    if wrong is not None:
        raise refusal(
            "request_invalid",
            operation_id,
            f"the input of `{operation_id}`, which a v0 profile describes, {wrong}",
            hint="give one object of context_refs and input",
        )
    followed: Any = payload  # every key and type was looked at
    given: ProviderInput = followed
    return given


def request_document(binding: Binding, operation: ProfileOperation, given: ProviderInput) -> GovernedRequestV0:
    """Return the request of a read; its id follows from what is asked and nothing else."""
    bound = binding_digest(binding)
    content = {
        "goal_binding_digest": bound,
        "capability_id": binding["capability_id"],
        "operation": operation["id"],
        "provider_input_digest": f"sha256:{canonical_digest(given)}",
    }
    return document.request(
        token=str(operation["request_schema"]),
        invocation_id=f"capability-{canonical_digest(content)[:_ID_DIGITS]}",
        binding=binding,
        binding_digest=bound,
        operation=operation["id"],
        given=given,
    )


def completed(result: dict[str, object]) -> dict[str, object]:
    """Return an answer with what a v0 provider may leave out of it, or say with nothing in it."""
    whole = {**ABSENT, **result}
    return whole if whole["follow_up"] not in NO_FOLLOW_UPS else {**whole, "follow_up": ABSENT["follow_up"]}


def _wrong_input(payload: dict[str, object]) -> str | None:
    if set(payload) != document.INPUT_KEYS:
        return "must hold exactly context_refs and input"
    rows = payload["context_refs"]
    if not isinstance(rows, list) or not 1 <= len(rows) <= document.REFERENCES:
        return f"must list 1 to {document.REFERENCES} context_refs"
    if not all(_is_reference(row) for row in rows):
        return "has a row of context_refs that is not exactly kind, ref and digest, the last as sha256:…"
    return None if isinstance(payload["input"], dict) else "has an input that is no object"


def _is_reference(row: object) -> bool:
    return (
        isinstance(row, dict)
        and set(row) == document.REFERENCE_KEYS
        and all(isinstance(value, str) and value for value in row.values())
        and _DIGEST.fullmatch(row["digest"]) is not None
    )
