"""The capability catalogue: who declares what, and how far each is from being usable.

A pure function of manifests and activation facts; its rows stand in `documents.capability_catalog` and
`documents.capability_detail`.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TypedDict

    from loopx_host.documents.capability_catalog import CapabilityRows, CatalogCapability, CatalogProvider
    from loopx_host.documents.capability_detail import DetailedCapability, OperationRow
    from loopx_host.documents.discovery_index import Declares
    from loopx_host.documents.normal_form import Capability, Profile
    from loopx_host.documents.parts import Facts
    from loopx_host.registry.manifest import Manifest

    class TrainMember(TypedDict):
        """One extension of the release train, with the distribution that carries it and the commands it brings."""

        distribution: str
        version: str
        extension_id: str
        commands: list[str]
        declares: Declares


CORE_PROVIDER = "loopx-core"


class Declaration:
    """What a catalogue shows of a manifest that is not installed: from the index, or from the release train."""

    __slots__ = ("capabilities", "id", "implementations", "permissions", "requires_loopx_api", "version")

    def __init__(self, extension_id: str, version: str, declares: Declares) -> None:
        self.id = extension_id
        self.version = version
        self.requires_loopx_api = declares["requires_loopx_api"]
        self.permissions = declares["permissions"]
        self.capabilities = declares["capabilities"]
        self.implementations = declares["implementations"]


class Provider:
    """One manifest with the facts of its activation; `reason` and `next_command` say what is in the way.

    `install_package` is the command that would bring a package that is not there; it is shown and never run.
    """

    __slots__ = ("enabled", "install_package", "installed", "manifest", "next_command", "ready", "reason")

    def __init__(
        self,
        manifest: Manifest | Declaration,
        *,
        installed: bool,
        enabled: bool,
        ready: bool,
        reason: str | None,
        next_command: tuple[str, ...] | None,
        install_package: str | None = None,
    ) -> None:
        self.install_package = install_package
        self.manifest = manifest
        self.installed = installed
        self.enabled = enabled and installed
        self.ready = ready and enabled and installed
        self.reason = reason
        self.next_command = next_command

    def switch_off(self) -> None:
        """Say that the host runs bare: what would be ready is not, and why."""
        if self.ready:
            self.ready, self.reason, self.next_command = False, "extensions_off", None

    @property
    def state(self) -> Facts:
        """The four facts; each implies the one before it."""
        return {"declared": True, "installed": self.installed, "enabled": self.enabled, "ready": self.ready}


def catalog(providers: list[Provider]) -> CapabilityRows:
    """Return the rows of capabilities and providers, by id; internal capabilities are not listed."""
    ordered = sorted(providers, key=lambda provider: provider.manifest.id)
    shown = [(capability, provider) for capability, provider in _declared(ordered) if _is_public(capability)]
    owners, implementations = _owners(ordered), _implementations(ordered)
    return {
        "capabilities": [_row(capability, provider, owners, implementations) for capability, provider in shown],
        "providers": [_core(), *(_provider(provider) for provider in ordered)],
    }


def detail(capability_id: str, providers: list[Provider]) -> DetailedCapability | None:
    """Return one public capability with the state of its provider, or None."""
    for capability, provider in _declared(providers):
        if capability["id"] == capability_id and _is_public(capability):
            profile = capability.get("integration_profile")
            shown: Any = {key: value for key, value in capability.items() if key != "integration_profile"}
            shown |= {
                "operations": _operations(profile) if profile else [],
                "provider_state": provider.state,
                "reason": provider.reason,
                "next_command": provider.next_command,
                "install_package": provider.install_package,
                "also_declared_by": _others(capability_id, provider.manifest.id, _owners(providers)),
            }
            row: DetailedCapability = shown  # and what else a state file of another version has beside it
            return row
    return None


def _owners(providers: list[Provider]) -> dict[str, list[str]]:
    """Return capability id → who declares it: a second one cannot be installed, and both are named."""
    owners: dict[str, list[str]] = {}
    for capability, provider in _declared(providers):
        owners.setdefault(capability["id"], []).append(provider.manifest.id)
    return owners


def _implementations(providers: list[Provider]) -> dict[str, list[tuple[str, str]]]:
    """Return capability id → (who implements it, over which protocol)."""
    implementing: dict[str, list[tuple[str, str]]] = {}
    for provider in providers:
        for row in provider.manifest.implementations:
            implementing.setdefault(row["capability_id"], []).append((provider.manifest.id, row["protocol"]))
    return implementing


def _others(capability_id: str, provider_id: str, owners: dict[str, list[str]]) -> list[str]:
    return sorted(owner for owner in owners.get(capability_id, []) if owner != provider_id)


def _operations(profile: Profile) -> list[OperationRow]:
    """Return what a caller can ask for under a profile."""
    return [
        {
            "id": operation["id"],
            "effect_class": operation["effect_class"],
            "required_permission": operation["required_permission"],
        }
        for operation in profile["document"]["operations"]
    ]


def _declared(providers: list[Provider]) -> list[tuple[Capability, Provider]]:
    pairs = [(capability, provider) for provider in providers for capability in provider.manifest.capabilities]
    return sorted(pairs, key=lambda pair: str(pair[0]["id"]))


def _is_public(capability: Capability) -> bool:
    return capability.get("visibility") == "public"


def _row(
    capability: Capability,
    provider: Provider,
    owners: dict[str, list[str]],
    implementing: dict[str, list[tuple[str, str]]],
) -> CatalogCapability:
    implementations = implementing.get(capability["id"], [])
    documentation = capability.get("documentation")
    return {
        "id": capability["id"],
        "title": capability.get("title"),
        "status": capability.get("status"),
        "origin": "extension",
        "visibility": capability["visibility"],
        "provider_id": provider.manifest.id,
        "provider_state": provider.state,
        "real_world_anchor": capability.get("real_world_anchor"),
        "entry_command": capability.get("entry_command"),
        "documentation_route": f"{documentation['site_root']}/{documentation['canonical']}"
        if documentation
        else None,
        "implemented_protocol_count": len({protocol for _, protocol in implementations}),
        "implementation_provider_count": len({owner for owner, _ in implementations}),
        "smoke_count": 0,
        "next_real_step": capability.get("next_real_step"),
        "reason": provider.reason,
        "next_command": provider.next_command,
        "install_package": provider.install_package,
        "also_declared_by": _others(capability["id"], provider.manifest.id, owners),
    }


def _core() -> CatalogProvider:
    return {
        "id": CORE_PROVIDER,
        "origin": "builtin",
        "declared": True,
        "installed": True,
        "enabled": True,
        "ready": True,
    }


def _provider(provider: Provider) -> CatalogProvider:
    manifest = provider.manifest
    return {
        "id": manifest.id,
        "origin": "extension",
        **provider.state,
        "version": manifest.version,
        "requires_loopx_api": manifest.requires_loopx_api,
        "permissions": manifest.permissions,
        "reason": provider.reason,
        "next_command": provider.next_command,
        "install_package": provider.install_package,
    }
