"""What a provider may answer to a governed read: the v0 result, nothing that acts, nothing private (section 7)."""

from __future__ import annotations

from loopx_host.core.private_material import findings
from loopx_host.documents.governed_result import ACTING_KEYS, ID, KEYS
from loopx_host.registry.report import kind_of

_NAMED = 5  # how many findings a sentence names; all are counted


def fault(result: dict[str, object], invocation_id: str) -> str | None:
    """Return, as a clause, why an answer is not the clean result of a read-only operation, or None."""
    if set(result) != KEYS:
        # A key that nobody knows is counted and not repeated: it is the provider's text, as private as any value.
        lacking, extra = sorted(KEYS - set(result)), len(set(result) - KEYS)
        return f"the result must hold exactly the v0 keys; missing: {', '.join(lacking) or 'none'}, others: {extra}"
    if result["schema_version"] != ID:
        return f"the result must have schema_version `{ID}`"
    if result["invocation_id"] != invocation_id:
        return "the result is that of another invocation"
    if result["status"] != "succeeded":
        return f"the result has status {kind_of(result['status'])}"
    observations = result["observations"]
    if not isinstance(observations, list) or not all(isinstance(one, dict) for one in observations):
        return "the observations must be a list of objects"
    return _acting(result) or _private(result)


def _acting(result: dict[str, object]) -> str | None:
    """Return why a result does more than observe: mutations, proposals, an effect receipt, a follow-up."""
    for key in ACTING_KEYS:
        if result[key] != []:
            return f"a read-only operation returns no {key.replace('_', ' ')}"
    if result["effect_receipt"] is not None:
        return "a read-only operation returns no effect receipt"
    if result["follow_up"] != {"kind": "none"}:
        return "a read-only operation asks for no follow-up"
    return None


def _private(result: dict[str, object]) -> str | None:
    found = findings(result)
    if not found:
        return None
    named = ", ".join(f"{one['pointer'] or '/'} ({one['kind']})" for one in found[:_NAMED])
    return f"the result holds private material at {named}"
