"""The verbs `capability list` and `capability show`: from manifests and state alone, nothing is started."""

from __future__ import annotations

from loopx_host.core.errors import refuse
from loopx_host.core.text import one_line
from loopx_host.lifecycle.extensions.readiness import readiness, refusal
from loopx_host.lifecycle.extensions.state import BadEntry, State
from loopx_host.registry.catalog import Declaration, Provider, catalog, detail
from loopx_host.registry.manifest import Manifest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from loopx_host.lifecycle.extensions.admission import Source
    from loopx_host.lifecycle.extensions.ports import Discovery, Packages, Projections, StateStore
    from loopx_host.lifecycle.extensions.state import Entry
    from loopx_host.registry.rows import TrainMember

CATALOG_SCHEMA = "loopx_capability_catalog_v0"
DETAIL_SCHEMA = "loopx_capability_detail_v0"


def list_capabilities(
    *,
    store: StateStore,
    packages: Packages,
    discovery: Discovery,
    projections: Projections,
    declared: Source | None,
    now: str,
    is_off: bool = False,
) -> dict[str, Any]:
    """Return the catalogue: what is installed, what packages and the train offer, what `declared` would bring.

    A pure function of activation state, index and train; nothing is started and no package is loaded. With `is_off`
    the host runs bare, and nothing is ready.
    """
    providers, invalid = _providers(store, packages, discovery, declared)
    for provider in providers if is_off else []:
        provider.switch_off()
    surfaces: list[dict[str, Any]] = []
    if any(
        isinstance(one.manifest, Manifest) and one.manifest.form.get("presentation_surfaces") for one in providers
    ):
        from loopx_host.registry.surfaces import surface_rows  # and with it the classifier, which nobody else needs

        surfaces = surface_rows(providers, projections.read, now)
    return {
        "ok": True,
        "schema_version": CATALOG_SCHEMA,
        **catalog(providers),
        "presentation_surfaces": surfaces,
        "invalid": invalid,
    }


def show_capability(
    capability_id: str,
    *,
    store: StateStore,
    packages: Packages,
    discovery: Discovery,
    declared: Source | None,
    is_off: bool = False,
) -> dict[str, Any]:
    """Return one capability. Raises Refused `capability_not_found`, for an internal one too."""
    providers, _ = _providers(store, packages, discovery, declared)
    for provider in providers if is_off else []:
        provider.switch_off()
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
    store: StateStore, packages: Packages, discovery: Discovery, declared: Source | None
) -> tuple[list[Provider], list[dict[str, Any]]]:
    entries = State.parse(store.read(), store.location).entries()
    invalid = [{"id": entry.id, "code": entry.code} for entry in entries if isinstance(entry, BadEntry)]
    providers = [_installed(entry, packages) for entry in entries if not isinstance(entry, BadEntry)]
    known = {entry.id for entry in entries}
    if declared is not None and declared.manifest.digest not in _digests(providers):
        providers = [one for one in providers if one.manifest.id != declared.manifest.id]
        providers.append(_only_declared(declared))
        known.add(declared.manifest.id)
    rows, _ = discovery.offers(rebuild=False)
    for row in rows:
        if row["id"] in known or row["id"] is None:
            continue
        if row["declares"] is not None:
            providers.append(_offered(row))
        else:
            invalid.append({"id": row["id"], "code": row["code"]})
        known.add(row["id"])
    providers += [_of_train(one, packages) for one in discovery.train() if one["extension_id"] not in known]
    return providers, invalid


def _digests(providers: list[Provider]) -> set[str]:
    return {one.manifest.digest for one in providers if isinstance(one.manifest, Manifest)}


def _installed(entry: Entry, packages: Packages) -> Provider:
    found = readiness(entry, packages)
    refused = None if found.is_ready else refusal(entry, found)
    return Provider(
        entry.manifest,
        installed=True,
        enabled=entry.enabled,
        ready=found.is_ready,
        reason=refused.code if refused else None,
        next_command=refused.diagnostic.next_command if refused else None,
    )


def _offered(row: dict[str, Any]) -> Provider:
    """Return the provider of a package that is there and not trusted."""
    return Provider(
        Declaration(row["id"], str(row["version"]), row["declares"]),
        installed=False,
        enabled=False,
        ready=False,
        reason="extension_not_installed",
        next_command=("extension", "install", row["id"]),
    )


def _of_train(one: TrainMember, packages: Packages) -> Provider:
    """Return the provider of a package of the release train that is not there."""
    owner = {"name": one["distribution"], "version": one["version"]}
    return Provider(
        Declaration(one["extension_id"], one["version"], one["declares"]),
        installed=False,
        enabled=False,
        ready=False,
        reason="package_not_installed",
        next_command=None,
        install_package=packages.pip_command(owner),
    )


def _only_declared(source: Source) -> Provider:
    return Provider(
        source.manifest,
        installed=False,
        enabled=False,
        ready=False,
        reason="extension_not_installed",
        next_command=source.preview("install"),
    )
