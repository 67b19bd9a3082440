"""What a provider answers to a governed read: observations, and nothing that acts."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypedDict

    class FollowUp(TypedDict):
        """What a provider asks for next; a read asks for nothing, `none`."""

        kind: str

    class GovernedResult(TypedDict):
        """Exactly these keys; everything after the observations is empty in the answer to a read."""

        schema_version: str
        invocation_id: str
        status: str
        observations: list[dict[str, object]]
        domain_state_mutations: list[object]
        domain_transition_receipts: list[object]
        transition_proposals: list[object]
        effect_receipt: None
        follow_up: FollowUp


ID = "loopx_external_domain_capability_result_v0"
OBSERVATIONS = 64
ACTING_KEYS = ("domain_state_mutations", "domain_transition_receipts", "transition_proposals")
KEYS = frozenset(
    {"schema_version", "invocation_id", "status", "observations", *ACTING_KEYS, "effect_receipt", "follow_up"}
)


def schema() -> dict[str, object]:
    """Return the JSON Schema of the clean answer to a read-only operation."""
    from loopx_host.documents import words

    nothing: dict[str, object] = {"type": "array", "maxItems": 0}
    return words.object_of(
        {
            "schema_version": {"const": ID},
            "invocation_id": words.TEXT,
            "status": {"const": "succeeded"},
            "observations": {"type": "array", "maxItems": OBSERVATIONS, "items": words.OBJECT},
            **dict.fromkeys(ACTING_KEYS, nothing),
            "effect_receipt": {"type": "null"},
            "follow_up": words.object_of({"kind": {"const": "none"}}, closed=True),
        },
        closed=True,
    )
