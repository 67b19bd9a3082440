"""What a plain v0 provider answers to a governed read: at most these keys, and nothing that acts."""

from __future__ import annotations

from loopx_host.documents.governed_result import ACTING_KEYS, KEYS, OBSERVATIONS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NotRequired, TypedDict

    class GovernedResultV0(TypedDict):
        """At most these keys; everything after the observations is empty in the answer to a read."""

        schema_version: str
        invocation_id: str
        status: str
        observations: NotRequired[list[dict[str, object]]]
        domain_state_mutations: NotRequired[list[object]]
        domain_transition_receipts: NotRequired[list[object]]
        transition_proposals: NotRequired[list[object]]
        effect_receipt: NotRequired[None]
        follow_up: NotRequired[dict[str, object] | None]


REQUIRED = ("schema_version", "invocation_id", "status")
STATUSES = ("succeeded", "no_change")
ABSENT: dict[str, object] = {  # what an answer says that leaves these out
    "observations": [],
    **{key: [] for key in ACTING_KEYS},
    "effect_receipt": None,
    "follow_up": {"kind": "none"},
}
NO_FOLLOW_UPS: tuple[object, ...] = (None, {}, {"kind": "none"})


def schema() -> dict[str, object]:
    """Return the JSON Schema of the clean answer of a v0 provider; `schema_version` is the profile's result token."""
    from loopx_host.documents import words

    nothing: dict[str, object] = {"type": "array", "maxItems": 0}
    fields: dict[str, object] = {
        "schema_version": words.TEXT,
        "invocation_id": words.TEXT,
        "status": {"enum": list(STATUSES)},
        "observations": {"type": "array", "maxItems": OBSERVATIONS, "items": words.OBJECT},
        **dict.fromkeys(ACTING_KEYS, nothing),
        "effect_receipt": {"type": "null"},
        "follow_up": {"type": ["object", "null"], "properties": {"kind": {"const": "none"}}, "maxProperties": 1},
    }
    optional = {key: fields[key] for key in sorted(KEYS - set(REQUIRED))}
    return words.object_of({key: fields[key] for key in REQUIRED}, optional, closed=True)
