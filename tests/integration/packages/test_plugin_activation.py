"""Only what was activated runs: a package that changed since, or that nobody activated, never does."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

from loopx_host.adapters.packages.plugin_loading import advertised
from tests.support.packages import distribution, write_entry_points
from tests.support.plugin_zoo import EXTENSION, MODULE, NAME, VERSION, VIEWS, Zoo, refused

LOAD, SIGNATURE, HOOK, CHANGED = "plugin_load_failed", "plugin_signature", "plugin_hook_failed", "activation_changed"


@pytest.fixture
def zoo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Zoo:
    return Zoo(tmp_path, monkeypatch)


@pytest.mark.req("X15")
def test_a_package_runs_once_it_is_activated(zoo: Zoo) -> None:
    activation = zoo.put(f"open({str(zoo.canary)!r}, 'w').close()\n" + VIEWS)

    zoo.call(activation)

    assert zoo.canary.exists()


def swap(zoo: Zoo) -> None:
    (zoo.site / "other_hooks.py").write_text((zoo.site / f"{MODULE}.py").read_text("utf-8"), "utf-8")
    write_entry_points(zoo.info, {"loopx.plugins": {EXTENSION: "other_hooks"}})


def add_command(zoo: Zoo) -> None:
    write_entry_points(zoo.info, {"loopx.plugins": {EXTENSION: MODULE}, "loopx.commands": {"roar": f"{MODULE}:f"}})


def take_metadata(zoo: Zoo) -> None:
    shutil.rmtree(zoo.info)


def change_version(zoo: Zoo) -> None:
    metadata = zoo.info / "METADATA"
    metadata.write_text(metadata.read_text("utf-8").replace("Version: 1.0", "Version: 1.1"), "utf-8")


def damage(zoo: Zoo) -> None:
    (zoo.info / "METADATA").unlink()


def garble(zoo: Zoo) -> None:
    with (zoo.info / "entry_points.txt").open("a") as opened:
        opened.write("no equals sign\n")


def put_before(zoo: Zoo) -> None:
    """Put another version of the package on the path before the activated one."""
    earlier = zoo.site.parent / "earlier"
    earlier.mkdir()
    distribution(earlier, NAME, "2.0", groups={"loopx.plugins": {EXTENSION: MODULE}})
    sys.path.insert(0, str(earlier))  # taken back with the fixture's own change


CHANGES = (swap, add_command, take_metadata, change_version, damage, garble, put_before)


@pytest.mark.req("X15")
@pytest.mark.parametrize("change", CHANGES, ids=lambda one: one.__name__)
def test_what_is_not_what_was_activated_never_runs(zoo: Zoo, change: Any) -> None:
    activation = zoo.put(f"open({str(zoo.canary)!r}, 'w').close()\n" + VIEWS)
    change(zoo)

    said = refused(lambda: zoo.call(activation))

    assert (said.code, said.diagnostic.subject) == (CHANGED, EXTENSION)
    assert said.diagnostic.next_command == ("extension", "upgrade", EXTENSION)
    assert not zoo.canary.exists()


def test_metadata_without_the_module_is_a_failed_load(zoo: Zoo) -> None:
    activation = zoo.put()
    (zoo.site / f"{MODULE}.py").unlink()

    assert refused(lambda: zoo.call(activation)).code == LOAD


def test_a_command_without_its_function_is_a_failed_load(zoo: Zoo) -> None:
    activation = zoo.put(commands={"roar": f"{MODULE}:no_such_function"})

    said = refused(lambda: zoo.command(activation))

    assert said.code == LOAD
    assert said.blocks["entry_point"] == {
        "group": "loopx.commands",
        "name": "roar",
        "value": f"{MODULE}:no_such_function",
    }


def test_an_unknown_command_is_refused_before_anything_is_loaded(zoo: Zoo) -> None:
    activation = zoo.put(f"open({str(zoo.canary)!r}, 'w').close()\n", commands={"roar": f"{MODULE}:roar"})

    said = refused(lambda: zoo.command(activation, "purr"))

    assert said.code == "command_not_activated"
    assert not zoo.canary.exists()


def test_the_callers_directory_is_no_place_to_load_from(
    zoo: Zoo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    activation = zoo.put()
    here = tmp_path / "here"
    here.mkdir()
    (here / f"{MODULE}.py").write_text(f"open({str(zoo.canary)!r}, 'w').close()", "utf-8")
    monkeypatch.chdir(here)
    monkeypatch.setattr(sys, "path", ["", *sys.path])

    answers = zoo.call(activation)

    assert answers == [{"beast_v0": {"type": "object"}}]
    assert not zoo.canary.exists()


ROWS = {
    "a plugin that names an attribute": ({EXTENSION: f"{MODULE}:hooks"}, {}),
    "a plugin that is no module": ({EXTENSION: "not a module"}, {}),
    "a plugin of another extension": ({"other": MODULE}, {}),
    "a command without a function": ({}, {"roar": MODULE}),
    "a command with an attribute path": ({}, {"roar": f"{MODULE}:a.b"}),
    "a command that is no name": ({}, {"Roar!": f"{MODULE}:roar"}),
    "a command that looks like an option": ({}, {"--help": f"{MODULE}:roar"}),
}


@pytest.mark.parametrize("row", ROWS)
def test_a_malformed_entry_point_is_left_out(zoo: Zoo, row: str) -> None:
    plugins, commands = ROWS[row]
    zoo.put()
    write_entry_points(zoo.info, {"loopx.plugins": plugins, "loopx.commands": {**commands, "purr": f"{MODULE}:purr"}})

    found = advertised({"name": NAME, "version": VERSION}, EXTENSION)

    assert found == {"plugins": [], "commands": [{"name": "purr", "value": f"{MODULE}:purr"}]}


@pytest.mark.parametrize(
    "change", [take_metadata, change_version, damage, garble, put_before], ids=lambda one: one.__name__
)
def test_a_distribution_that_is_not_the_owner_here_advertises_nothing(zoo: Zoo, change: Any) -> None:
    zoo.put()
    change(zoo)

    assert advertised({"name": NAME, "version": VERSION}, EXTENSION) == {"plugins": [], "commands": []}


def test_reading_the_entry_points_of_a_package_runs_none_of_it(zoo: Zoo) -> None:
    zoo.put(f"open({str(zoo.canary)!r}, 'w').close()\n" + VIEWS)

    found = advertised({"name": NAME, "version": VERSION}, EXTENSION)

    assert found["plugins"] == [{"name": EXTENSION, "value": MODULE}]
    assert not zoo.canary.exists()
