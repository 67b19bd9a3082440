"""Capabilities, documentation and surfaces of a manifest, alone and against what is installed."""

from __future__ import annotations

from typing import Any

import pytest

from loopx_host.core.canonical import canonical_digest
from loopx_host.core.errors import Refused
from loopx_host.lifecycle.extensions.preconditions import refuse_capability_clash
from loopx_host.lifecycle.extensions.state import State
from loopx_host.registry.manifest import Manifest
from tests.support.manifests import (
    capability,
    documentation,
    found,
    load_document,
    minimal,
    surface,
    without,
)

# --- capabilities ----------------------------------------------------------------------------------------


def test_an_implementation_speaks_the_protocol_of_the_runtime() -> None:
    """implements_protocol_match (case 22)"""
    differs = {**minimal(), "implements": [{"capability_id": "other", "protocol": "sample_v1"}]}
    same = {**minimal(), "implements": [{"capability_id": "other", "protocol": "sample_v0"}]}

    assert found(differs) == {("manifest_conflict", "implements[0].protocol")}
    assert load_document(same).implementations[0]["capability_id"] == "other"


def test_an_implementation_without_a_runtime_is_refused() -> None:
    """implements_protocol_match (case 22)"""
    document = {
        **without(minimal(), "runtime"),
        "implements": [{"capability_id": "other", "protocol": "sample_v0"}],
    }

    assert found(document) == {("manifest_conflict", "implements[0].protocol")}


@pytest.mark.parametrize("key", ["capability_id", "protocol"])
def test_an_incomplete_implementation_is_refused(key: str) -> None:
    row = without({"capability_id": "other", "protocol": "sample_v0"}, key)

    assert found({**minimal(), "implements": [row]}) == {("manifest_missing_key", f"implements[0].{key}")}


@pytest.mark.parametrize("key", capability())
def test_an_incomplete_public_capability_is_refused(key: str) -> None:
    """provides_incomplete_public (case 23)"""
    document = {**minimal(), "provides": [without(capability(), key)]}

    assert found(document) == {("manifest_incomplete", f"provides[0].{key}")}


@pytest.mark.parametrize("visibility", ["internal", " internal "])
def test_an_internal_capability_needs_no_anchor_and_no_command(visibility: str) -> None:
    row = without(capability(visibility=visibility), "real_world_anchor", "entry_command")

    manifest = load_document({**minimal(), "provides": [row]})

    assert manifest.capabilities[0]["visibility"] == "internal"


def test_an_unknown_visibility_is_refused() -> None:
    document = {**minimal(), "provides": [capability(visibility="secret")]}

    assert found(document) == {("manifest_bad_value", "provides[0].visibility")}


def test_the_same_capability_twice_in_one_manifest_is_refused() -> None:
    """provides_duplicate (case 24), itself"""
    document = {**minimal(), "provides": [capability(), capability(id="other"), capability(id=" notes ")]}

    assert found(document) == {("manifest_duplicate", "provides")}


def installed(manifest: Manifest) -> dict[str, Any]:
    revision = {"revision": canonical_digest(manifest.form)[:16], "version": "1.0", "manifest": manifest.form}
    return {
        "id": manifest.id,
        "enabled": True,
        "active_revision": revision["revision"],
        "rollback_revision": None,
        "revisions": [revision],
    }


def state_of(*manifests: Manifest) -> State:
    extensions = {manifest.id: installed(manifest) for manifest in manifests}
    return State({"schema_version": "loopx_extension_state_v0", "extensions": extensions})  # type: ignore[typeddict-item]


PROVIDER = load_document({**minimal(), "id": "first", "provides": [capability()]})
SECOND = load_document({**minimal(), "id": "second", "provides": [capability()]})
IMPLEMENTER = load_document({**minimal(), "implements": [{"capability_id": "notes", "protocol": "sample_v0"}]})


