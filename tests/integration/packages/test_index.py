"""The index of what the environment offers: a cache that is right, or visibly rebuilt; never trusted.

Extension-formats, *Index*.
"""

from __future__ import annotations

import json
import os
import shutil
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.support.packages import (
    Environment,
    distribution,
    manifest,
    offering,
    write,
    write_entry_points,
)

SCHEMA = '{"type": "object"}'


@pytest.fixture
def environment(tmp_path: Path) -> Environment:
    """An environment that offers one extension, indexed, with every file old enough to be remembered by stat."""
    made = Environment(tmp_path, "site", "other")
    text = manifest("weather-vane", request_schema="schemas/request.json")
    offering(made.site, "weather-vane", text=text, files={"schemas/request.json": SCHEMA})
    settle(made)
    return made


def settle(environment: Environment) -> None:
    """Ask until the index answers: it is kept once its files have been still for a moment."""
    for _ in range(50):
        environment.discover()
        if status(environment) == "fresh":
            return
    raise AssertionError("the index never became fresh")


def status(environment: Environment) -> str:
    """Return what the next question finds of the index."""
    return str(environment.discover()["index"]["status"])


def index(environment: Environment) -> Path:
    """Return the path of the one index."""
    return Path(environment.discover()["index"]["path"])


def damage(path: Path, data: bytes) -> None:
    path.write_bytes(data)


def test_a_first_question_finds_no_index_and_builds_one(tmp_path: Path) -> None:
    environment = Environment(tmp_path)

    found = environment.discover()["index"]

    assert (found["status"], found["rebuilt"]) == ("absent", True)


def test_an_index_of_what_has_not_changed_answers_the_same(environment: Environment) -> None:
    rebuilt = environment.discover("--rebuild")

    again = environment.discover()

    assert rebuilt["index"]["status"] == "rebuild_asked"
    assert (again["index"]["status"], again["index"]["rebuilt"]) == ("fresh", False)
    assert again["extensions"] == rebuilt["extensions"]


def test_the_index_is_private_and_lies_in_the_cache_only(environment: Environment) -> None:
    path = index(environment)

    assert path.is_relative_to(environment.cache)
    assert {stat.S_IMODE(place.stat().st_mode) for place in (environment.cache, *path.parents[:2])} == {0o700}
    assert not (environment.root / "home/state").exists()


# --- stale: what changed is seen ------------------------------------------------------------------------------------

Row = dict[str, Any] | None


def package(environment: Environment) -> Path:
    return environment.site / "weather_vane"


def a_touched_manifest(environment: Environment) -> tuple[str, object]:
    os.utime(package(environment) / "extension.toml")
    return "version", "1.0"


def a_changed_manifest(environment: Environment) -> tuple[str, object]:
    write(package(environment) / "extension.toml", manifest("weather-vane", "2.0"))
    return "version", "2.0"


def a_manifest_changed_within_its_size_and_time(environment: Environment) -> tuple[str, object]:
    path = package(environment) / "extension.toml"
    before = path.stat()
    path.write_bytes(path.read_bytes().replace(b'version = "1.0"', b'version = "4.2"'))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    return "version", "4.2"


def a_manifest_that_went(environment: Environment) -> tuple[str, object]:
    (package(environment) / "extension.toml").unlink()
    return "code", "manifest_unreadable"


def a_broken_schema(environment: Environment) -> tuple[str, object]:
    write(package(environment) / "schemas/request.json", '{"type": "nonsense"}')
    return "state", "broken"


def a_schema_that_went(environment: Environment) -> tuple[str, object]:
    (package(environment) / "schemas/request.json").unlink()
    return "state", "broken"


def a_changed_entry_point(environment: Environment) -> tuple[str, object]:
    info = environment.site / "weather_vane_package-1.0.dist-info"
    write_entry_points(info, {"loopx.extensions": {"weather-vane": "elsewhere"}})
    return "state", "package_missing"


def a_changed_name(environment: Environment) -> tuple[str, object]:
    info = environment.site / "weather_vane_package-1.0.dist-info"
    write(info / "METADATA", "Metadata-Version: 2.1\nName: renamed\nVersion: 1.0\n")
    return "distribution", {"name": "renamed", "version": "1.0"}


def another_package(environment: Environment) -> tuple[str, object]:
    offering(environment.sites[1], "weather-vane", name="rival")
    return "state", "ambiguous"


@pytest.mark.req("M049")
@pytest.mark.parametrize(
    "change",
    [
        a_touched_manifest,
        a_changed_manifest,
        a_manifest_changed_within_its_size_and_time,
        a_manifest_that_went,
        a_broken_schema,
        a_schema_that_went,
        a_changed_entry_point,
        a_changed_name,
        another_package,
    ],
    ids=lambda change: change.__name__,
)
def test_an_index_behind_its_environment_is_stale_and_the_answer_right(
    environment: Environment, change: Callable[[Environment], tuple[str, object]]
) -> None:
    key, value = change(environment)

    document = environment.discover()

    row = next(row for row in document["extensions"] if row["id"] == "weather-vane")
    assert document["index"]["status"] == "stale"
    assert row[key] == value


