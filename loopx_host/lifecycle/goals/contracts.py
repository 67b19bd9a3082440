"""A capability's contract, as a package declares it in the host, against the profile of a provider (section 7)."""

from __future__ import annotations

from loopx_host.core.errors import refusal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from loopx_host.lifecycle.goals.capability_providers import CapabilityProvider


def refuse_mismatch(provider: CapabilityProvider, capability_id: str, answers: list[Any]) -> None:
    """Refuse a provider whose operations are not those of the contract.

    `answers` are what the hook `loopx_capability_contracts` returned; contracts of other capabilities do not matter.
    Raises Refused `contract_mismatch`, and `plugin_hook_failed` for an answer that is no list of contracts.
    """
    if not all(isinstance(answer, list) and all(map(_is_contract, answer)) for answer in answers):
        raise refusal(
            "plugin_hook_failed",
            provider.entry.id,
            f"`{provider.entry.id}` declares as its contracts what is no list of contracts",
            hint="a contract has an id and a list of operations, each with an id",
            next_command=("extension", "disable", provider.entry.id, "--execute"),
        )
    for contract in (contract for answer in answers for contract in answer):
        if contract["id"] != capability_id:
            continue
        effects = {operation["id"]: operation.get("effect_class") for operation in contract["operations"]}
        for operation in provider.operations:
            if effects.get(operation["id"]) != operation["effect_class"]:
                raise refusal(
                    "contract_mismatch",
                    provider.entry.id,
                    f"operation `{operation['id']}` of `{provider.entry.id}` is not in the contract of"
                    f" `{capability_id}` as {operation['effect_class']}",
                    hint="a provider implements the contract as it is",
                )


def _is_contract(value: object) -> bool:
    return (
        isinstance(value, dict)
        and isinstance(value.get("id"), str)
        and isinstance(value.get("operations"), list)
        and all(isinstance(row, dict) and isinstance(row.get("id"), str) for row in value["operations"])
    )
