"""`extension discover` and ids in `install` and `upgrade`: what metadata offer, each trouble in its own row.

Contract section 3; extension-formats, *Entry-point groups*, *Finding it without import*, *Discovery states*.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.lifecycle import words
from tests.support.packages import (
    MARKING,
    Environment,
    distribution,
    manifest,
    offering,
    write,
    write_entry_points,
    write_record,
)

EXIT_REFUSED = 2
Standing = tuple[str | None, str, str | None]


@pytest.fixture
def environment(tmp_path: Path) -> Environment:
    return Environment(tmp_path, "site", "other")


def standings(environment: Environment) -> list[Standing]:
    """Return (id, state, code) of every row."""
    return [(row["id"], row["state"], row["code"]) for row in environment.offers()]


def test_what_a_package_offers_is_available_with_its_version_revision_and_digest(environment: Environment) -> None:
    offering(environment.site, "weather-vane", name="weather", version="3.1")

    row = environment.offer("weather-vane")

    assert (row["state"], row["code"], row["version"]) == ("available", None, "3.1")
    assert row["distribution"] == {"name": "weather", "version": "3.1"}
    assert row["manifest_path"] == str(environment.site / "weather_vane/extension.toml")
    assert row["digest"].startswith(row["revision"])


def test_one_distribution_may_offer_several_extensions(environment: Environment) -> None:
    files = {f"{name}/extension.toml": manifest(name) for name in ("left", "right")}
    groups = {"loopx.extensions": {"left": "left", "right": "right"}}
    distribution(environment.site, "both", groups=groups, files=files)

    assert standings(environment) == [("left", "available", None), ("right", "available", None)]


def test_a_dotted_package_is_followed_into_its_folders(environment: Environment) -> None:
    offering(environment.site, "deep-one", package="some.where.deep")

    assert environment.offer("deep-one")["manifest_path"].endswith("some/where/deep/extension.toml")


def test_an_offer_follows_its_extension_from_available_over_installed_to_upgrade_available(
    environment: Environment,
) -> None:
    offering(environment.site, "weather-vane")
    before = environment.offer("weather-vane")["state"]
    environment.install_id("weather-vane")
    installed = environment.offer("weather-vane")
    write(environment.site / "weather_vane/extension.toml", manifest("weather-vane", "2.0"))

    replaced = environment.offer("weather-vane")
    upgraded = environment(*words(replaced["next_command"])[:3], "--execute")

    assert (before, installed["state"], installed["next_command"]) == ("available", "installed", None)
    assert replaced["state"] == "upgrade_available"
    assert upgraded.status == 0, upgraded
    assert environment.offer("weather-vane")["state"] == "installed"
    assert environment.row("weather-vane")["version"] == "2.0"


def test_the_command_of_an_available_offer_previews_its_install(environment: Environment) -> None:
    offering(environment.site, "weather-vane")

    answer = environment(*words(environment.offer("weather-vane")["next_command"]), options=False)

    assert answer.status == 0, answer
    assert answer.document["doctor"]["status"] == "probe_required"
    assert not environment.state_file.exists()


# --- copies of one id -----------------------------------------------------------------------------------------------


def duplicates(environment: Environment) -> None:
    offering(environment.site, "contested", name="first-carrier")
    offering(environment.sites[1], "contested", name="second-carrier", version="7.0")


def one_without_its_package(environment: Environment) -> None:
    offering(environment.site, "contested", name="second-carrier")
    distribution(environment.sites[1], "a-carrier", groups={"loopx.extensions": {"contested": "gone"}})


@pytest.mark.req("M049")
@pytest.mark.parametrize("copies", [duplicates])
def test_every_copy_of_an_id_is_ambiguous_and_names_both_whatever_the_order(
    environment: Environment, copies: object
) -> None:
    assert callable(copies)
    copies(environment)
    forward = environment.offers()

    environment.look_in(*reversed(environment.sites))
    backward = environment.offers()

    assert [row["state"] for row in forward] == ["ambiguous", "ambiguous"]
    for row in forward:
        for other in forward:
            assert f"{other['distribution']['name']} {other['distribution']['version']}" in row["reason"]
    assert forward == backward


@pytest.mark.req("M049")
@pytest.mark.parametrize("copies", [duplicates, one_without_its_package])
@pytest.mark.parametrize("backwards", [False, True])
def test_an_ambiguous_id_is_refused_with_a_command_that_names_one_manifest(
    environment: Environment, copies: object, *, backwards: bool
) -> None:
    assert callable(copies)
    copies(environment)
    if backwards:
        environment.look_in(*reversed(environment.sites))

    refused = environment("extension", "install", "contested", "--execute")
    helped = environment(*words(refused.document["next_command"]), options=False)

    assert (refused.status, refused.code) == (EXIT_REFUSED, "extension_ambiguous")
    assert not environment.state_file.exists()
    assert helped.status == 0, helped
    assert helped.document["extension_id"] == "contested"


# --- copies of one distribution -------------------------------------------------------------------------------------


@pytest.fixture
def overlaid(environment: Environment) -> Environment:
    """One distribution on two places of the search path; the second copy offers more."""
    offering(environment.site, "contested", name="carrier")
    files = {f"{name}/extension.toml": manifest(name, "2.0") for name in ("contested", "extra")}
    groups = {
        "loopx.extensions": {"contested": "contested", "extra": "extra"},
        "loopx.commands": {"roar": "contested:roar"},
    }
    distribution(environment.sites[1], "carrier", "2.0", groups=groups, files=files)
    return environment


@pytest.mark.req("M049")
def test_of_two_copies_of_one_distribution_the_first_is_offered_and_the_other_shadowed(overlaid: Environment) -> None:
    rows = overlaid.offers()

    assert [(row["id"], row["state"], row["version"]) for row in rows] == [
        ("contested", "available", "1.0"),
        ("contested", "shadowed", None),
        ("extra", "shadowed", None),
    ]
    for row in rows[1:]:
        assert all(str(site) in row["reason"] for site in overlaid.sites)
        assert (row["code"], row["commands"], row["next_command"]) == ("distribution_shadowed", [], None)


@pytest.mark.req("X4")
def test_a_command_that_only_a_shadowed_copy_advertises_is_nobodys(overlaid: Environment) -> None:
    (first, *_) = overlaid.offers()

    refused = overlaid("roar")

    assert first["commands"] == []
    assert (refused.status, refused.code) == (EXIT_REFUSED, "unknown_command")


@pytest.mark.req("M049")
def test_which_copy_is_the_first_is_decided_by_the_search_path(overlaid: Environment) -> None:
    overlaid.look_in(*reversed(overlaid.sites))

    assert [(row["id"], row["state"], row["version"]) for row in overlaid.offers()] == [
        ("contested", "available", "2.0"),
        ("contested", "shadowed", None),
        ("extra", "available", "2.0"),
    ]


@pytest.mark.req("M049")
def test_an_overlaid_extension_is_installed_and_the_extra_one_is_not(overlaid: Environment) -> None:
    refused = overlaid("extension", "install", "extra", "--execute")

    overlaid.install_id("contested")

    assert (refused.status, refused.code) == (EXIT_REFUSED, "extension_broken")
    assert [row["id"] for row in overlaid.rows()] == ["contested"]


@pytest.mark.req("M049")
def test_a_second_metadata_folder_beside_the_first_is_reported(environment: Environment) -> None:
    """An interrupted upgrade leaves both; they lead to one manifest, so the offer stands."""
    offering(environment.site, "weather-vane", name="vane")
    distribution(environment.site, "vane", "0.9", groups={"loopx.extensions": {"weather-vane": "weather_vane"}})

    found = environment("doctor").document["checks"]

    assert "duplicate_distribution" in [row["code"] for row in found if row["subject"] == "vane"]
    assert standings(environment) == [("weather-vane", "available", None)]


# --- nothing is imported --------------------------------------------------------------------------------------------


@pytest.mark.req("M048")
def test_discovering_imports_no_package_that_offers_anything(environment: Environment) -> None:
    """discovery_imports_nothing (case 72)"""
    mark = environment.root / "mark"
    marking = MARKING.format(mark=str(mark))
    info = offering(environment.site, "canary", package="birds.canary", files={"__init__.py": marking})
    write(environment.site / "birds/__init__.py", marking)
    write_entry_points(
        info,
        {
            "loopx.extensions": {"canary": "birds.canary"},
            "loopx.plugins": {"canary": "birds.canary"},
            "loopx.commands": {"tweet": "birds.canary:tweet"},
        },
    )
    write_record(info, [])

    row = environment.offer("canary", "--rebuild")

    assert row["state"] == "available"
    assert not mark.exists()