def test_a_package_that_went_is_no_longer_offered(environment: Environment) -> None:
    shutil.rmtree(environment.site / "weather_vane_package-1.0.dist-info")

    document = environment.discover()

    assert document["index"]["status"] == "stale"
    assert [row for row in document["extensions"] if row["id"] == "weather-vane"] == []


def lacks_a_schema(environment: Environment) -> tuple[Path, str]:
    offering(environment.site, "mended", text=manifest("mended", request_schema="schemas/request.json"))
    return environment.site / "mended/schemas/request.json", SCHEMA


def has_a_bad_schema(environment: Environment) -> tuple[Path, str]:
    text = manifest("mended", request_schema="schemas/request.json")
    offering(environment.site, "mended", text=text, files={"schemas/request.json": "{"})
    return environment.site / "mended/schemas/request.json", SCHEMA


def lacks_its_manifest(environment: Environment) -> tuple[Path, str]:
    offering(environment.site, "mended")
    (environment.site / "mended/extension.toml").unlink()
    return environment.site / "mended/extension.toml", manifest("mended")


def lacks_a_folder_within_a_package(environment: Environment) -> tuple[Path, str]:
    write(environment.site / "outer/__init__.py", "")
    groups = {"loopx.extensions": {"mended": "outer.inner"}}
    distribution(environment.site, "mended-package", groups=groups)
    return environment.site / "outer/inner/extension.toml", manifest("mended")


def lacks_what_a_link_points_to(environment: Environment) -> tuple[Path, str]:
    offering(environment.site, "mended")
    (environment.site / "mended/extension.toml").unlink()
    (environment.site / "mended/extension.toml").symlink_to(environment.root / "elsewhere.toml")
    return environment.root / "elsewhere.toml", manifest("mended", entrypoint="/bin/true")


@pytest.mark.req("M049")
@pytest.mark.parametrize(
    "fault",
    [
        lacks_a_schema,
        has_a_bad_schema,
        lacks_its_manifest,
        lacks_a_folder_within_a_package,
        lacks_what_a_link_points_to,
    ],
    ids=lambda fault: fault.__name__,
)
def test_a_broken_offer_that_is_mended_in_place_is_available_again(
    environment: Environment, fault: Callable[[Environment], tuple[Path, str]]
) -> None:
    path, text = fault(environment)
    settle(environment)
    assert environment.offer("mended")["state"] != "available"

    write(path, text)

    assert environment.offer("mended")["state"] == "available"


# --- damaged and foreign --------------------------------------------------------------------------------------------


def with_changes(document: dict[str, Any], **changes: object) -> bytes:
    return json.dumps({**document, **changes}).encode()


def with_row(document: dict[str, Any], **changes: object) -> bytes:
    rows = [{**row, **changes} for row in document["offers"]]
    return with_changes(document, offers=rows)


Damage = Callable[[dict[str, Any]], bytes]
DAMAGES: dict[str, Damage] = {
    "empty": lambda _: b"",
    "truncated": lambda document: json.dumps(document).encode()[:-20],
    "no_text": lambda _: b"\xff\xfe\x00",
    "deep": lambda _: b"[" * 1_000_000,
    "huge_number": lambda _: b"[" + b"9" * 5000 + b"]",
    "array": lambda _: b"[]",
    "null": lambda _: b"null",
    "rows_are_no_list": lambda document: with_changes(document, offers={}),
    "a_row_is_a_number": lambda document: with_changes(document, offers=[5]),
    "a_row_lacks_keys": lambda document: with_changes(document, offers=[{"id": "weather-vane"}]),
    "looked_at_is_a_list": lambda document: with_changes(document, looked_at=[]),
    "looked_at_is_empty": lambda document: with_changes(document, looked_at={}),
    "a_stat_is_a_number": lambda document: with_changes(document, looked_at=dict.fromkeys(document["looked_at"], 5)),
    "schema_is_a_number": lambda document: with_changes(document, schema=5),
    "no_search_path": lambda document: with_changes(document, search_path=None),
    **{
        f"{key}_of_a_wrong_type": lambda document, key=key: with_row(document, **{key: 5})  # type: ignore[misc]
        for key in ("id", "state", "code", "reason", "distribution", "manifest_path", "version", "digest", "location")
    },
    "distribution_without_version": lambda document: with_row(document, distribution={"name": "x"}),
}


@pytest.mark.parametrize("damaged", DAMAGES.values(), ids=DAMAGES)
def test_a_damaged_index_is_seen_and_rebuilt(environment: Environment, damaged: Damage) -> None:
    expected = environment.offers()
    path = index(environment)
    damage(path, damaged(json.loads(path.read_bytes())))

    document = environment.discover()

    assert (document["index"]["status"], document["index"]["rebuilt"]) == ("damaged", True)
    assert environment.offers() == expected
    assert status(environment) == "fresh"


