"""One metadata folder at a time, read with a bound: damage is noted, never raised."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from loopx_host.adapters.packages.distributions import (
    Installed,
    by_name,
    entry_points_problem,
    installed,
    metadata_names,
    normalised,
)
from tests.support.packages import distribution, write


@pytest.fixture
def info(tmp_path: Path) -> Path:
    groups = {"console_scripts": {"vane": "vane.cli:main"}}
    return distribution(tmp_path, "Some.Name", groups=groups, requires=("leaf", 'fast; extra == "fast"'))


def test_a_sound_folder_has_a_name_a_version_entry_points_and_requirements(info: Path) -> None:
    found = Installed(str(info))

    assert (found.label, found.damage) == ({"name": "Some.Name", "version": "1.0"}, None)
    assert [(one.group, one.name, one.value) for one in found.entry_points()] == [
        ("console_scripts", "vane", "vane.cli:main")
    ]
    assert [line.split(";")[0].strip() for line in found.requires()] == ["leaf", "fast"]


def test_an_egg_info_that_is_a_single_file_is_read(tmp_path: Path) -> None:
    path = write(tmp_path / "old-1.0.egg-info", "Metadata-Version: 1.0\nName: old\nVersion: 1.0\n")

    found = Installed(str(path))

    assert (found.label, found.damage, found.entry_points()) == ({"name": "old", "version": "1.0"}, None, [])


def fifo(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def directory(path: Path) -> None:
    path.unlink()
    path.mkdir()


@pytest.mark.parametrize(
    "spoil",
    [
        lambda path: path.unlink(),
        fifo,
        directory,
        lambda path: path.write_bytes(b"\xff\xfe"),
        lambda path: path.write_bytes(b""),
        lambda path: path.write_bytes(b"Name: x\n"),
        lambda path: path.write_bytes(b"Name: x\nVersion: 1\n" + b"x" * (9 * 1024 * 1024)),
    ],
    ids=["missing", "fifo", "directory", "no_text", "empty", "no_version", "too_large"],
)
def test_unusable_metadata_are_damage_that_names_the_folder(info: Path, spoil: object) -> None:
    assert callable(spoil)
    spoil(info / "METADATA")

    found = Installed(str(info))

    assert found.label is None
    assert str(info) in str(found.damage)


@pytest.mark.parametrize(
    ("url", "source"),
    [
        ("file:///made/up/a%20b", "/made/up/a b"),
        ("https://example.invalid/x", None),
        ("file://[", None),
        (5, None),
        (None, None),
    ],
)
def test_the_source_of_an_editable_install_is_a_file_address(info: Path, url: object, source: str | None) -> None:
    write(info / "direct_url.json", json.dumps({"url": url, "dir_info": {"editable": True}}))

    assert Installed(str(info)).editable_source() == source


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{}",
        "[]",
        "null",
        "[" * 100_000,
        '{"url": "file:///x"}',
        '{"url": "file:///x", "dir_info": {"editable": 1}}',
    ],
    ids=range(7),
)
def test_other_addresses_are_no_editable_install(info: Path, text: str) -> None:
    write(info / "direct_url.json", text)

    assert Installed(str(info)).editable_source() is None


def test_a_record_lists_files_without_byte_code_and_what_an_installer_notes(info: Path) -> None:
    rows = [
        "vane/cli.py,sha256=x,1",
        '"odd, name.py",,',
        "vane/__pycache__/cli.pyc,,",
        f"{info.name}/RECORD,,",
        f"{info.name}/INSTALLER,,",
        f"{info.name}/REQUESTED,,",
        f"{info.name}/METADATA,,",
        "other/INSTALLER,,",
        "",
    ]
    write(info / "RECORD", "\n".join(rows))

    assert Installed(str(info)).record() == [
        "vane/cli.py",
        "odd, name.py",
        f"{info.name}/METADATA",
        "other/INSTALLER",
    ]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("[a]\nb = c\n", None),
        ("# note\n; note\n\n[a]\nb = c:d [x]\n[b]\nb = c\n", None),
        ("b = c\n", 1),
        ("[a\n", 1),
        ("[a]\n\nb\n", 3),
        ("[a]\nb = c\nb = d\n", 3),
        ("[a]\nb = c\n[b]\n[a]\nb = c\n", 5),
    ],
)
def test_what_is_wrong_with_entry_points_is_named_by_its_line(text: str, line: int | None) -> None:
    problem = entry_points_problem(text)

    assert (problem is None) if line is None else str(problem).startswith(f"line {line}:")


def test_leftovers_are_listed_and_are_no_distribution(tmp_path: Path) -> None:
    (tmp_path / "~ane-1.0.dist-info").mkdir()
    distribution(tmp_path, "vane")

    assert metadata_names(str(tmp_path)) == ["vane-1.0.dist-info", "~ane-1.0.dist-info"]
    assert [one.name for one in installed(str(tmp_path))] == ["vane"]
    assert list(by_name(str(tmp_path))) == ["vane"]


@pytest.mark.parametrize("name", ["Some.Name", "some_name", "some-name", "SOME--name", "some-_.name"])
def test_spellings_of_one_name_compare_equal(name: str) -> None:
    assert normalised(name) == "some-name"


def test_a_place_that_is_not_there_holds_nothing(tmp_path: Path) -> None:
    assert metadata_names(str(tmp_path / "nowhere")) == []
