"""The verbs `capability list` and `capability show`: from manifests and state alone, nothing is started."""

from __future__ import annotations

from loopx_host.core.errors import refuse
from loopx_host.core.text import one_line
from loopx_host.lifecycle.readiness import readiness, refusal
from loopx_host.lifecycle.state import BadEntry, State
from loopx_host.registry.catalog import Provider, catalog, detail

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from loopx_host.lifecycle.admission import Source
    from loopx_host.lifecycle.ports import Packages, StateStore

CATALOG_SCHEMA = "loopx_capability_catalog_v0"
DETAIL_SCHEMA = "loopx_capability_detail_v0"


def list_capabilities(*, store: StateStore, packages: Packages, declared: Source | None) -> dict[str, Any]:
    """Return the catalogue of what is installed, and of what the manifest `declared` would bring."""
    providers, invalid = _providers(store, packages, declared)
    return {"ok": True, "schema_version": CATALOG_SCHEMA, **catalog(providers), "invalid": invalid}


def show_capability(
    capability_id: str, *, store: StateStore, packages: Packages, declared: Source | None
) -> dict[str, Any]:
    """Return one capability. Raises Refused `capability_not_found`, for an internal one too."""
    providers, _ = _providers(store, packages, declared)
    found = detail(capability_id, providers)
    if found is None:
        shown = one_line(capability_id, 60)
        raise refuse(
            "capability_not_found",
            shown,
            f"no capability `{shown}` is declared here",
            hint="see which are",
            next_command=("capability", "list"),
        )
    return {"ok": True, "schema_version": DETAIL_SCHEMA, "capability": found}


def _providers(
    store: StateStore, packages: Packages, declared: Source | None
) -> tuple[list[Provider], list[dict[str, Any]]]:
    entries = State.parse(store.read(), store.location).entries()
    bad = [{"id": entry.id, "code": entry.code} for entry in entries if isinstance(entry, BadEntry)]
    providers: list[Provider] = []
    for entry in entries:
        if isinstance(entry, BadEntry):
            continue
        found = readiness(entry, packages)
        refused = None if found.is_ready else refusal(entry, found)
        providers.append(
            Provider(
                entry.manifest,
                installed=True,
                enabled=entry.enabled,
                ready=found.is_ready,
                reason=refused.code if refused else None,
                next_command=refused.diagnostic.next_command if refused else None,
            )
        )
    if declared is not None and all(one.manifest.digest != declared.manifest.digest for one in providers):
        providers = [one for one in providers if one.manifest.id != declared.manifest.id]
        providers.append(_only_declared(declared))
    return providers, bad


def _only_declared(source: Source) -> Provider:
    return Provider(
        source.manifest,
        installed=False,
        enabled=False,
        ready=False,
        reason="extension_not_installed",
        next_command=source.preview("install"),
    )