@pytest.mark.parametrize("damaged", ["deep", "manifest_path_of_a_wrong_type", "distribution_of_a_wrong_type"])
@pytest.mark.parametrize("command", [("doctor",), ("extension", "install", "weather-vane")], ids="-".join)
def test_a_damaged_index_stops_no_command(environment: Environment, damaged: str, command: tuple[str, ...]) -> None:
    path = index(environment)
    damage(path, DAMAGES[damaged](json.loads(path.read_bytes())))

    assert environment(*command).status == 0


def test_an_index_larger_than_its_bound_is_damaged(environment: Environment) -> None:
    path = index(environment)
    with path.open("r+b") as stream:
        stream.truncate(65 * 1024 * 1024)

    assert status(environment) == "damaged"


def test_an_index_that_is_a_fifo_blocks_nothing(environment: Environment) -> None:
    path = index(environment)
    path.unlink()
    os.mkfifo(path)

    assert status(environment) == "damaged"


@pytest.mark.parametrize(
    "foreign",
    [
        lambda document: with_changes(document, schema="loopx_discovery_index_v9"),
        lambda document: with_changes(
            document,
            search_path=[*document["search_path"], "/elsewhere"],
            looked_at={**document["looked_at"], "/elsewhere": []},
        ),
    ],
    ids=["schema", "search_path"],
)
def test_an_index_of_another_version_or_environment_is_foreign(environment: Environment, foreign: Damage) -> None:
    path = index(environment)
    damage(path, foreign(json.loads(path.read_bytes())))

    document = environment.discover()

    assert document["index"]["status"] == "foreign"
    assert "weather-vane" in [row["id"] for row in document["extensions"]]


def test_two_search_paths_share_no_index(environment: Environment) -> None:
    both = index(environment)
    environment.look_in(environment.sites[1])
    found = environment.discover()

    assert Path(found["index"]["path"]) != both
    assert found["index"]["status"] == "absent"
    assert [row for row in found["extensions"] if row["id"] == "weather-vane"] == []


# --- where nothing can be kept --------------------------------------------------------------------------------------


def test_without_a_place_for_a_cache_the_answer_is_right(environment: Environment) -> None:
    expected = environment.offers()
    blocked = environment.root / "no-directory"
    blocked.write_bytes(b"")

    document = environment.discover(env={"XDG_CACHE_HOME": str(blocked)})

    assert document["index"]["rebuilt"] is True
    assert [row for row in document["extensions"] if row in expected] == expected
    assert blocked.read_bytes() == b""


def test_a_cache_below_a_path_that_is_no_text_is_shown_without_lone_surrogates(environment: Environment) -> None:
    place = os.fsdecode(os.fsencode(str(environment.root)) + b"/\xff")

    answer = environment("extension", "discover", env={"XDG_CACHE_HOME": place})

    assert answer.status == 0, answer
    answer.document["index"]["path"].encode("utf-8")


# --- commands.txt ---------------------------------------------------------------------------------------------------


def test_the_commands_of_packages_are_listed_beside_the_index(environment: Environment) -> None:
    info = environment.site / "weather_vane_package-1.0.dist-info"
    groups = {"loopx.extensions": {"weather-vane": "weather_vane"}, "loopx.commands": {"vane": "weather_vane:turn"}}
    write_entry_points(info, groups)

    listed = index(environment).with_name("commands.txt").read_text("utf-8").splitlines()

    assert ["vane", "off"] in [line.split("\t")[0::2] for line in listed]
    assert all(len(line.split("\t")) == 3 for line in listed)


# --- an index decides nothing about trust ---------------------------------------------------------------------------


def planted(environment: Environment, evil: Path) -> bytes:
    """Return an index whose every stat is right and whose row leads to another manifest under the same id."""
    document = json.loads(index(environment).read_bytes())
    return with_row(document, id="weather-vane", manifest_path=str(evil))


@pytest.mark.parametrize("its_id", ["weather-vane", "evil-twin"])
def test_a_planted_row_makes_an_id_trust_no_other_manifest(environment: Environment, its_id: str) -> None:
    evil = write(environment.root / "evil/extension.toml", manifest(its_id, "6.6.6"))
    write(environment.root / "evil/provider", "#!/bin/sh\nexit 0\n")
    genuine = environment.offer("weather-vane")["digest"]
    damage(index(environment), planted(environment, evil))

    preview = environment("extension", "install", "weather-vane")
    damage(index(environment), planted(environment, evil))
    installed = environment("extension", "install", "weather-vane", "--execute", "--plan", preview.document["plan"])

    assert installed.status == 0, installed
    state = json.loads(environment.state_file.read_bytes())["extensions"]
    assert list(state) == ["weather-vane"]
    assert [revision["digest"] for revision in state["weather-vane"]["revisions"]] == [genuine]
