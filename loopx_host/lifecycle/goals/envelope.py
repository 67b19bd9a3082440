"""The execution envelope: exactly what one governed call may do (contract section 7).

Only the capability command makes one, after its domain check; the host looks at it again right before the start and
the provider before it works. It is a binding and no credential: whoever can start the provider by hand can write
one, and the external system behind it asks for its own authorisation as ever.
"""

from __future__ import annotations

from loopx_host.core.canonical import canonical_bytes
from loopx_host.core.digest import sha256_hex
from loopx_host.core.errors import refusal
from loopx_host.core.limits import SCOPE_BYTES
from loopx_host.documents import execution_envelope, governed_request

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from loopx_host.core.errors import Refused
    from loopx_host.documents.execution_envelope import ExecutionEnvelope, Scope

ENVELOPE_KEY = governed_request.ENVELOPE_KEY


def action_of(capability_id: str, operation: str) -> str:
    """Return the action of one operation of one capability."""
    return f"capability.invoke:{capability_id}.{operation}"


def make_envelope(
    request: Mapping[str, object], *, action: str, scope: Scope, extension_id: str, revision: str
) -> ExecutionEnvelope:
    """Return the envelope of one request. Raises Refused `envelope_invalid` for a scope that is too large."""
    if len(canonical_bytes(scope)) > SCOPE_BYTES:
        raise _invalid(extension_id, f"the scope is larger than {SCOPE_BYTES} bytes")
    return execution_envelope.envelope(
        action=action,
        scope=scope,
        extension_id=extension_id,
        revision=revision,
        request_sha256=request_digest(request),
    )


def request_digest(request: Mapping[str, object]) -> str:
    """Return SHA-256 over the canonical JSON of a request without its envelope."""
    return sha256_hex(canonical_bytes({key: value for key, value in request.items() if key != ENVELOPE_KEY}))


def check_envelope(envelope: object, expected: Mapping[str, object]) -> None:
    """Refuse an envelope that is not exactly the `expected` one; types count. Raises Refused `envelope_invalid`."""
    subject = str(expected["extension_id"])
    if not isinstance(envelope, dict):
        raise _invalid(subject, "there is none")
    if set(envelope) != set(execution_envelope.KEYS):
        raise _invalid(subject, f"it must hold exactly {', '.join(execution_envelope.KEYS)}")
    for key in execution_envelope.KEYS:
        # As canonical JSON, because `True == 1 == 1.0` in Python.
        if canonical_bytes([envelope[key]]) != canonical_bytes([expected[key]]):
            raise _invalid(subject, f"its {key} is not that of this call")


def expected_by_provider(request: Mapping[str, object], extension_id: str) -> ExecutionEnvelope:
    """Return the envelope that belongs to a request as its provider sees it; the revision is the host's affair."""
    given = request.get(ENVELOPE_KEY)
    revision = given.get("revision") if isinstance(given, dict) else None
    return make_envelope(
        request,
        action=action_of(str(request.get("capability_id")), str(request.get("operation"))),
        scope=scope_of(request),
        extension_id=extension_id,
        revision=revision if isinstance(revision, str) else "",
    )


def scope_of(request: Mapping[str, object]) -> Scope:
    """Return the scope that a request has: its goal, capability and operation, and the references it opens."""
    references = request.get(governed_request.REFERENCES_KEY)
    names = [one.get("name") for one in references if isinstance(one, dict)] if isinstance(references, list) else []
    return {
        "goal_id": request.get("goal_id"),
        "capability_id": request.get("capability_id"),
        "operation": request.get("operation"),
        "references": names,
    }


def _invalid(subject: str, why: str) -> Refused:
    return refusal(
        "envelope_invalid", subject, f"the execution envelope of this call to `{subject}` is refused: {why}"
    )
