"""What the host sends to a provider for one governed call, for the tests of whoever writes providers."""

from __future__ import annotations

from loopx_host.core.canonical import canonical_digest
from loopx_host.core.strict_json import JsonViolation, parse_object
from loopx_host.documents import governed_request as document
from loopx_host.lifecycle.goals.envelope import envelope_for, expectation

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from loopx_host.documents.governed_request import GovernedRequest

_ID_DIGITS = 24


def governed_request(
    extension_id: str,
    capability_id: str,
    operation: str,
    input: Mapping[str, object],  # noqa: A002 (the word of the request)
    *,
    protocol: str,
    goal_id: str = "goal",
    references: Mapping[str, str] | None = None,
    revision: str = "0" * 16,
    surface: str | None = None,
) -> GovernedRequest:
    """Return the request as the host would send it, bound to `extension_id` by its execution envelope.

    Nothing is bound, looked up or checked against a profile: this is what a provider reads, for its own tests.
    `references` maps names to absolute paths; `revision` is that of the provider's manifest, 16 hex digits; with a
    `surface` the request asks for the view that is published there. Raises
    Refused `envelope_invalid` for a scope that is too large.
    """
    given = dict(input)
    rows = document.references(dict(references or {}))
    unbound = document.request(
        invocation_id=f"capability-{canonical_digest([goal_id, operation, given, rows])[:_ID_DIGITS]}",
        goal_id=goal_id,
        capability_id=capability_id,
        operation=operation,
        protocol=protocol,
        asked=given,
        references=rows,
        surface=surface,
    )
    return document.sealed(unbound, envelope_for(unbound, extension_id, revision))


def governed_environment(request: GovernedRequest) -> dict[str, str]:
    """Return the variables that the host sets for the provider of a request of `governed_request`.

    A provider refuses a request that they do not agree with; they say what was asked and are no credential.
    """
    extension = request["execution_envelope"]["extension"]
    return expectation(request, extension["id"], extension["revision"])


def environment_of(data: bytes) -> dict[str, str]:
    """Return the variables that the host would set with a request; none for one without an envelope."""
    try:
        request = parse_object(data)
    except JsonViolation:
        return {}
    envelope = request.get(document.ENVELOPE_KEY)
    extension = envelope.get("extension") if isinstance(envelope, dict) else None
    named = [extension.get(key) for key in ("id", "revision")] if isinstance(extension, dict) else []
    texts = [value for value in named if isinstance(value, str)]
    return expectation(request, *texts) if len(texts) == len(named) > 0 else {}
