"""The execution envelope: exactly what one governed call may do (contract section 7).

Only the capability command makes one, after its domain check; the host derives it anew right before the start, and
the provider holds it to what the host says beside the request, in three variables. Neither is a credential: whoever
can start the provider by hand can write both, and the external system behind it asks for its own authorisation as
ever.
"""

from __future__ import annotations

import re

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
EXPECTED_ID = "LOOPX_EXPECTED_ID"
EXPECTED_REVISION = "LOOPX_EXPECTED_REVISION"
EXPECTED_REQUEST = "LOOPX_EXPECTED_REQUEST_SHA256"

_ACTION = re.compile(execution_envelope.ACTION, re.ASCII)
_REVISION = re.compile("[0-9a-f]{16}")


def action_of(capability_id: str, operation: str, *, publishes: bool = False) -> str:
    """Return the action of one operation of one capability, or of a view that is published under it."""
    return f"capability.{'publish' if publishes else 'invoke'}:{capability_id}.{operation}"


def make_envelope(
    request: Mapping[str, object], *, action: str, scope: Scope, extension_id: str, revision: str
) -> ExecutionEnvelope:
    """Return the envelope of one request.

    Raises Refused `envelope_invalid` for a scope that is too large and an action that is none.
    """
    if len(canonical_bytes(scope)) > SCOPE_BYTES:
        raise _invalid(extension_id, f"the scope is larger than {SCOPE_BYTES} bytes")
    if not _ACTION.fullmatch(action):
        raise _invalid(
            extension_id, "the action is longer than 128 characters, or has others than an action may have"
        )
    return execution_envelope.envelope(
        action=action,
        scope=scope,
        extension_id=extension_id,
        revision=revision,
        request_sha256=request_digest(request),
    )


def envelope_for(request: Mapping[str, object], extension_id: str, revision: str) -> ExecutionEnvelope:
    """Return the one envelope that a request has at one revision of one extension. Raises as `make_envelope`."""
    return make_envelope(
        request,
        action=action_of(
            str(request.get("capability_id")),
            str(request.get("operation")),
            publishes=governed_request.SURFACE_KEY in request,
        ),
        scope=scope_of(request),
        extension_id=extension_id,
        revision=revision,
    )


def request_digest(request: Mapping[str, object]) -> str:
    """Return SHA-256 over the canonical JSON of a request without its envelope."""
    return sha256_hex(canonical_bytes({key: value for key, value in request.items() if key != ENVELOPE_KEY}))


def expectation(request: Mapping[str, object], extension_id: str, revision: str) -> dict[str, str]:
    """Return the variables by which the host tells a provider what it started it for."""
    return {
        EXPECTED_ID: extension_id,
        EXPECTED_REVISION: revision,
        EXPECTED_REQUEST: request_digest(request),
    }


def check_envelope(envelope: object, expected: ExecutionEnvelope) -> None:
    """Refuse an envelope that is not exactly the `expected` one; types count. Raises Refused `envelope_invalid`."""
    subject = expected["extension"]["id"]
    if not isinstance(envelope, dict):
        raise _invalid(subject, "there is none")
    if set(envelope) != set(execution_envelope.KEYS):
        raise _invalid(subject, f"it must hold exactly {', '.join(execution_envelope.KEYS)}")
    wanted: Mapping[str, object] = {**expected}
    for key in execution_envelope.KEYS:
        # As canonical JSON, because `True == 1 == 1.0` in Python.
        if canonical_bytes([envelope[key]]) != canonical_bytes([wanted[key]]):
            raise _invalid(subject, f"its {key} is not that of this call")


def refuse_envelope(request: Mapping[str, object], extension_id: str) -> None:
    """Refuse an envelope where a call has none. Raises Refused `envelope_invalid`."""
    if ENVELOPE_KEY in request:
        raise _invalid(extension_id, "a v0 call that only reads has none")


def expected_by_provider(
    request: Mapping[str, object], extension_id: str, environment: Mapping[str, str]
) -> ExecutionEnvelope:
    """Return the envelope that belongs to a request, as the host's variables and the provider's own id say.

    Nothing is taken from the envelope that the request brings. Raises Refused `envelope_invalid` where a variable is
    absent or says another extension, no revision, or another request.
    """
    revision = environment.get(EXPECTED_REVISION, "")
    if not _REVISION.fullmatch(revision):
        raise _invalid(extension_id, f"{EXPECTED_REVISION} in the environment says no revision")
    for name, value in expectation(request, extension_id, revision).items():
        if environment.get(name) != value:
            raise _invalid(extension_id, f"{name} in the environment does not say this call")
    return envelope_for(request, extension_id, revision)


def scope_of(request: Mapping[str, object]) -> Scope:
    """Return the scope that a request has: its goal, capability and operation, and the references it opens.

    Surface, agent, workspace and delivery stand in it where the request names them.
    """
    references = request.get(governed_request.REFERENCES_KEY)
    names = [one.get("name") for one in references if isinstance(one, dict)] if isinstance(references, list) else []
    scope: Scope = {
        "goal_id": request.get("goal_id"),
        "capability_id": request.get("capability_id"),
        "operation": request.get("operation"),
        "references": names,
    }
    if "surface" in request:
        scope["surface"] = request["surface"]
    if "agent" in request:
        scope["agent"] = request["agent"]
    if "workspace" in request:
        scope["workspace"] = request["workspace"]
    if "delivery" in request:
        scope["delivery"] = request["delivery"]
    return scope


def _invalid(subject: str, why: str) -> Refused:
    return refusal(
        "envelope_invalid", subject, f"the execution envelope of this call to `{subject}` is refused: {why}"
    )
