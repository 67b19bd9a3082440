"""The capability catalogue: who declares what, and how far each is from being usable.

A pure function of manifests and activation facts; the documents are `loopx_capability_catalog_v0` and
`loopx_capability_detail_v0`.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from loopx_host.registry.manifest import Manifest

CORE_PROVIDER = "loopx-core"
_FACTS = ("declared", "installed", "enabled", "ready")


class Provider:
    """One manifest with the facts of its activation; `reason` and `next_command` say what is in the way."""

    __slots__ = ("enabled", "installed", "manifest", "next_command", "ready", "reason")

    def __init__(
        self,
        manifest: Manifest,
        *,
        installed: bool,
        enabled: bool,
        ready: bool,
        reason: str | None,
        next_command: tuple[str, ...] | None,
    ) -> None:
        self.manifest = manifest
        self.installed = installed
        self.enabled = enabled and installed
        self.ready = ready and enabled and installed
        self.reason = reason
        self.next_command = next_command

    @property
    def state(self) -> dict[str, bool]:
        """The four facts; each implies the one before it."""
        return dict(zip(_FACTS, (True, self.installed, self.enabled, self.ready), strict=True))


def catalog(providers: list[Provider]) -> dict[str, list[dict[str, Any]]]:
    """Return the rows of capabilities and providers, by id; internal capabilities are not listed."""
    ordered = sorted(providers, key=lambda provider: provider.manifest.id)
    shown = [(capability, provider) for capability, provider in _declared(ordered) if _is_public(capability)]
    return {
        "capabilities": [_row(capability, provider, ordered) for capability, provider in shown],
        "providers": [_core(), *(_provider(provider) for provider in ordered)],
    }


def detail(capability_id: str, providers: list[Provider]) -> dict[str, Any] | None:
    """Return one public capability with the state of its provider, or None."""
    for capability, provider in _declared(providers):
        if capability["id"] == capability_id and _is_public(capability):
            return {
                **capability,
                "provider_state": provider.state,
                "reason": provider.reason,
                "next_command": provider.next_command,
            }
    return None


def _declared(providers: list[Provider]) -> list[tuple[dict[str, Any], Provider]]:
    pairs = [(capability, provider) for provider in providers for capability in provider.manifest.capabilities]
    return sorted(pairs, key=lambda pair: str(pair[0]["id"]))


def _is_public(capability: dict[str, Any]) -> bool:
    return capability.get("visibility") == "public"


def _row(capability: dict[str, Any], provider: Provider, providers: list[Provider]) -> dict[str, Any]:
    implementations = [
        (one.manifest.id, row["protocol"])
        for one in providers
        for row in one.manifest.implementations
        if row["capability_id"] == capability["id"]
    ]
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
    }


def _core() -> dict[str, Any]:
    return {"id": CORE_PROVIDER, "origin": "builtin", **dict.fromkeys(_FACTS, True)}


def _provider(provider: Provider) -> dict[str, Any]:
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
    }
