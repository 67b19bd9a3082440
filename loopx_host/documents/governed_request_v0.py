"""What a plain v0 provider reads of a governed call; a call that only reads carries no envelope."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypedDict

    from loopx_host.documents.binding import Binding, BoundProvider

    class OpaqueReference(TypedDict):
        """What the caller refers to: a word of its domain and its digest, neither opened nor read by the host."""

        kind: str
        ref: str
        digest: str

    class ProviderInput(TypedDict):
        """What the caller gives: exactly these keys."""

        context_refs: list[OpaqueReference]
        input: dict[str, object]

    class RequestGoal(TypedDict):
        """The goal, and the digest of what binds it."""

        goal_id: str
        capability_binding_digest: str

    class GovernedRequestV0(TypedDict):
        """Exactly these keys; `schema_version` is the request token of the profile."""

        schema_version: str
        invocation_id: str
        capability_id: str
        operation: str
        goal: RequestGoal
        provider: BoundProvider
        context_refs: list[OpaqueReference]
        input: dict[str, object]


INPUT_KEYS = {"context_refs", "input"}
REFERENCE_KEYS = {"kind", "ref", "digest"}
REFERENCES = 32


def request(
    *, token: str, invocation_id: str, binding: Binding, binding_digest: str, operation: str, given: ProviderInput
) -> GovernedRequestV0:
    """Return the request of a call that only reads."""
    return {
        "schema_version": token,
        "invocation_id": invocation_id,
        "capability_id": binding["capability_id"],
        "operation": operation,
        "goal": {"goal_id": binding["goal_id"], "capability_binding_digest": binding_digest},
        "provider": binding["provider"],
        "context_refs": given["context_refs"],
        "input": given["input"],
    }


def schema() -> dict[str, object]:
    """Return the JSON Schema of a v0 request as its provider reads it."""
    from loopx_host.documents import binding, words

    reference = words.object_of({"kind": words.TEXT, "ref": words.TEXT, "digest": words.DIGEST}, closed=True)
    goal = words.object_of({"goal_id": words.TEXT, "capability_binding_digest": words.DIGEST}, closed=True)
    return words.object_of(
        {
            "schema_version": words.TEXT,
            "invocation_id": {"type": "string", "pattern": "^capability-[0-9a-f]{24}$"},
            "capability_id": words.TEXT,
            "operation": words.TEXT,
            "goal": goal,
            "provider": binding.provider_schema(),
            "context_refs": {"type": "array", "minItems": 1, "maxItems": REFERENCES, "items": reference},
            "input": words.OBJECT,
        },
        closed=True,
    )
