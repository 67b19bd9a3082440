"""The plan of a call: the request, the extension as it stands, the program that would answer."""

from __future__ import annotations

from loopx_host.core.digest import sha256_hex
from loopx_host.lifecycle.extensions.plan import hold_to_plan, plan_digest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from loopx_host.lifecycle.extensions.readiness import Readiness


def held_call_plan(
    verb: str,
    now: Readiness,
    request: bytes,
    expected: str | None,
    *,
    reads: Mapping[str, object] | None = None,
) -> str:
    """Return the plan of sending `request` to a provider; `reads` is what else the call reads, by name.

    Raises Refused `plan_changed` where `expected`, the plan that the caller saw, is another.
    """
    entry = now.entry
    everything = {"request_sha256": sha256_hex(request), **(reads or {})}
    plan = plan_digest(verb, entry.id, entry, to=entry.manifest, candidate=now.program, reads=everything)
    hold_to_plan(plan, expected, entry.id, ("extension", "show", entry.id))
    return plan
