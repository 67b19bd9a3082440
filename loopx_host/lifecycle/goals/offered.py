"""Who serves a capability: the extensions that offer it, and the one a caller means (contract section 7)."""

from __future__ import annotations

from loopx_host.core.errors import refuse
from loopx_host.core.text import one_line
from loopx_host.lifecycle.extensions.readiness import readiness, refusal
from loopx_host.lifecycle.extensions.state import BadEntry

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from loopx_host.core.errors import Refused
    from loopx_host.lifecycle.extensions.ports import Discovery, Packages
    from loopx_host.lifecycle.extensions.readiness import Readiness
    from loopx_host.lifecycle.extensions.state import Entry, State


class Offer:
    """One extension that serves a capability over one profile; `found` is whether it is ready."""

    __slots__ = ("entry", "found", "profile")

    def __init__(self, entry: Entry, profile: dict[str, Any], found: Readiness) -> None:
        self.entry = entry
        self.profile = profile
        self.found = found

    @property
    def operations(self) -> list[dict[str, Any]]:
        """The operations of the profile."""
        return list(self.profile["document"]["operations"])

    @property
    def protocol(self) -> str:
        """The protocol of the profile."""
        return str(self.profile["document"]["protocol"])

    def operation(self, operation_id: str) -> dict[str, Any] | None:
        """Return one operation of the profile, or None."""
        return next((one for one in self.operations if one["id"] == operation_id), None)


def offers(capability_id: str, state: State, packages: Packages) -> list[Offer]:
    """Return every installed extension that serves a capability, by id, ready or not.

    One that provides it brings the profile; one that implements it speaks the profile of whoever provides it.
    """
    entries = [entry for entry in state.entries() if not isinstance(entry, BadEntry)]
    found: list[Offer] = []
    for entry in sorted(entries, key=lambda one: one.id):
        profile = _own_profile(entry, capability_id) or _implemented(entry, capability_id, entries)
        if profile is not None:
            found.append(Offer(entry, profile, readiness(entry, packages)))
    return found


def chosen(
    capability_id: str, found: list[Offer], provider_id: str | None, packages: Packages, discovery: Discovery
) -> Offer:
    """Return the one enabled and ready offer, or that of the provider a caller names.

    Raises Refused: `capability_unavailable`, `capability_ambiguous`, and `package_not_installed` where the release
    train has what is missing.
    """
    shown = one_line(capability_id, 60)
    named = [one for one in found if provider_id in (None, one.entry.id)]
    ready = [one for one in named if one.found.is_ready]
    if not ready:
        raise _unavailable(shown, named) if found else _absent(capability_id, shown, packages, discovery)
    if len(ready) > 1:
        owners = ", ".join(f"`{one.entry.id}`" for one in ready)
        raise refuse(
            "capability_ambiguous",
            shown,
            f"capability `{shown}` is served by {owners}; which one is yours to say",
            hint="name one with --provider, or disable the others",
            next_command=("extension", "disable", ready[-1].entry.id, "--execute"),
        )
    return ready[0]


def refuse_unowned(offer: Offer, packages: Packages) -> None:
    """Refuse a provider that no installed distribution carries (requirement X17). Raises `provider_unowned`."""
    if offer.found.target is None or packages.owner(offer.found.target) is None:
        raise refuse(
            "provider_unowned",
            offer.entry.id,
            f"no installed distribution carries the command of `{offer.entry.id}`, so it serves no capability",
            hint="install it as a package",
        )


def _own_profile(entry: Entry, capability_id: str) -> dict[str, Any] | None:
    for one in entry.manifest.capabilities:
        profile: dict[str, Any] | None = one.get("integration_profile")
        if one["id"] == capability_id and profile is not None:
            return profile
    return None


def _implemented(entry: Entry, capability_id: str, entries: list[Entry]) -> dict[str, Any] | None:
    """Return the profile of an implementation: its own, else that of whoever provides the capability."""
    for row in entry.manifest.implementations:
        if row["capability_id"] != capability_id:
            continue
        profile: dict[str, Any] | None = row.get("integration_profile")
        if profile is not None:
            return profile
        profiles = (_own_profile(other, capability_id) for other in entries)
        same = (one for one in profiles if one is not None and one["document"]["protocol"] == row["protocol"])
        return next(same, None)
    return None


def _absent(capability_id: str, shown: str, packages: Packages, discovery: Discovery) -> Refused:
    """Return the refusal for a capability nothing serves: not trusted, its package missing, or unknown."""
    rows, _ = discovery.offers(rebuild=False)
    for row in rows:
        declared = row["declares"] or {"capabilities": []}
        if any(one["id"] == capability_id for one in declared["capabilities"]):
            return refuse(
                "capability_unavailable",
                shown,
                f"capability `{shown}` comes with the extension `{row['id']}`, which nobody trusted yet",
                hint="trust it",
                next_command=("extension", "install", row["id"]),
                reason="extension_not_installed",
            )
    train = discovery.train()
    members = (one for one in train if any(row["id"] == capability_id for row in one["declares"]["capabilities"]))
    member = next(members, None)
    if member is None:
        return _unavailable(shown, [])
    command = packages.pip_command({"name": member["distribution"], "version": member["version"]})
    return refuse(
        "package_not_installed",
        shown,
        f"capability `{shown}` comes with the package {member['distribution']}, which is not installed",
        hint=f"bring it with: {command}",
        install_package=command,
    )


def _unavailable(shown: str, named: list[Offer]) -> Refused:
    if not named:
        return refuse(
            "capability_unavailable",
            shown,
            f"no installed extension serves capability `{shown}` under a profile",
            hint="see what there is, and how to get it",
            next_command=("capability", "list"),
        )
    first = refusal(named[0].entry, named[0].found)
    return refuse(
        "capability_unavailable",
        shown,
        f"no provider of capability `{shown}` is ready: {first.diagnostic.summary}",
        hint=first.diagnostic.hint,
        next_command=first.diagnostic.next_command or ("capability", "show", shown),
        reason=first.code,
    )
