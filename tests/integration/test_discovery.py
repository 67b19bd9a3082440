"""`extension discover` and ids in `install` and `upgrade`: what metadata offer, each trouble in its own row.

Contract section 3; extension-formats, *Entry-point groups*, *Finding it without import*, *Discovery states*.
"""

from __future__ import annotations

import json
import os
import zipfile
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


def editable(environment: Environment, package: Path, files: dict[str, str]) -> Path:
    """Write the metadata of an editable install of `package` and the files that point to it."""
    write(package / "extension.toml", manifest("edited"))
    write(package / "__init__.py", "")
    groups = {"loopx.extensions": {"edited": "edited"}}
    return distribution(environment.site, "edited-package", groups=groups, files=files, editable=package.parent)


def test_a_path_file_leads_to_the_source(environment: Environment) -> None:
    package = environment.root / "project/src/edited"
    editable(environment, package, {"_edited_package.pth": f"{package.parent}\n"})

    assert environment.offer("edited")["manifest_path"] == str(package / "extension.toml")


def test_the_literal_mapping_of_a_finder_leads_to_the_source(environment: Environment) -> None:
    package = environment.root / "project/lib/edited"
    finder = f"MAPPING: dict[str, str] = {{'edited': {str(package)!r}}}\nraise SystemExit\n"
    files = {
        "__editable___edited_finder.py": finder,
        "__editable__.edited.pth": "import __editable___edited_finder\n",
    }
    editable(environment, package, files)

    assert environment.offer("edited")["manifest_path"] == str(package / "extension.toml")


def test_the_source_wins_over_a_copy_in_the_site_directory(environment: Environment) -> None:
    package = environment.root / "project/src/edited"
    copy = {"edited/extension.toml": manifest("edited", "0.1")}
    editable(environment, package, {"_edited_package.pth": f"{package.parent}\n", **copy})

    assert environment.offer("edited")["version"] == "1.0"


def test_a_mapping_that_is_no_literal_is_not_executed(environment: Environment) -> None:
    mark = environment.root / "mark"
    finder = f"MAPPING = dict(edited=open({str(mark)!r}, 'w').name)\n"
    editable(environment, environment.root / "project/edited", {"__editable___edited_finder.py": finder})

    row = environment.offer("edited")

    assert (row["state"], row["code"]) == ("broken", "editable_unresolved")
    assert not mark.exists()


def test_the_way_out_of_an_unresolved_editable_install_works(environment: Environment) -> None:
    editable_that_points_nowhere(environment)

    answer = environment(*words(environment.offer("lost")["next_command"]), options=False)

    assert answer.status == 0, answer


def test_a_path_file_of_another_distribution_is_not_followed(environment: Environment) -> None:
    stray = environment.root / "stray"
    write(stray / "edited/extension.toml", manifest("edited"))
    groups = {"loopx.extensions": {"edited": "edited"}}
    distribution(environment.site, "a", groups=groups, editable=environment.root / "gone")
    write(environment.site / "_another_package.pth", f"{stray}\n")

    assert environment.offer("edited")["code"] == "editable_unresolved"


def test_metadata_that_a_build_left_in_the_source_is_no_second_copy(environment: Environment) -> None:
    """A flat editable install puts the project, with its egg-info, on the search path."""
    project = environment.root / "project"
    editable(environment, project / "edited", {"__editable__.edited_package-1.0.pth": f"{project}\n"})
    groups = {"loopx.extensions": {"edited": "edited"}}
    distribution(project, "edited-package", groups=groups, folder="edited_package.egg-info")
    environment.look_in(environment.site, project)

    assert standings(environment) == [("edited", "available", None)]


# --- copies of one id -----------------------------------------------------------------------------------------------


def duplicates(environment: Environment) -> None:
    offering(environment.site, "contested", name="first-carrier")
    offering(environment.sites[1], "contested", name="second-carrier", version="7.0")


def same_distribution_twice(environment: Environment) -> None:
    offering(environment.site, "contested", name="carrier")
    offering(environment.sites[1], "contested", name="carrier", version="2.0")


def same_version_twice(environment: Environment) -> None:
    offering(environment.site, "contested", name="carrier")
    offering(environment.sites[1], "contested", name="carrier", text=manifest("contested", timeout_seconds=9))


def one_without_its_package(environment: Environment) -> None:
    offering(environment.site, "contested", name="second-carrier")
    distribution(environment.sites[1], "a-carrier", groups={"loopx.extensions": {"contested": "gone"}})


@pytest.mark.req("M049")
@pytest.mark.parametrize("copies", [duplicates, same_distribution_twice, same_version_twice])
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
@pytest.mark.parametrize("copies", [duplicates, same_distribution_twice, same_version_twice, one_without_its_package])
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


@pytest.mark.req("M049")
def test_a_second_metadata_folder_beside_the_first_is_reported(environment: Environment) -> None:
    """An interrupted upgrade leaves both; they lead to one manifest, so the offer stands."""
    offering(environment.site, "weather-vane", name="vane")
    distribution(environment.site, "vane", "0.9", groups={"loopx.extensions": {"weather-vane": "weather_vane"}})

    found = environment("doctor").document["checks"]

    assert "duplicate_distribution" in [row["code"] for row in found if row["subject"] == "vane"]
    assert standings(environment) == [("weather-vane", "available", None)]


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
