"""Who serves a capability: the extensions that offer it, and the one a caller means (contract section 7)."""

from __future__ import annotations

from loopx_host.core.errors import refusal
from loopx_host.core.permissions import may_write
from loopx_host.core.text import one_line
from loopx_host.lifecycle.extensions.readiness import readiness, why_not_ready
from loopx_host.lifecycle.extensions.refusals import not_installed
from loopx_host.lifecycle.extensions.state import BadEntry
from loopx_host.lifecycle.goals.v0_call import is_v0

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Protocol

    from loopx_host.core.errors import Refused
    from loopx_host.documents.binding import Binding
    from loopx_host.documents.discovery_index import Declares
    from loopx_host.documents.integration_profile import ProfileOperation
    from loopx_host.documents.normal_form import Profile
    from loopx_host.lifecycle.extensions.ports import HasDiscovery, HasPackages, Packages
    from loopx_host.lifecycle.extensions.readiness import Readiness
    from loopx_host.lifecycle.extensions.state import Entry, State

    class ChoicePorts(HasPackages, HasDiscovery, Protocol):
        """What choosing a provider, or saying why there is none, needs."""


READ_ONLY = "read_only"


class CapabilityProvider:
    """One extension that serves a capability over one profile, ready or not."""

    __slots__ = ("entry", "profile", "readiness")

    def __init__(self, profile: Profile, now: Readiness) -> None:
        self.entry = now.entry
        self.profile = profile
        self.readiness = now

    @property
    def operations(self) -> list[ProfileOperation]:
        """The operations of the profile."""
        return list(self.profile["document"]["operations"])

    @property
    def protocol(self) -> str:
        """The protocol of the profile."""
        return str(self.profile["document"]["protocol"])

    def operation(self, operation_id: str) -> ProfileOperation | None:
        """Return one operation of the profile, or None."""
        return next((operation for operation in self.operations if operation["id"] == operation_id), None)


def providers_of(capability_id: str, state: State, packages: Packages) -> list[CapabilityProvider]:
    """Return every installed extension that serves a capability, by id, ready or not.

    One that provides it brings the profile; one that implements it speaks the profile of whoever provides it.
    """
    entries = [entry for entry in state.entries() if not isinstance(entry, BadEntry)]
    providers: list[CapabilityProvider] = []
    for entry in entries:  # the state has them by id
        profile = _own_profile(entry, capability_id) or _implemented(entry, capability_id, entries)
        if profile is not None:
            providers.append(CapabilityProvider(profile, readiness(entry, packages)))
    return providers


def choose_provider(
    capability_id: str, providers: list[CapabilityProvider], provider_id: str | None, ports: ChoicePorts
) -> CapabilityProvider:
    """Return the one enabled and ready provider, or the one a caller names.

    Raises Refused: `capability_unavailable`, `capability_ambiguous`, and `package_not_installed` where the release
    train has what is missing.
    """
    shown = one_line(capability_id, 60)
    named = [provider for provider in providers if provider_id in (None, provider.entry.id)]
    ready = [provider for provider in named if provider.readiness.is_ready]
    if not ready:
        raise _unavailable(shown, named) if providers else _absent(capability_id, shown, ports)
    if len(ready) > 1:
        owners = ", ".join(f"`{provider.entry.id}`" for provider in ready)
        raise refusal(
            "capability_ambiguous",
            shown,
            f"capability `{shown}` is served by {owners}; which one is yours to say",
            hint="name one with --provider, or disable the others",
            next_command=("extension", "disable", ready[-1].entry.id, "--execute"),
        )
    return ready[0]


def drift_of(binding: Binding, provider: CapabilityProvider | None) -> str | None:
    """Return how a provider differs from the one a goal was bound to, as a clause; None where it does not."""
    bound = binding["provider"]
    if provider is None:
        return "its provider is not installed"
    if provider.entry.active.id != bound["revision"]:
        return f"its provider is at revision {provider.entry.active.id}"
    if provider.profile["digest"] != bound["profile_digest"]:
        return "its provider has another profile"
    return None


def refuse_unowned(provider: CapabilityProvider) -> None:
    """Refuse a provider that no installed distribution carries (requirement X17). Raises `provider_unowned`."""
    if not provider.readiness.is_owned:
        raise refusal(
            "provider_unowned",
            provider.entry.id,
            f"no installed distribution carries the command of `{provider.entry.id}`, so it serves no capability",
            hint="install it as a package",
        )


def refuse_contradiction(extension_id: str, operation: ProfileOperation) -> None:
    """Refuse an operation that says it only reads and asks for a permission that writes.

    No such profile is accepted now; a state of an earlier release can hold one. The permissions of a v0 profile are
    words of its domain and judge nothing. Raises Refused `effect_contradicted`.
    """
    if is_v0(operation):
        return
    if operation["effect_class"] == READ_ONLY and may_write(operation["required_permission"]):
        name, token = one_line(operation["id"], 60), one_line(operation["required_permission"], 80)
        raise refusal(
            "effect_contradicted",
            name,
            f"operation `{name}` of `{extension_id}` is {READ_ONLY} and would be given `{token}`, which writes",
            hint="upgrade the extension to a profile that says what it does",
            next_command=("extension", "upgrade", extension_id),
        )


def _own_profile(entry: Entry, capability_id: str) -> Profile | None:
    for capability in entry.manifest.capabilities:
        profile = capability.get("integration_profile")
        if capability["id"] == capability_id and profile is not None:
            return profile
    return None


def _implemented(entry: Entry, capability_id: str, entries: list[Entry]) -> Profile | None:
    """Return the profile of an implementation: its own, else that of whoever provides the capability."""
    for row in entry.manifest.implementations:
        if row["capability_id"] != capability_id:
            continue
        profile = row.get("integration_profile")
        if profile is not None:
            return profile
        profiles = (_own_profile(other, capability_id) for other in entries)
        same = (one for one in profiles if one is not None and one["document"]["protocol"] == row["protocol"])
        return next(same, None)
    return None


def _absent(capability_id: str, shown: str, ports: ChoicePorts) -> Refused:
    """Return the refusal for a capability nothing serves: not trusted, its package missing, or unknown."""
    rows, _ = ports.discovery.offers(rebuild=False)
    for row in rows:
        if row["declares"] and _declares(row["declares"], capability_id):
            return refusal(
                "capability_unavailable",
                shown,
                f"capability `{shown}` comes with the extension `{row['id']}`, which nobody trusted yet",
                hint="trust it",
                next_command=("extension", "install", str(row["id"])),
                reason="extension_not_installed",
            )
    member = next(
        (member for member in ports.discovery.train() if _declares(member["declares"], capability_id)), None
    )
    if member is None:
        return _unavailable(shown, [])
    return not_installed(shown, f"capability `{shown}`", member, ports.packages)


def _declares(declares: Declares, capability_id: str) -> bool:
    """Whether an offer, or a member of the train, declares a capability."""
    return any(capability["id"] == capability_id for capability in declares["capabilities"])


def _unavailable(shown: str, named: list[CapabilityProvider]) -> Refused:
    if not named:
        return refusal(
            "capability_unavailable",
            shown,
            f"no installed extension serves capability `{shown}` under a profile",
            hint="see what there is, and how to get it",
            next_command=("capability", "list"),
        )
    first = why_not_ready(named[0].readiness)
    return refusal(
        "capability_unavailable",
        shown,
        f"no provider of capability `{shown}` is ready: {first.diagnostic.summary}",
        hint=first.diagnostic.hint,
        next_command=first.diagnostic.next_command or ("capability", "show", shown),
        reason=first.code,
    )
