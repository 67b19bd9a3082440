"""What one governed call did outside, and whether something held it to that or its provider only declared it."""

from __future__ import annotations

from loopx_host.core.permissions import NET_CONNECT, may_write

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NotRequired, TypedDict

    from loopx_host.documents.parts import Containment

    class Effects(TypedDict):
        """What happened, as far as what was granted lets it happen.

        `basis` is ``enforced`` where the sandbox held, or nothing was started; ``declared`` where the provider could
        have done more than this says, and only its profile says that it does not. v0 did not say.
        """

        provider_invoked: bool
        external_write_performed: bool
        loopx_state_written: bool
        quota_spent: bool
        basis: NotRequired[str]


ENFORCED, DECLARED = BASES = ("enforced", "declared")
# What has to hold so that a process leaves nothing outside of its private directory.
_HOLDING = ("network", "file_writes", "file_attributes")


def of_nothing() -> Effects:
    """Return the effects of a call that started nothing."""
    return of_call(None, invoked=False, settled=False, containment={})


def of_call(permission: str | None, *, invoked: bool, settled: bool, containment: Containment) -> Effects:
    """Return the effects of a call that was granted `permission`.

    `invoked` says that its provider was started, `settled` that the host recorded the call against a turn: only then
    it writes state of its own or spends quota. A provider that may write to the outside counts as having written.
    """
    is_held = not invoked or (permission != NET_CONNECT and _holds(containment))
    return {
        "provider_invoked": invoked,
        "external_write_performed": invoked and permission is not None and may_write(permission),
        "loopx_state_written": settled,
        "quota_spent": settled,
        "basis": ENFORCED if is_held else DECLARED,
    }


def with_state_written(said: Effects) -> Effects:
    """Return the effects of a call after which the host kept something."""
    return {**said, "loopx_state_written": True}


def schema() -> dict[str, object]:
    """Return the JSON Schema of effects."""
    from loopx_host.documents import words

    said = ("provider_invoked", "external_write_performed", "loopx_state_written", "quota_spent")
    fields: dict[str, object] = dict.fromkeys(said, words.BOOLEAN)
    return words.object_of(fields, {"basis": {"enum": list(BASES)}}, closed=True)


def _holds(containment: Containment) -> bool:
    """Whether a sandbox kept the process from leaving anything outside, beyond what was granted."""
    rows = {row["limit"]: row["enforced"] for row in containment.get("limits", [])}
    return all(rows.get(name, False) for name in _HOLDING)
