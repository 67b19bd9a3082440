"""Every trouble of an offer spoils its own row only, and installing it by its id is refused."""

from __future__ import annotations

import json
import os
import zipfile
from pathlib import Path

import pytest

from tests.support.lifecycle import words
from tests.support.packages import (
    Environment,
    distribution,
    manifest,
    offering,
)

EXIT_REFUSED = 2
Standing = tuple[str | None, str, str | None]


@pytest.fixture
def environment(tmp_path: Path) -> Environment:
    return Environment(tmp_path, "site", "other")


def standings(environment: Environment) -> list[Standing]:
    """Return (id, state, code) of every row."""
    return [(row["id"], row["state"], row["code"]) for row in environment.offers()]


# --- every trouble spoils its own row -------------------------------------------------------------------------------


def other_name(environment: Environment) -> Standing:
    offering(environment.site, "advertised", text=manifest("manifested"))
    return ("advertised", "broken", "id_mismatch")


def no_package(environment: Environment) -> Standing:
    distribution(environment.site, "empty", groups={"loopx.extensions": {"nothing": "not.here"}})
    return ("nothing", "package_missing", "package_missing")


def no_package_name(environment: Environment) -> Standing:
    distribution(environment.site, "odd", groups={"loopx.extensions": {"odd-one": "../../etc"}})
    return ("odd-one", "package_missing", "package_missing")


def no_manifest(environment: Environment) -> Standing:
    offering(environment.site, "bare")
    (environment.site / "bare/extension.toml").unlink()
    return ("bare", "broken", "manifest_unreadable")


def no_toml(environment: Environment) -> Standing:
    offering(environment.site, "garbled", text="[[[")
    return ("garbled", "broken", "manifest_syntax")


def invalid_manifest(environment: Environment) -> Standing:
    offering(environment.site, "invalid", text=manifest("invalid").replace("test_v0", "no protocol"))
    return ("invalid", "broken", "manifest_invalid")


def manifest_is_a_fifo(environment: Environment) -> Standing:
    offering(environment.site, "waiting")
    (environment.site / "waiting/extension.toml").unlink()
    os.mkfifo(environment.site / "waiting/extension.toml")
    return ("waiting", "broken", "manifest_unreadable")


def other_api(environment: Environment) -> Standing:
    offering(environment.site, "futuristic", text=manifest("futuristic", api=">=2"))
    return ("futuristic", "incompatible", "api_incompatible")


def no_metadata(environment: Environment) -> Standing:
    (offering(environment.site, "headless") / "METADATA").unlink()
    return ("headless", "broken", "metadata_damaged")


def metadata_is_a_fifo(environment: Environment) -> Standing:
    info = offering(environment.site, "blocking")
    (info / "METADATA").unlink()
    os.mkfifo(info / "METADATA")
    return ("blocking", "broken", "metadata_damaged")


def metadata_is_no_text(environment: Environment) -> Standing:
    (offering(environment.site, "binary") / "METADATA").write_bytes(b"Name: \xff\xfe\n")
    return ("binary", "broken", "metadata_damaged")


def entry_points_without_a_section(environment: Environment) -> Standing:
    info = offering(environment.site, "loose")
    (info / "entry_points.txt").write_text("loose = loose\n[loopx.extensions]\nloose = loose\n", "utf-8")
    return ("loose", "broken", "metadata_damaged")


def entry_points_with_an_open_section(environment: Environment) -> Standing:
    info = offering(environment.site, "open")
    (info / "entry_points.txt").write_text("[loopx.extensions\nopen = open\n", "utf-8")
    return (None, "broken", "metadata_damaged")


def entry_points_with_a_key_twice(environment: Environment) -> Standing:
    info = offering(environment.site, "twice")
    (info / "entry_points.txt").write_text("[loopx.extensions]\ntwice = twice\ntwice = other\n", "utf-8")
    return ("twice", "broken", "metadata_damaged")


def entry_points_are_no_text(environment: Environment) -> Standing:
    info = offering(environment.site, "binary-entries")
    (info / "entry_points.txt").write_bytes(b"[loopx.extensions]\n\xff = x\n")
    return (None, "broken", "metadata_damaged")


def editable_that_points_nowhere(environment: Environment) -> Standing:
    distribution(
        environment.site,
        "lost",
        groups={"loopx.extensions": {"lost": "lost"}},
        editable=environment.root / "gone",
    )
    return ("lost", "broken", "editable_unresolved")


def editable_with_a_broken_address(environment: Environment) -> Standing:
    info = offering(environment.site, "strange-address")
    address = {"url": "file://[", "dir_info": {"editable": True}}
    (info / "direct_url.json").write_text(json.dumps(address), "utf-8")
    return ("strange-address", "available", None)


def address_nested_too_deep(environment: Environment) -> Standing:
    info = offering(environment.site, "deep-address")
    (info / "direct_url.json").write_text("[" * 100_000, "utf-8")
    return ("deep-address", "available", None)


