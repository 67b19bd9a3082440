"""What is published on each declared surface, in which state it is, and who may see it; pure.

A projection is bound to an extension, a revision and a surface: one that another revision published is not shown,
and which revision that was is said.
"""

from __future__ import annotations

from loopx_host.core.canonical import canonical_bytes, canonical_digest
from loopx_host.core.private_material import findings
from loopx_host.core.strict_json import JsonViolation, parse_object
from loopx_host.documents import projection as published
from loopx_host.registry.catalog import Declaration
from loopx_host.registry.surface_rules import CHECKS, OWNER_ONLY, PUBLIC_SAFE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

    from loopx_host.documents.capability_catalog import SurfaceRow
    from loopx_host.documents.normal_form import Surface
    from loopx_host.documents.projection import Projection
    from loopx_host.registry.catalog import Provider
    from loopx_host.registry.manifest import Manifest

    Read = Callable[[str, str], bytes | None]  # extension id, surface id → the file as it is, None when there is none

EMPTY, READY, REVIEW_DUE, INVALID, OTHER_REVISION = STATES = published.STATES
PUBLIC, OWNER = AUDIENCES = ("public", "owner")


def projection(manifest: Manifest, surface: Surface, payload: dict[str, object], published_at: str) -> Projection:
    """Return the document of one published view."""
    document = published.projection(
        extension_id=manifest.id,
        revision=manifest.revision,
        surface_id=surface["id"],
        visibility=surface["visibility"],
        view_schema=surface["view_schema"],
        published_at=published_at,
        payload_sha256=canonical_digest(payload),
        payload=payload,
    )
    return published.sealed(document, canonical_digest(published.says(document)))


def projection_bytes(document: Projection) -> bytes:
    """Return a projection as it is written."""
    return canonical_bytes(document) + b"\n"


def private_rows(payload: object, visibility: object) -> list[dict[str, str]]:
    """Return what a surface of this visibility must not show: paths may stand on one for the owner only."""
    return findings(payload, allow_paths=visibility == OWNER_ONLY)


def surface_of(manifest: Manifest, surface_id: str) -> Surface | None:
    """Return one declared surface, or None."""
    return next((one for one in declared(manifest) if one["id"] == surface_id), None)


def declared(manifest: Manifest) -> list[Surface]:
    """Return the surfaces of a manifest, in file order; a state file may hold one that is none, left out here."""
    rows = manifest.form["presentation_surfaces"]
    return [one for one in rows if all(isinstance(one.get(key), str) for key in CHECKS)]


class SurfaceState:
    """The state of one surface; `document` is its projection, which only `ready` and `review_due` have.

    `written_by` is the revision that wrote what lies there, where that can be believed.
    """

    __slots__ = ("document", "reason", "state", "written_by")

    def __init__(
        self,
        state: str,
        reason: str | None = None,
        document: Projection | None = None,
        written_by: str | None = None,
    ) -> None:
        self.written_by = document["revision"] if document is not None else written_by
        self.state = state
        self.reason = reason
        self.document = document


def state_of(manifest: Manifest, surface: Surface, data: bytes | None, now: str) -> SurfaceState:
    """Judge what lies where a surface is published. `now` is RFC 3339."""
    if data is None:
        return SurfaceState(EMPTY, "not_published")
    document = _document(data)
    if document is None:
        return SurfaceState(INVALID, "damaged")
    if document["document_sha256"] != canonical_digest(published.says(document)):
        return SurfaceState(INVALID, "digest_mismatch")
    if document["revision"] != manifest.revision:
        return SurfaceState(OTHER_REVISION, "other_revision", written_by=document["revision"])
    reason = _misfit(document, manifest, surface)
    if reason is not None:
        return SurfaceState(INVALID, reason)
    due = is_due(document["payload"].get("review_after"), now)
    return SurfaceState(REVIEW_DUE if due else READY, "review_after_passed" if due else None, document)


