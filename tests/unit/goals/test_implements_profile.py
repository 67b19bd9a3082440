"""The integration profile of an implementer: its own where it brings one, else that of the declaring extension."""

from __future__ import annotations

import json
from typing import Any

import pytest

from loopx_host.lifecycle.extensions.state import State
from loopx_host.lifecycle.goals.capability_providers import CapabilityProvider, providers_of
from tests.support.capabilities import IMPLEMENTS, operation, profile, provides
from tests.support.fakes import World, code_of
from tests.support.manifests import (
    Document,
    canonical,
    expected_form,
    found,
    load_bytes,
    load_document,
    minimal,
    revision_of,
    sha256,
)
from tests.support.project_files import ROOT

V0 = ROOT / "tests/data/v0"
DECLARER, IMPLEMENTER = "declarer", "implementer"
PERMISSIONS = 'permissions = ["fs.read:repo"]'
DECLARED = profile(operation("inspect"))
OWN = profile(operation("look"))
OF_OTHER_PROTOCOL = profile(operation("inspect"), protocol="other_v0")
DOCUMENT: Document = {
    **minimal(),
    "permissions": ["fs.read:repo"],
    "implements": [{"capability_id": "weather", "protocol": "sample_v0", "integration_profile": "own.json"}],
}


def world(*, declared: str | None = DECLARED, own: str | None = None) -> World:
    """Return a world of an implementer, with or without a profile of its own, and of who declares the capability."""
    made = World()
    if declared is not None:
        made.holding(DECLARER, top=PERMISSIONS, runtime=provides(), files={"profile.json": declared})
    row, files = IMPLEMENTS.format(id="weather"), {}
    if own is not None:
        row, files = row + 'integration_profile = "own.json"\n', {"own.json": own}
    return made.holding(IMPLEMENTER, top=PERMISSIONS, runtime=row, files=files)


def offered(made: World) -> dict[str, CapabilityProvider]:
    """Return who serves the capability, by extension id."""
    state = State.parse(made.store.data, made.store.location)
    return {provider.entry.id: provider for provider in providers_of("weather", state, made.packages)}


def digest(text: str) -> str:
    """Return the digest of a profile by the words of the contract, without the code under test."""
    return f"sha256:{sha256(canonical(json.loads(text)))}"


def loaded_form(own: str) -> dict[str, Any]:
    """Return the normal form that `DOCUMENT` has by the words of the contract when `own` lies beside it."""
    form = expected_form(DOCUMENT)
    kept = {"path": "own.json", "digest": digest(own), "document": json.loads(own)}
    form["implementations"][0]["integration_profile"] = kept
    return form


def test_an_implementer_serves_its_own_profile_and_the_declarer_keeps_that_of_its_own() -> None:
    serving = offered(world(own=OWN))

    assert [one["id"] for one in serving[IMPLEMENTER].operations] == ["look"]
    assert [one["id"] for one in serving[DECLARER].operations] == ["inspect"]


def test_an_implementer_with_a_profile_of_its_own_serves_whoever_declares_the_capability() -> None:
    assert list(offered(world(declared=None, own=OWN))) == [IMPLEMENTER]
    assert IMPLEMENTER in offered(world(declared=OF_OTHER_PROTOCOL, own=OWN))


def test_a_binding_pins_the_profile_of_the_implementer() -> None:
    made = world(own=OWN)

    receipt = made.bind(provider_id=IMPLEMENTER, operations=["look"])

    assert receipt["binding"]["provider"]["profile_digest"] == digest(OWN)


def test_an_operation_that_only_the_declarer_has_is_not_bound_to_the_implementer() -> None:
    made = world(own=OWN)

    assert code_of(lambda: made.bind(provider_id=IMPLEMENTER, operations=["inspect"])) == "operation_unknown"


def test_without_a_profile_of_its_own_an_implementer_serves_that_of_the_declarer() -> None:
    receipt = world().bind(provider_id=IMPLEMENTER)

    assert receipt["binding"]["provider"]["profile_digest"] == digest(DECLARED)


def test_an_implementer_of_another_protocol_than_the_declared_profile_is_not_offered() -> None:
    assert list(offered(world(declared=OF_OTHER_PROTOCOL))) == [DECLARER]


def test_an_implementer_without_any_profile_is_not_offered() -> None:
    made = world(declared=None)

    assert offered(made) == {}
    assert code_of(lambda: made.bind(provider_id=IMPLEMENTER)) == "capability_unavailable"


@pytest.mark.parametrize("own", [OWN, DECLARED], ids=["one operation", "another"])
def test_the_profile_of_an_implementer_is_in_its_revision(own: str) -> None:
    manifest = load_document(DOCUMENT, {"own.json": own.encode()})

    assert manifest.form == loaded_form(own)
    assert manifest.revision == revision_of(loaded_form(own))


def test_a_changed_profile_of_an_implementer_is_a_new_revision_and_its_white_space_is_not() -> None:
    spaced = json.dumps(json.loads(OWN), indent=4)

    revisions = [load_document(DOCUMENT, {"own.json": text.encode()}).revision for text in (OWN, spaced, DECLARED)]

    assert revisions[0] == revisions[1] != revisions[2]


def test_a_v0_manifest_that_implements_without_a_profile_keeps_its_recorded_revision() -> None:
    recorded = json.loads((V0 / "revision-full.json").read_text("utf-8"))

    manifest = load_bytes((V0 / "revision-full.toml").read_bytes())

    assert [set(row) for row in manifest.implementations] == [
        {"capability_id", "protocol", "provider_id", "provider_version"}
    ]
    assert manifest.revision == recorded["revision"]


@pytest.mark.parametrize(
    "own",
    [
        profile(capability_id="other"),
        profile(operation(permission="fs.read:elsewhere")),
        json.dumps({"operations": []}),
    ],
    ids=["of another capability", "of a permission that is not declared", "of other keys"],
)
def test_the_profile_of_an_implementer_follows_the_rules_of_every_profile(own: str) -> None:
    at = "implements[0].integration_profile"

    assert {pointer for _, pointer in found(DOCUMENT, {"own.json": own.encode()})} == {at}


def test_a_profile_that_is_not_there_is_refused() -> None:
    assert found(DOCUMENT) == {("manifest_file_unreadable", "implements[0].integration_profile")}
