"""What of an export can be installed here: found in this environment, in the order in which it can be trusted."""

from __future__ import annotations

from loopx_host.core.errors import Refused, refusal
from loopx_host.core.names import normalised
from loopx_host.core.text import one_line
from loopx_host.documents import restore as document
from loopx_host.documents.export import DISCOVERED
from loopx_host.lifecycle.extensions.install import install_source
from loopx_host.lifecycle.extensions.offers import only_offer
from loopx_host.lifecycle.extensions.state import BadEntry, Entry

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Protocol

    from loopx_host.documents import state as shapes
    from loopx_host.documents.discovery_index import Offer
    from loopx_host.documents.export import ExportedExtension
    from loopx_host.documents.parts import Distribution
    from loopx_host.documents.restore import RestoredExtension
    from loopx_host.lifecycle.extensions.ports import CanProve, Packages
    from loopx_host.lifecycle.extensions.source import HasSources, Source
    from loopx_host.lifecycle.extensions.state import State

    class RestorablePorts(CanProve, HasSources, Protocol):
        """What finding and previewing the extensions of an export needs."""


class Restorable:
    """One extension of an export: where it is here, what would become of it, and the plan of its installation.

    `source` is None where nothing is to be installed; then `status`, `code` and `reason` say why.
    """

    __slots__ = ("code", "found", "item", "plan", "reason", "source", "status")

    def __init__(self, item: ExportedExtension) -> None:
        self.item = item
        self.source: Source | None = None
        self.found: Distribution | None = None
        self.plan: str | None = None
        self.status = document.WOULD_INSTALL
        self.code: str | None = None
        self.reason: str | None = None

    @property
    def reads(self) -> list[object]:
        """What the plan of a restore holds of it."""
        return [self.item["id"], self.status, self.code, self.plan]

    def refuse(self, code: str, reason: str) -> None:
        """Say that it cannot be installed."""
        self.status, self.code, self.reason, self.source = document.REFUSED, code, reason, None

    def row(self, packages: Packages) -> RestoredExtension:
        """Return what the receipt says of it; for what is missing, with the pip command that would bring it."""
        owner, missing = self.item["distribution"], self.status not in document.DONE
        return document.row(
            extension_id=self.item["id"],
            revision=self.item["revision"],
            status=self.status,
            code=self.code,
            reason=self.reason,
            distribution=owner,
            found=self.found,
            install_package=packages.pip_command(owner) if missing and owner else None,
        )


def restorables(
    items: list[ExportedExtension], state: State, ports: RestorablePorts
) -> tuple[list[Restorable], State]:
    """Return the extensions of an export in the order of their installation, and the state it would lead to.

    A capability comes before its implementations. Nothing is started and nothing written.
    """
    offers, _ = ports.discovery.offers(rebuild=True)
    found = _in_order([_located(item, state, offers, ports) for item in items])
    for one in found:
        if one.source is not None:
            _preview(one, one.source, state, ports)
        if one.source is not None:
            state = state.with_entry(_entry_to_be(one.item, one.source))
    return found, state


def _located(item: ExportedExtension, state: State, offers: list[Offer], ports: RestorablePorts) -> Restorable:
    """Say where the manifest of an extension is here, or why it is not to be installed."""
    one, there = Restorable(item), state.find(item["id"])
    try:
        if isinstance(there, BadEntry):
            raise there.refusal()
        if isinstance(there, Entry):
            _compare(one, there)
        else:
            one.source = _source(item, offers, ports)
    except Refused as refused:
        one.refuse(refused.code, refused.diagnostic.summary)
    return one


def _compare(one: Restorable, there: Entry) -> None:
    """Say how an extension that is installed already stands to the exported one."""
    one.found = there.active.raw.get("distribution")
    if there.active.manifest.digest == one.item["digest"]:
        one.status = document.ALREADY
    else:
        one.status = document.ANOTHER
        one.reason = f"revision {there.active.id} is installed; the export names {one_line(one.item['revision'], 20)}"


def _source(item: ExportedExtension, offers: list[Offer], ports: RestorablePorts) -> Source:
    """Return the exported manifest as this environment has it: offered by its distribution, else at its path.

    Raises Refused: `package_not_installed`, `manifest_changed`, `extension_ambiguous`, `extension_broken`, and those
    of `registry.load`.
    """
    owner = item["distribution"]
    own = [row for row in offers if row["id"] == item["id"]]
    named = [row for row in own if owner and row["distribution"] and _same(row["distribution"], owner)]
    why: Refused | None = None
    if own:
        try:
            offered = ports.sources.open(only_offer(item["id"], "install", named or own), by_id=True)
        except Refused as refused:
            why = refused
        else:
            if _is_exported(offered, item):
                return offered
            why = _changed(item, offered)
    at_path = _at_path(item, ports)
    if at_path is not None:
        return at_path
    raise why or _missing(item, ports)