TROUBLES = [
    other_name,
    no_package,
    no_package_name,
    no_manifest,
    no_toml,
    invalid_manifest,
    manifest_is_a_fifo,
    other_api,
    no_metadata,
    metadata_is_a_fifo,
    metadata_is_no_text,
    entry_points_without_a_section,
    entry_points_with_an_open_section,
    entry_points_with_a_key_twice,
    entry_points_are_no_text,
    editable_that_points_nowhere,
    editable_with_a_broken_address,
    address_nested_too_deep,
]


@pytest.mark.req("M049")
@pytest.mark.parametrize("trouble", TROUBLES, ids=lambda trouble: trouble.__name__)
def test_a_trouble_is_named_in_its_own_row_and_spoils_no_other(environment: Environment, trouble: object) -> None:
    assert callable(trouble)
    offering(environment.site, "a-neighbour")
    offering(environment.sites[1], "z-neighbour")
    expected = trouble(environment)

    found = standings(environment)

    healthy = {("a-neighbour", "available", None), ("z-neighbour", "available", None)}
    assert sorted(found, key=str) == sorted({*healthy, expected}, key=str)


@pytest.mark.req("M049")
def test_all_troubles_at_once_are_each_in_their_row(environment: Environment) -> None:
    expected = [trouble(environment) for trouble in TROUBLES]

    assert sorted(standings(environment), key=str) == sorted(expected, key=str)


def test_a_leftover_of_an_interrupted_install_offers_nothing(environment: Environment) -> None:
    offering(environment.site, "weather-vane", folder="~eather_vane-1.0.dist-info")

    assert standings(environment) == []


def test_an_archive_on_the_search_path_is_named_and_not_searched(environment: Environment) -> None:
    archive = environment.root / "packages.zip"
    with zipfile.ZipFile(archive, "w") as made:
        made.writestr("zipped-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: zipped\nVersion: 1.0\n")
        made.writestr("zipped-1.0.dist-info/entry_points.txt", "[loopx.extensions]\nzipped = zipped\n")
        made.writestr("zipped/extension.toml", manifest("zipped"))
    environment.look_in(environment.site, archive)

    assert standings(environment) == [(None, "broken", "unsupported_location")]


def test_an_egg_info_folder_offers_like_a_dist_info_folder(environment: Environment) -> None:
    info = offering(environment.site, "old-style", folder="old_style.egg-info")
    (info / "METADATA").rename(info / "PKG-INFO")

    assert standings(environment) == [("old-style", "available", None)]


def test_packages_in_the_current_directory_are_no_installed_packages(environment: Environment) -> None:
    here = environment.root / "here"
    offering(here, "lying-around")
    environment.look_in(environment.site, here)

    rows = environment.offers(cwd=here)

    assert rows == []


# --- editable installs, as the build backends leave them ------------------------------------------------------------


def test_the_way_out_of_an_unresolved_editable_install_works(environment: Environment) -> None:
    editable_that_points_nowhere(environment)

    answer = environment(*words(environment.offer("lost")["next_command"]), options=False)

    assert answer.status == 0, answer


def duplicates(environment: Environment) -> None:
    offering(environment.site, "contested", name="first-carrier")
    offering(environment.sites[1], "contested", name="second-carrier", version="7.0")


# --- refusals by id -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("verb", ["install", "upgrade"])
@pytest.mark.parametrize("flags", [(), ("--execute",)], ids=["preview", "execute"])
def test_an_id_that_nothing_offers_is_refused(environment: Environment, verb: str, flags: tuple[str, ...]) -> None:
    answer = environment("extension", verb, "unheard-of", *flags)

    assert (answer.status, answer.code) == (EXIT_REFUSED, "extension_not_offered")
    assert environment(*words(answer.document["next_command"]), options=False).status == 0


@pytest.mark.parametrize(
    "trouble", [other_name, no_package, no_manifest, no_toml, other_api, no_metadata, editable_that_points_nowhere]
)
@pytest.mark.parametrize("verb", ["install", "upgrade"])
def test_a_broken_offer_is_refused_and_its_command_shows_why(
    environment: Environment, verb: str, trouble: object
) -> None:
    assert callable(trouble)
    identifier, _, code = trouble(environment)

    answer = environment("extension", verb, identifier, "--execute")
    shown = environment(*words(answer.document["next_command"]), options=False)

    assert (answer.status, answer.code) == (EXIT_REFUSED, "extension_broken")
    assert code in [row["code"] for row in shown.document["extensions"] if row["id"] == identifier]
    assert not environment.state_file.exists()


def test_a_manifest_named_by_its_path_is_installed_though_its_id_is_contested(environment: Environment) -> None:
    duplicates(environment)

    answer = environment.install(environment.sites[1] / "contested/extension.toml")

    assert answer.status == 0, answer


def test_a_damaged_state_file_spoils_the_standing_and_not_the_offers(environment: Environment) -> None:
    offering(environment.site, "weather-vane")
    environment.state_file.write_bytes(b"{")

    document = environment.discover()

    assert document["state_code"] == "state_damaged"
    assert "weather-vane" in [row["id"] for row in document["extensions"]]
