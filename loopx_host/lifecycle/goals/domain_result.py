"""What a provider may answer to a governed read: the v0 result, nothing that acts, nothing private (section 7)."""

from __future__ import annotations

from loopx_host.core.private_material import findings
from loopx_host.documents.governed_result import ACTING_KEYS, ID, KEYS, OBSERVATIONS
from loopx_host.documents.governed_result_v0 import STATUSES
from loopx_host.lifecycle.goals.v0_call import completed, is_v0
from loopx_host.registry.report import kind_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from loopx_host.documents.integration_profile import ProfileOperation

_NAMED = 5  # how many findings a sentence names; all are counted


def fault(result: dict[str, object], invocation_id: str, operation: ProfileOperation) -> str | None:
    """Return, as a clause, why an answer is not the clean result of a read-only operation, or None."""
    if is_v0(operation):
        whole = completed(result)
        wrong = _misfit(whole, invocation_id, operation["result_schema"], STATUSES)
    else:
        whole = result
        wrong = _misfit(whole, invocation_id, ID, STATUSES[:1])
    return wrong or _acting(whole) or _private(result)


def _misfit(
    result: dict[str, object], invocation_id: str, schema_version: object, statuses: tuple[str, ...]
) -> str | None:
    if set(result) != KEYS:
        # A key that nobody knows is counted and not repeated: it is the provider's text, as private as any value.
        lacking, extra = sorted(KEYS - set(result)), len(set(result) - KEYS)
        return f"the result must hold exactly the v0 keys; missing: {', '.join(lacking) or 'none'}, others: {extra}"
    if result["schema_version"] != schema_version:
        return f"the result must have schema_version `{schema_version}`"
    if result["invocation_id"] != invocation_id:
        return "the result is that of another invocation"
    if result["status"] not in statuses:
        return f"the result has status {kind_of(result['status'])}"
    observations = result["observations"]
    if not isinstance(observations, list) or not all(isinstance(one, dict) for one in observations):
        return "the observations must be a list of objects"
    return f"the result holds more than {OBSERVATIONS} observations" if len(observations) > OBSERVATIONS else None


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