def test_a_capability_of_another_extension_is_refused() -> None:
    """provides_duplicate (case 24), other extension"""
    with pytest.raises(Refused) as caught:
        refuse_capability_clash(SECOND, state_of(PROVIDER), frozenset())

    assert (caught.value.code, caught.value.diagnostic.subject) == ("capability_duplicate", "notes")


def test_a_capability_of_the_core_is_refused() -> None:
    """provides_duplicate (case 24), builtin"""
    with pytest.raises(Refused) as caught:
        refuse_capability_clash(SECOND, state_of(), frozenset({"notes"}))

    assert caught.value.code == "capability_duplicate"


def test_the_own_earlier_revision_is_no_other_owner() -> None:
    refuse_capability_clash(PROVIDER, state_of(PROVIDER), frozenset({"something-else"}))


def test_an_implementation_of_a_capability_nobody_declares_is_refused() -> None:
    with pytest.raises(Refused) as caught:
        refuse_capability_clash(IMPLEMENTER, state_of(), frozenset())

    assert (caught.value.code, caught.value.diagnostic.subject) == ("capability_unknown", "notes")


@pytest.mark.parametrize(("others", "core"), [((PROVIDER,), frozenset()), ((), frozenset({"notes"}))])
def test_an_implementation_of_a_declared_capability_is_admitted(
    others: tuple[Manifest, ...], core: frozenset[str]
) -> None:
    refuse_capability_clash(IMPLEMENTER, state_of(*others), core)


# --- [documentation] and [[presentation_surfaces]] -------------------------------------------------------


@pytest.mark.parametrize(
    ("key", "value"),
    [
        *((key, value) for key in ("source_root", "site_root") for value in ("/docs", "../docs", "a/../..", "a\\b")),
        *(("canonical", value) for value in ("/a.md", "../a.md", "a.txt", "a", "c:/a.md", "a//b.md", "")),
    ],
)
def test_a_documentation_path_that_leads_away_is_refused(key: str, value: str) -> None:
    """doc_paths (case 29)"""
    document = {**minimal(), "documentation": documentation(**{key: value})}

    assert found(document) == {("manifest_bad_value", f"documentation.{key}")}


@pytest.mark.parametrize("alias", ["/a.md", "../a.md", "a.txt"])
def test_an_alias_that_leads_away_is_refused(alias: str) -> None:
    """doc_paths (case 29)"""
    document = {**minimal(), "documentation": documentation(aliases=["ok.md", alias])}

    assert found(document) == {("manifest_bad_value", "documentation.aliases[1]")}


def test_a_duplicate_alias_is_refused() -> None:
    """doc_paths (case 29)"""
    document = {**minimal(), "documentation": documentation(aliases=["a.md", "b.md", " a.md "])}

    assert found(document) == {("manifest_duplicate", "documentation.aliases")}


@pytest.mark.parametrize("key", ["source_root", "site_root", "canonical"])
def test_incomplete_documentation_is_refused(key: str) -> None:
    document = {**minimal(), "documentation": without(documentation(), key)}

    assert found(document) == {("manifest_missing_key", f"documentation.{key}")}


def test_documentation_without_aliases_has_none() -> None:
    manifest = load_document({**minimal(), "documentation": without(documentation(), "aliases")})

    assert manifest.form["documentation"] is not None
    assert manifest.form["documentation"]["aliases"] == []


@pytest.mark.parametrize("key", surface())
def test_an_incomplete_surface_is_refused(key: str) -> None:
    document = {**minimal(), "presentation_surfaces": [without(surface(), key)]}

    assert found(document) == {("manifest_missing_key", f"presentation_surfaces[0].{key}")}


def test_the_keys_of_a_capability_stand_in_the_order_of_v0() -> None:
    (row,) = load_document({**minimal(), "provides": [capability()]}).form["capabilities"]

    assert list(row)[-3:] == ["real_world_anchor", "entry_command", "capability_kind"]
