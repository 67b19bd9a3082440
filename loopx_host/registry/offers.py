"""What the environment offers: advertised extensions → one row each, whatever is broken about the others.

Pure: the same advertisements in any order give the same rows. Every copy of an id that two distributions advertise is
refused (contract section 3). Of one distribution installed twice the copy that Python finds first counts, and the
other is shadowed.
"""

from __future__ import annotations

from loopx_host.core.errors import Refused
from loopx_host.core.text import one_line
from loopx_host.documents.discovery_index import (
    AMBIGUOUS,
    AVAILABLE,
    BROKEN,
    INCOMPATIBLE,
    PACKAGE_MISSING,
    SHADOWED,
)
from loopx_host.registry.load import load

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeVar

    from loopx_host.documents.discovery_index import Declares, Offer
    from loopx_host.documents.normal_form import Capability, Implementation
    from loopx_host.documents.parts import Distribution
    from loopx_host.registry.manifest import Manifest
    from loopx_host.registry.ports import ManifestFolder
    from loopx_host.registry.schemas import Bundle

    _Declared = TypeVar("_Declared", Capability, Implementation)


_NAMED = 5  # of many carriers of one id


class Advertised:
    """One advertisement found in metadata. `code` and `reason` say why its manifest was not even looked for.

    `shadowed_by` is the metadata folder of the copy of the same distribution that Python finds before this one.
    """

    __slots__ = ("code", "distribution", "id", "location", "manifest_path", "reason", "shadowed_by", "value")

    def __init__(
        self,
        extension_id: str,
        value: str,
        distribution: Distribution | None,
        location: str,
        *,
        manifest_path: str | None = None,
        code: str | None = None,
        reason: str | None = None,
        shadowed_by: str | None = None,
    ) -> None:
        self.shadowed_by = shadowed_by
        self.id = extension_id
        self.value = value
        self.distribution = distribution
        self.location = location
        self.manifest_path = manifest_path
        self.code = code
        self.reason = reason

    @property
    def carrier(self) -> str:
        """The distribution as a person would name it."""
        if self.distribution is None:
            return self.location
        return f"{self.distribution['name']} {self.distribution['version']}"


def offers(
    advertised: list[Advertised],
    open_manifest: Callable[[str], tuple[ManifestFolder, str]],
    check_schema: Callable[[Bundle], None] | None = None,
) -> list[Offer]:
    """Return one row per advertisement, sorted by id and carrier; what is shadowed comes last."""
    ordered = sorted(
        advertised, key=lambda one: (one.id, one.shadowed_by is not None, one.carrier, one.location, one.value)
    )
    copies: dict[str, list[Advertised]] = {}
    for one in (one for one in ordered if one.shadowed_by is None):
        copies.setdefault(one.id, []).append(one)

    def read(path: str) -> Manifest:
        return load(*open_manifest(path), check_schema)

    return [_row(one, copies.get(one.id, []), read) for one in ordered]


def _row(one: Advertised, copies: list[Advertised], read: Callable[[str], Manifest]) -> Offer:
    row: Offer = {
        "id": one_line(one.id, 100) or None,
        "distribution": one.distribution,
        "location": one.location,
        "manifest_path": one.manifest_path,
        "version": None,
        "revision": None,
        "digest": None,
        "files": [],
        "declares": None,
        "commands": [],
        "state": BROKEN,
        "code": one.code,
        "reason": one.reason,
    }
    if one.shadowed_by is not None:
        reason = f"{one.carrier} in {one.location} is shadowed: Python finds the copy in {one.shadowed_by} first"
        return {**row, "state": SHADOWED, "code": "distribution_shadowed", "reason": reason}
    if one.code is None and one.id and len(copies) > 1:
        reason = f"`{one.id}` comes from {_named(copies)}"
        return {**row, "state": AMBIGUOUS, "code": "extension_ambiguous", "reason": reason}
    if one.code is not None:
        return {**row, "state": PACKAGE_MISSING if one.code == PACKAGE_MISSING else BROKEN}
    return _loaded(row, one, read)


def _named(copies: list[Advertised]) -> str:
    """Name the carriers of one id, with their places where the names alone would not tell them apart."""
    carriers = [one.carrier for one in copies]
    if len(set(carriers)) < len(carriers):
        carriers = [f"{one.carrier} ({one.value} in {one.location})" for one in copies]
    more = [f"{len(carriers) - _NAMED} more"] if len(carriers) > _NAMED else []
    return " and ".join([*carriers[:_NAMED], *more])


def _loaded(row: Offer, one: Advertised, read: Callable[[str], Manifest]) -> Offer:
    """Return the row of what is advertised once, with what its manifest says or is wrong with."""
    try:
        manifest = read(str(one.manifest_path))
    except Refused as refused:
        incompatible = refused.code == "api_incompatible"
        state = INCOMPATIBLE if incompatible else BROKEN
        return {**row, "state": state, "code": refused.code, "reason": refused.diagnostic.summary}
    except Exception as error:  # noqa: BLE001 (whatever a package makes us stumble over spoils its own row only)
        reason = f"reading its manifest failed in a way it should not: {type(error).__name__}"
        return {**row, "state": BROKEN, "code": "manifest_unreadable", "reason": reason}
    if manifest.id != one.id:
        reason = f"the package advertises `{one.id}`, its manifest says `{manifest.id}`"
        return {**row, "state": BROKEN, "code": "id_mismatch", "reason": reason}
    return {
        **row,
        "state": AVAILABLE,
        "version": manifest.version,
        "revision": manifest.revision,
        "digest": manifest.digest,
        "files": manifest.files,
        "declares": declares(manifest),
    }


def declares(manifest: Manifest) -> Declares:
    """Return what of a manifest is known before it is installed."""
    return {
        "requires_loopx_api": manifest.requires_loopx_api,
        "permissions": manifest.permissions,
        "capabilities": [_without_profile(row) for row in manifest.capabilities],
        "implementations": [_without_profile(row) for row in manifest.implementations],
    }


def _without_profile(declared: _Declared) -> _Declared:
    rest: Any = {key: value for key, value in declared.items() if key != "integration_profile"}
    kept: _Declared = rest
    return kept
