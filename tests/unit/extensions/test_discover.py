"""The verb `discover` over ports in memory: what is offered, how it stands to what is installed, and the way on."""

from __future__ import annotations

from typing import Any

import pytest

from loopx_host.lifecycle.extensions.discover import DiscoverRequest, discover
from tests.support.fakes import World

INDEX = {"status": "fresh", "rebuilt": False, "path": "/made/up/index.json"}


def shown(world: World, *rows: Any) -> Any:
    world.discovery.rows = list(rows)
    return discover(DiscoverRequest(rebuild=False), world)


def test_an_offer_that_nobody_trusts_yet_leads_to_its_install() -> None:
    world = World()
    row = world.discovery.row("probe-me")

    document = shown(world, row)

    known = {key: value for key, value in row.items() if key != "files"}
    assert document == {
        "ok": True,
        "schema_version": "loopx_extension_discovery_v0",
        "extensions": [{**known, "next_command": ("extension", "install", "probe-me")}],
        "index": INDEX,
        "state_code": None,
    }


@pytest.mark.parametrize(
    ("same", "state", "command"),
    [(True, "installed", None), (False, "upgrade_available", ("extension", "upgrade", "probe-me"))],
)
def test_an_offer_that_is_installed_says_whether_it_is_another_one(
    same: bool, state: str, command: tuple[str, ...] | None
) -> None:
    world = World().holding()
    digest = world.entry().active.manifest.digest if same else "0" * 64

    (row,) = shown(world, world.discovery.row("probe-me", digest=digest))["extensions"]

    assert (row["state"], row["next_command"]) == (state, command)


@pytest.mark.parametrize(
    ("state", "code", "command"),
    [
        ("ambiguous", None, ("extension", "install", "--manifest", "/made/up/site/extension.toml")),
        ("broken", "editable_unresolved", ("extension", "install", "--help")),
        ("broken", "id_mismatch", None),
        ("incompatible", "api_incompatible", None),
    ],
)
def test_an_offer_that_cannot_be_installed_by_its_id_keeps_its_state_and_shows_what_still_works(
    state: str, code: str | None, command: tuple[str, ...] | None
) -> None:
    world = World().holding()

    (row,) = shown(world, world.discovery.row("probe-me", state=state, code=code))["extensions"]

    assert (row["state"], row["code"], row["next_command"]) == (state, code, command)


def test_a_bad_entry_is_not_taken_for_an_installed_one() -> None:
    world = World().holding(enabled=1)

    (row,) = shown(world, world.discovery.row("probe-me"))["extensions"]

    assert (row["state"], row["next_command"]) == ("available", ("extension", "install", "probe-me"))


def test_a_damaged_state_spoils_the_standing_and_not_the_offers() -> None:
    world = World()
    world.store.data = b"{"

    document = shown(world, world.discovery.row("probe-me"))

    assert (document["ok"], document["state_code"]) == (True, "state_damaged")
    assert [row["state"] for row in document["extensions"]] == ["available"]


@pytest.mark.parametrize("rebuild", [True, False])
def test_the_packages_are_looked_at_again_only_when_asked(rebuild: bool) -> None:
    world = World()

    discover(DiscoverRequest(rebuild=rebuild), world)

    assert world.discovery.rebuilt == [rebuild]
