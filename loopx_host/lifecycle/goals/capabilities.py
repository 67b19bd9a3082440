"""`capability list` and `capability show`: from manifests and state alone, nothing is started."""

from __future__ import annotations

from loopx_host.core.errors import refusal
from loopx_host.core.text import one_line
from loopx_host.documents.capability_catalog import capability_catalog
from loopx_host.documents.capability_detail import capability_detail
from loopx_host.lifecycle.extensions.readiness import readiness, why_not_ready
from loopx_host.lifecycle.extensions.state import BadEntry, State
from loopx_host.registry.catalog import Declaration, Provider, catalog, detail
from loopx_host.registry.manifest import Manifest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Protocol

    from loopx_host.documents.capability_catalog import CapabilityCatalog, SurfaceRow
    from loopx_host.documents.capability_detail import CapabilityDetail
    from loopx_host.documents.discovery_index import Declares
    from loopx_host.documents.parts import BadEntry as BadRow
    from loopx_host.documents.parts import Distribution
    from loopx_host.lifecycle.dispatch.ports import HasSwitch
    from loopx_host.lifecycle.extensions.ports import HasClock, HasPackages, HasProjections, HasStore, Packages
    from loopx_host.lifecycle.extensions.source import HasSources, Source
    from loopx_host.lifecycle.extensions.state import Entry
    from loopx_host.registry.catalog import TrainMember

    class CatalogPorts(HasStore, HasPackages, HasSources, HasProjections, HasClock, HasSwitch, Protocol):
        """What the catalogue is made from."""


def list_capabilities(manifest_path: str | None, ports: CatalogPorts) -> CapabilityCatalog:
    """Return the catalogue: what is installed, what packages and the train offer, what a manifest would bring.

    A pure function of activation state, index and train; nothing is started and no package is loaded. Where the host
    runs bare, nothing is ready.
    """
    providers, invalid = _providers(manifest_path, ports)
    surfaces: list[SurfaceRow] = []
    if any(
        isinstance(provider.manifest, Manifest) and provider.manifest.form.get("presentation_surfaces")
        for provider in providers
    ):
        from loopx_host.registry.surfaces import surface_rows  # and with it the classifier, which nobody else needs

        surfaces = surface_rows(providers, ports.projections.read, ports.clock.now())
    return capability_catalog(catalog(providers), presentation_surfaces=surfaces, invalid=invalid)


def show_capability(capability_id: str, manifest_path: str | None, ports: CatalogPorts) -> CapabilityDetail:
    """Return one capability. Raises Refused `capability_not_found`, for an internal one too."""
    providers, _ = _providers(manifest_path, ports)
    row = detail(capability_id, providers)
    if row is None:
        shown = one_line(capability_id, 60)
        raise refusal(
            "capability_not_found",
            shown,
            f"no capability `{shown}` is declared here",
            hint="see which are",
            next_command=("capability", "list"),
        )
    return capability_detail(row)


def _providers(manifest_path: str | None, ports: CatalogPorts) -> tuple[list[Provider], list[BadRow]]:
    """Return who provides what: installed, only declared in a manifest, offered by packages, missing of the train."""
    declared = ports.sources.open(manifest_path) if manifest_path else None
    entries = State.parse(ports.store.read(), ports.store.location).entries()
    invalid: list[BadRow] = [{"id": entry.id, "code": entry.code} for entry in entries if isinstance(entry, BadEntry)]
    providers = [_installed(entry, ports.packages) for entry in entries if not isinstance(entry, BadEntry)]
    known = {entry.id for entry in entries}
    if declared is not None and declared.manifest.digest not in _digests(providers):
        providers = [provider for provider in providers if provider.manifest.id != declared.manifest.id]
        providers.append(_only_declared(declared))
        known.add(declared.manifest.id)
    rows, _ = ports.discovery.offers(rebuild=False)
    for row in rows:
        if row["id"] in known or row["id"] is None:
            continue
        if row["declares"] is not None:
            providers.append(_offered(row["id"], row["version"], row["declares"]))
        else:
            invalid.append({"id": row["id"], "code": row["code"]})
        known.add(row["id"])
    providers += [
        _of_train(member, ports.packages) for member in ports.discovery.train() if member["extension_id"] not in known
    ]
    for provider in providers if ports.is_off else []:
        provider.switch_off()
    return providers, invalid


def _digests(providers: list[Provider]) -> set[str]:
    return {provider.manifest.digest for provider in providers if isinstance(provider.manifest, Manifest)}


def _installed(entry: Entry, packages: Packages) -> Provider:
    now = readiness(entry, packages)
    refused = None if now.is_ready else why_not_ready(now)
    return Provider(
        entry.manifest,
        installed=True,
        enabled=entry.enabled,
        ready=now.is_ready,
        reason=refused.code if refused else None,
        next_command=refused.diagnostic.next_command if refused else None,
    )


def _offered(extension_id: str, version: str | None, declares: Declares) -> Provider:
    """Return the provider of a package that is there and not trusted."""
    return Provider(
        Declaration(extension_id, str(version), declares),
        installed=False,
        enabled=False,
        ready=False,
        reason="extension_not_installed",
        next_command=("extension", "install", extension_id),
    )


def _of_train(member: TrainMember, packages: Packages) -> Provider:
    """Return the provider of a package of the release train that is not there."""
    owner: Distribution = {"name": member["distribution"], "version": member["version"]}
    return Provider(
        Declaration(member["extension_id"], member["version"], member["declares"]),
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