def _at_path(item: ExportedExtension, ports: RestorablePorts) -> Source | None:
    """Return the manifest at the path an export names, where the same one is there."""
    path = _named_path(item)
    if path is None:
        return None
    try:
        source = ports.sources.open(path)
    except Refused:
        return None
    return source if _is_exported(source, item) else None


def _named_path(item: ExportedExtension) -> str | None:
    """Return the path that led to the manifest; what a package offered was found by its id, wherever that lies."""
    return item["manifest_path"] if item.get("source") != DISCOVERED else None


def _is_exported(source: Source, item: ExportedExtension) -> bool:
    return source.manifest.id == item["id"] and source.manifest.digest == item["digest"]


def _same(one: Distribution, other: Distribution) -> bool:
    """Whether two spellings name the same distribution."""
    return normalised(one["name"]) == normalised(other["name"])


def _changed(item: ExportedExtension, source: Source) -> Refused:
    carrier = f"{source.carrier['name']} {source.carrier['version']}" if source.carrier else source.path
    return refusal(
        "manifest_changed",
        item["id"],
        f"`{item['id']}` is offered here by {carrier}, whose manifest is not the exported one{_of(item)}",
        hint="install the exported version of its package, or install this one by hand",
    )


def _missing(item: ExportedExtension, ports: RestorablePorts) -> Refused:
    """Return why an extension that nothing here offers cannot be installed."""
    path, unread = _named_path(item), None
    if path is not None:
        try:
            source = ports.sources.open(path)
        except Refused as refused:
            unread = refused
        else:
            return refusal(
                "manifest_changed",
                item["id"],
                f"the manifest of `{item['id']}` at {source.path} is not the exported one{_of(item)}",
                hint="install the exported version of its package, or install this one by hand",
            )
    if item["distribution"] is not None:
        return refusal(
            "package_not_installed",
            item["id"],
            f"no package of this environment offers `{item['id']}`{_of(item)}",
            hint="install that package, then restore again",
        )
    return unread or refusal(
        "manifest_unreadable",
        item["id"],
        f"`{item['id']}` was installed by a tool that did not record where its manifest is",
        hint="install it by hand with --manifest",
    )


def _of(item: ExportedExtension) -> str:
    """Return a clause that names the package an extension was exported from."""
    owner = item["distribution"]
    return f"; it came with {one_line(owner['name'], 100)} {one_line(owner['version'], 60)}" if owner else ""


def _preview(one: Restorable, source: Source, state: State, ports: RestorablePorts) -> None:
    """Preview one installation on the state that those before it would lead to."""
    try:
        receipt = install_source(source, ports, execute=False, plan=None, state=state)
    except Refused as refused:
        one.refuse(refused.code, refused.diagnostic.summary)
        return
    one.plan, owner = receipt["plan"], receipt["owner"]
    one.found = owner if isinstance(owner, dict) else None
    refused_later = receipt.get("would_refuse")
    if refused_later:
        one.refuse(refused_later["code"], refused_later["error"])
        return
    exported = one.item["distribution"]
    if exported is not None and (one.found is None or not _same(one.found, exported)):
        carrier = f"{one.found['name']} {one.found['version']}" if one.found else "no installed package"
        one.refuse(
            "package_not_installed", f"the program of `{one.item['id']}` belongs to {carrier} here{_of(one.item)}"
        )


def _entry_to_be(item: ExportedExtension, source: Source) -> shapes.Entry:
    """Return the entry an installation would write, as far as its manifest decides it."""
    revision = source.manifest.revision
    return {
        "id": item["id"],
        "enabled": item["enabled"],
        "active_revision": revision,
        "rollback_revision": None,
        "doctor_verified_revision": None,
        "doctor_verified_entrypoint_identity": None,
        "revisions": [source.unpinned("")],
    }


def _in_order(found: list[Restorable]) -> list[Restorable]:
    """Return them so that whoever declares a capability comes before those that implement it."""
    waiting, ordered = list(found), list[Restorable]()
    while waiting:
        free = [one for one in waiting if not any(_needs(one, other) for other in waiting if other is not one)]
        ordered += free or waiting  # in a circle nobody can be first, and each is refused with its own reason
        waiting = [one for one in waiting if free and one not in free]
    return ordered


def _needs(one: Restorable, other: Restorable) -> bool:
    """Whether `one` implements a capability that `other` declares."""
    if one.source is None or other.source is None:
        return False
    declared = {capability["id"] for capability in other.source.manifest.capabilities}
    return any(row["capability_id"] in declared for row in one.source.manifest.implementations)