def _document(data: bytes) -> Projection | None:
    """Return the document in a file if it has the shape of a projection."""
    try:
        document = parse_object(data)
    except JsonViolation:
        return None
    whole = (
        set(document) == published.KEYS
        and document["schema_version"] == published.ID
        and isinstance(document["payload"], dict)
        and isinstance(document["published_at"], str)
        and isinstance(document["revision"], str)
    )
    known: Any = document if whole else None
    read: Projection | None = known
    return read


def _misfit(document: Projection, manifest: Manifest, surface: Surface) -> str | None:
    """Return why a projection of the active revision cannot be shown, or None."""
    if (document["extension_id"], document["surface_id"]) != (manifest.id, surface["id"]):
        return "other_surface"
    if (document["view_schema"], document["visibility"]) != (surface["view_schema"], surface["visibility"]):
        return "schema_mismatch"
    if document["payload_sha256"] != canonical_digest(document["payload"]):
        return "digest_mismatch"
    return "private_material" if private_rows(document["payload"], surface["visibility"]) else None


def is_due(review_after: object, now: str) -> bool:
    """Whether a view is to be looked at again; one that names no readable time is, one that names none is not."""
    if review_after is None:
        return False
    from datetime import datetime

    try:
        return datetime.fromisoformat(str(review_after)) <= datetime.fromisoformat(now)
    except (ValueError, TypeError):
        return True


def may_see(provider: Provider, surface: Surface, audience: str) -> bool:
    """Whether a surface exists for an audience: the owner's are all; the public's are few.

    The public sees `public-safe` surfaces of extensions that are enabled and ready, and none of an internal
    capability: one of an extension whose capabilities are all internal, or of the kind of an internal one.
    """
    if audience == OWNER:
        return True
    capabilities = provider.manifest.capabilities
    outward = [one for one in capabilities if one.get("visibility") == "public"]
    inward_kinds = {one.get("kind") for one in capabilities if one not in outward}
    internal = (bool(capabilities) and not outward) or surface["kind"] in inward_kinds
    return audience == PUBLIC and provider.ready and surface["visibility"] == PUBLIC_SAFE and not internal


def surface_rows(entries: Iterable[Provider], read: Read, now: str, audience: str = OWNER) -> list[SurfaceRow]:
    """Return a row per surface that `audience` may see, by extension and surface id.

    `payload` is the view itself, in states `ready` and `review_due` only; what is empty says what it would show.
    """
    return [
        _row(provider, manifest, surface, read, now)
        for provider, manifest in sorted(_with_manifests(entries), key=lambda pair: pair[1].id)
        for surface in sorted(declared(manifest), key=lambda one: str(one["id"]))
        if may_see(provider, surface, audience)
    ]


def _with_manifests(entries: Iterable[Provider]) -> list[tuple[Provider, Manifest]]:
    """Return the providers whose manifest is known whole; only those have surfaces."""
    return [(one, one.manifest) for one in entries if not isinstance(one.manifest, Declaration)]


def _row(provider: Provider, manifest: Manifest, surface: Surface, read: Read, now: str) -> SurfaceRow:
    # What is only declared has published nothing, whatever an extension of the same id left behind.
    data = read(manifest.id, surface["id"]) if provider.installed else None
    now_shown = state_of(manifest, surface, data, now)
    document = now_shown.document
    payload = document["payload"] if document else None
    return {
        "extension_id": manifest.id,
        "surface_id": surface["id"],
        "revision": manifest.revision,
        "kind": surface["kind"],
        "title": surface["title"],
        "visibility": surface["visibility"],
        "view_schema": surface["view_schema"],
        "enabled": provider.enabled,
        "ready": provider.ready,
        "state": now_shown.state,
        "reason": now_shown.reason,
        "written_by": now_shown.written_by,
        "published_at": document["published_at"] if document else None,
        "review_after": payload.get("review_after") if payload else None,
        "payload_sha256": document["payload_sha256"] if document else None,
        "payload": payload,
        "empty_state": {"title": surface["empty_state_title"], "detail": surface["empty_state_detail"]},
    }
