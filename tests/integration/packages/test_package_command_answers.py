"""Help rows, names and answers of packages' commands, and what they may ask of the host."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any

import importlib_metadata
import pytest

from loopx_host.adapters.packages.train import members
from tests.support.capabilities import Station
from tests.support.cli import Answer
from tests.support.lifecycle import tree
from tests.support.package_commands import module, with_command

TRAIN = members()
EXIT_REFUSED, EXIT_ABSENT = 2, 69


@pytest.fixture
def station(tmp_path: Path) -> Station:
    """An environment with one package on its search path that brings the command `roar`; nobody trusted it."""
    made = Station(tmp_path)
    with_command(made)
    return made


@pytest.fixture
def trusted(station: Station) -> Station:
    """The same after its extension was installed."""
    station.install_id("roar")
    return station


def refused(answer: Answer, code: str, status: int = EXIT_REFUSED) -> dict[str, Any]:
    assert (answer.status, answer.code) == (status, code), answer
    return answer.document


def help_rows(station: Station) -> dict[str, str]:
    """Return the rows of packages in the top help: name → the state in brackets."""
    text = station("--help").document["text"]
    return dict(re.findall(r"^  (\S+) +from \S+ \((on|off)\)$", text, re.MULTILINE))


@pytest.mark.req("M050")
@pytest.mark.parametrize("words_", [("extension", "list"), ("capability", "list"), ("--help",), ("purr",)])
def test_another_command_loads_nothing_of_a_trusted_package(trusted: Station, words_: tuple[str, ...]) -> None:
    canary = trusted.root / "canary"
    path = trusted.site / "roar/commands.py"
    path.write_text(f"open({str(canary)!r}, 'a').close()\n" + path.read_text("utf-8"), "utf-8")
    trusted("extension", "doctor", "roar", "--execute")

    trusted(*words_)

    assert not canary.exists()


def test_help_rows_come_from_metadata_and_say_what_is_on(trusted: Station) -> None:
    with_command(trusted, "purr", head="raise SystemExit('imported')")
    trusted.discover()
    trusted("extension", "disable", "roar", "--execute")
    off = help_rows(trusted)
    trusted("extension", "enable", "roar", "--execute")

    on = help_rows(trusted)
    assert [(name, off[name], on[name]) for name in ("purr", "roar")] == [
        ("purr", "off", "off"),
        ("roar", "off", "on"),
    ]


def test_help_of_an_environment_that_nobody_looked_at_says_what_to_do(tmp_path: Path) -> None:
    station = Station(tmp_path)
    with_command(station)

    text = station("--help").document["text"]

    assert "loopx extension discover" in text.partition("\noptions of every")[0]


@pytest.mark.req("X15")
@pytest.mark.parametrize("off", ["flag", "variable"])
def test_with_extensions_off_no_command_of_a_package_is_run(trusted: Station, off: str) -> None:
    flags = ("--no-extensions",) if off == "flag" else ()
    env = {"LOOPX_NO_EXTENSIONS": "1"} if off == "variable" else {}

    refused(trusted("roar", *flags, env=env), "extensions_off")
    assert trusted("roar", env={"LOOPX_NO_EXTENSIONS": "0"}).status == 0


def test_a_package_cannot_take_the_name_of_a_command_of_the_host(tmp_path: Path) -> None:
    station = Station(tmp_path)
    station.put("roar", top="", files={"commands.py": module()}, commands={"doctor": "roar.commands:run"})
    station.install_id("roar")

    answer = station("doctor")

    assert answer.document["schema_version"] != "x_v0"


def test_a_command_that_nobody_has_is_unknown(station: Station) -> None:
    refused(station("unheard-of"), "unknown_command")


@pytest.mark.req("X15")
def test_a_package_that_is_gone_leaves_a_refusal_and_the_state_as_it_was(trusted: Station) -> None:
    before = trusted.state_file.read_bytes()
    (info,) = trusted.site.glob("roar_package-*")
    shutil.rmtree(info)
    shutil.rmtree(trusted.site / "roar")

    refused(trusted("roar"), "command_not_activated")

    assert trusted.state_file.read_bytes() == before


def test_a_command_answers_as_its_document_says(tmp_path: Path) -> None:
    station = Station(tmp_path)
    with_command(station, body="return {'ok': arguments == [], 'schema_version': 'x_v0', 'text': 'hello\\n'}")
    station.install_id("roar")

    good, bad = station("roar"), station("roar", "x")
    text = station("roar", "--state-file", str(station.state_file), options=False)

    assert (good.status, bad.status) == (0, 1)
    assert text.stdout == b"hello\n"


def test_what_a_command_writes_to_a_terminal_is_shown_escaped(tmp_path: Path) -> None:
    station = Station(tmp_path)
    escapes = "'\\x1b]0;owned\\x07\\u202e'"
    with_command(station, body=f"return {{'ok': True, 'schema_version': 'x_v0', 'said': {escapes}}}")
    station.install_id("roar")

    text = station("roar", "--state-file", str(station.state_file), options=False)

    assert text.status == 0
    assert b"\x1b" not in text.stdout + text.stderr
    assert b"\x07" not in text.stdout + text.stderr


@pytest.mark.req("M032", "M051")
def test_what_a_command_asks_of_the_host_is_refused_as_from_the_command_line(tmp_path: Path) -> None:
    station = Station(tmp_path)
    with_command(station, body="return host.invoke('weather', 'inspect', {}, goal_id='g1')")
    station.install_id("roar")

    refused(station("roar"), "binding_missing")


def test_what_a_command_asks_of_the_host_is_answered_with_the_receipt(tmp_path: Path) -> None:
    station = Station(tmp_path).served()
    ask = f"return host.invoke('weather', 'inspect', {{}}, goal_id='g1', references={{'repo': {str(tmp_path)!r}}})"
    with_command(station, body=ask)
    station.install_id("roar")
    station.bound()

    preview = station("roar")
    answer = station("roar", "--execute")

    assert (preview.document["status"], preview.document["executed"]) == ("ready", False)
    assert "provider_result" not in preview.document
    assert (answer.document["status"], answer.document["executed"]) == ("succeeded", True)
    assert answer.document["provider_result"]["observations"] == [{"kind": "fact"}]


@pytest.mark.req("X15")
def test_refusing_a_command_writes_nothing(station: Station) -> None:
    station("roar")
    before = tree(station.root, without=("home/cache",))

    station("roar")

    assert tree(station.root, without=("home/cache",)) == before


def is_here(distribution: str) -> bool:
    try:
        importlib_metadata.distribution(distribution)
    except importlib_metadata.PackageNotFoundError:
        return False
    return True


@pytest.mark.req("S5", "M124")
def test_a_command_of_the_train_whose_package_is_not_there_says_how_to_get_it(tmp_path: Path) -> None:
    station = Station(tmp_path)
    absent = [(one, name) for one in TRAIN if not is_here(one["distribution"]) for name in one["commands"]]

    answers = [(station(name), one) for one, name in absent]

    assert TRAIN
    for answer, one in answers:
        document = refused(answer, "package_not_installed", EXIT_ABSENT)
        assert f"{one['distribution']}=={one['version']}" in document["install_package"]


@pytest.mark.req("S5", "M124")
def test_a_capability_of_the_train_whose_package_is_not_there_is_listed_with_the_way_to_it(tmp_path: Path) -> None:
    station = Station(tmp_path)
    rows = {row["id"]: row for row in station("capability", "list").document["capabilities"]}

    absent = [one for one in TRAIN if not is_here(one["distribution"])]

    for one in absent:
        for capability in one["declares"]["capabilities"]:
            row = rows[capability["id"]]
            assert row["reason"] == "package_not_installed"
            assert f"{one['distribution']}=={one['version']}" in row["install_package"]
