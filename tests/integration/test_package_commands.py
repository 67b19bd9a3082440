"""Commands that packages bring: off until their extension is installed and proved, and nothing of them runs before.

Contract sections 1, 7; requirement X15.
"""

from __future__ import annotations

import re
import shutil
import textwrap
from pathlib import Path
from typing import Any

import importlib_metadata
import pytest

from loopx_host.registry.train import TRAIN
from tests.support.capabilities import Station
from tests.support.cli import Answer
from tests.support.lifecycle import tree, words
from tests.support.packages import needs_strace, traced, write, write_entry_points

EXIT_REFUSED, EXIT_ABSENT = 2, 69
COMMAND = """\
{head}
from loopx_host import hookimpl

@hookimpl(specname="loopx_run_command")
def run(arguments, host):
{body}
"""
ECHO = "return {'ok': True, 'schema_version': 'x_v0', 'arguments': arguments}"
LOADED = """\
import sys
mine = sorted(name for name in sys.modules if name.split(".")[0] in ("roar", "purr"))
return {"ok": True, "schema_version": "x_v0", "loaded": mine}
"""
# What befalls a package whose command is loaded or run, and how it is refused.
BEASTS = {
    "raises on import": ("raise ValueError", ECHO, "plugin_load_failed"),
    "exits on import": ("import sys; sys.exit(0)", ECHO, "plugin_load_failed"),
    "leaves at once on import": ("import os; os._exit(0)", ECHO, "plugin_load_failed"),
    "kills itself on import": ("import os; os.kill(os.getpid(), 9)", ECHO, "plugin_load_failed"),
    "needs what is not there": ("import no_such_module_anywhere", ECHO, "plugin_load_failed"),
    "raises": ("", "raise ValueError", "plugin_hook_failed"),
    "exits": ("", "raise SystemExit(0)", "plugin_hook_failed"),
    "leaves at once": ("", "import os; os._exit(0)", "plugin_hook_failed"),
    "answers nothing": ("", "return None", "plugin_hook_failed"),
    "answers a list": ("", "return [1]", "plugin_hook_failed"),
    "answers what is no JSON": ("", "return {'x': {1}}", "plugin_hook_failed"),
}


def module(body: str = ECHO, head: str = "") -> str:
    return COMMAND.format(head=head, body=textwrap.indent(textwrap.dedent(body), "    "))


def with_command(station: Station, name: str = "roar", body: str = ECHO, head: str = "", **files: str) -> Path:
    """Put a package on the search path that brings a command of its own name."""
    made = {"commands.py": module(body, head), "helper.py": "", **files}
    return station.put(name, top="", files=made, commands={name: f"{name}.commands:run"})


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


@pytest.mark.req("X15")
@pytest.mark.parametrize("place", ["commands.py", "__init__.py"])
def test_a_package_that_pip_installed_runs_nothing_until_it_is_trusted(tmp_path: Path, place: str) -> None:
    station = Station(tmp_path)
    canary = station.root / "canary"
    mark = f"open({str(canary)!r}, 'a').close()\n"
    with_command(station, **{place: mark + (module() if place == "commands.py" else "")})

    before = station("roar", "loud")
    station("--help")
    station("extension", "discover")
    station("capability", "list")
    untouched = not canary.exists()
    station.install_id("roar")
    still_untouched = not canary.exists()
    after = station("roar", "loud")

    document = refused(before, "command_not_activated")
    assert words(document["next_command"])[:3] == ["extension", "install", "roar"]
    assert (untouched, still_untouched) == (True, True)
    assert after.document["arguments"] == ["loud"]
    assert canary.exists()


@needs_strace
@pytest.mark.req("X15")
def test_no_module_of_a_package_that_is_not_trusted_is_even_opened(station: Station) -> None:
    station("roar")

    opened = traced(station, "roar", calls="open,openat,execve", status=EXIT_REFUSED)

    inside = [line for line in opened if f"{station.site}/roar/" in line and ".py" in line.partition("roar/")[2]]
    assert inside == []
    assert any(str(station.site) in line for line in opened)  # it was looked at: its metadata


@pytest.mark.req("X15")
def test_the_suggested_commands_turn_a_command_on(station: Station) -> None:
    document = refused(station("roar"), "command_not_activated")
    suggested = words(document["next_command"])
    cut = suggested.index("--state-file")

    assert station(*suggested[:cut], "--execute").status == 0
    assert station("roar").status == 0


@pytest.mark.req("X15")
def test_a_disabled_extension_turns_its_command_off_and_enable_turns_it_on(trusted: Station) -> None:
    trusted("extension", "disable", "roar", "--execute")
    off = trusted("roar")
    trusted("extension", "enable", "roar", "--execute")

    document = refused(off, "command_not_activated")
    assert words(document["next_command"])[:3] == ["extension", "enable", "roar"]
    assert trusted("roar").status == 0


@pytest.mark.req("X15")
def test_a_package_whose_code_changed_has_its_command_off_until_it_is_proved_again(trusted: Station) -> None:
    path = trusted.site / "roar/commands.py"
    path.write_text(path.read_text("utf-8").replace("'x_v0'", "'y_v0'"), "utf-8")

    refused(trusted("roar"), "command_not_activated")
    trusted("extension", "doctor", "roar", "--execute")

    assert trusted("roar").document["schema_version"] == "y_v0"


@pytest.mark.req("X15")
def test_an_uninstalled_extension_turns_its_command_off(trusted: Station) -> None:
    trusted("extension", "uninstall", "roar", "--execute")

    refused(trusted("roar"), "command_not_activated")


@pytest.mark.req("X15")
@pytest.mark.parametrize("swap", ["value", "added", "version"])
def test_entry_points_that_changed_after_the_activation_run_nothing(trusted: Station, swap: str) -> None:
    canary = trusted.root / "canary"
    (info,) = trusted.site.glob("roar_package-*")
    (trusted.site / "other.py").write_text(f"open({str(canary)!r}, 'a').close()\n" + module(), "utf-8")
    extensions = {"loopx.extensions": {"roar": "roar"}}
    if swap == "value":
        write_entry_points(info, {**extensions, "loopx.commands": {"roar": "other:run"}})
    elif swap == "added":
        write_entry_points(info, {**extensions, "loopx.commands": {"roar": "roar.commands:run", "more": "other:run"}})
    else:
        text = (info / "METADATA").read_text("utf-8")
        (info / "METADATA").write_text(text.replace("Version: 1.0", "Version: 1.1"), "utf-8")

    answers = [trusted("roar"), trusted("more")] if swap == "added" else [trusted("roar")]

    assert {answer.code for answer in answers} <= {"activation_changed", "command_not_activated"}
    assert {answer.status for answer in answers} == {EXIT_REFUSED}
    assert not canary.exists()


@pytest.mark.req("X15")
def test_a_doctor_proves_the_code_and_consents_to_no_other_entry_point(trusted: Station) -> None:
    canary = trusted.root / "canary"
    (info,) = trusted.site.glob("roar_package-*")
    write(trusted.site / "roar/other.py", f"open({str(canary)!r}, 'a').close()\n" + module())
    extensions = {"loopx.extensions": {"roar": "roar"}}
    write_entry_points(info, {**extensions, "loopx.commands": {"roar": "roar.other:run"}})
    proved = trusted("extension", "doctor", "roar", "--execute")

    before = trusted("roar")
    untouched = not canary.exists()
    upgraded = trusted("extension", "upgrade", "roar", "--execute")
    after = trusted("roar")

    assert (proved.status, upgraded.status) == (0, 0), (proved, upgraded)
    assert words(refused(before, "activation_changed")["next_command"])[:2] == ["extension", "upgrade"]
    assert untouched
    assert after.status == 0


@pytest.mark.req("X15")
def test_a_command_that_came_with_a_new_version_leads_to_upgrade(tmp_path: Path) -> None:
    station = Station(tmp_path)
    station.served("roar", top="")
    with_command(station)

    document = refused(station("roar"), "command_not_activated")
    suggested = words(document["next_command"])
    upgraded = station(*suggested[: suggested.index("--state-file")], "--execute")

    assert suggested[:3] == ["extension", "upgrade", "roar"]
    assert upgraded.status == 0, upgraded
    assert station("roar").status == 0


@pytest.mark.req("B16")
def test_without_its_mark_a_function_is_no_command(tmp_path: Path) -> None:
    station = Station(tmp_path)
    with_command(station, **{"commands.py": "def run(arguments, host):\n    return {}\n"})
    station.install_id("roar")

    refused(station("roar"), "plugin_signature")


@pytest.mark.req("X15")
@pytest.mark.parametrize("enabled", [True, False])
@pytest.mark.parametrize("beast", BEASTS)
def test_a_package_spoils_its_own_command_only_and_the_state_loses_nothing(
    tmp_path: Path, beast: str, enabled: bool
) -> None:
    head, body, code = BEASTS[beast]
    station = Station(tmp_path)
    with_command(station, "purr", body, head)
    with_command(station)
    station.install_id("purr")
    station.install_id("roar")
    if not enabled:
        station("extension", "disable", "purr", "--execute")
    before = station.state_file.read_bytes()

    spoilt = station("purr")
    other = station("roar", "loud")

    document = refused(spoilt, code if enabled else "command_not_activated")
    assert words(document["next_command"])[:2] == ["extension", "disable" if enabled else "enable"]
    assert other.document["arguments"] == ["loud"]
    assert station.state_file.read_bytes() == before
    assert [row["id"] for row in station.rows()] == ["purr", "roar"]


@pytest.mark.req("X15")
def test_damaged_metadata_of_one_package_leaves_the_commands_of_others(tmp_path: Path) -> None:
    station = Station(tmp_path)
    info = with_command(station, "purr")
    with_command(station)
    for name in ("purr", "roar"):
        station.install_id(name)
    (info / "entry_points.txt").write_bytes(b"[loopx.commands\n\xff = =")

    assert station("purr").status == EXIT_REFUSED
    assert station("roar").status == 0
    assert station("capability", "list").status == 0


@pytest.mark.req("M050")
def test_the_host_loads_nothing_of_a_package_and_its_worker_only_the_selected_command(tmp_path: Path) -> None:
    station = Station(tmp_path)
    with_command(station, "purr", LOADED)
    with_command(station, "roar", LOADED)
    for name in ("purr", "roar"):
        station.install_id(name)

    assert station("roar").document["loaded"] == ["roar", "roar.commands"]
    assert station("purr").document["loaded"] == ["purr", "purr.commands"]


@needs_strace
@pytest.mark.req("M050", "X15")
def test_the_module_of_a_command_is_opened_by_another_process_than_the_host(trusted: Station) -> None:
    trusted("roar")

    lines = traced(trusted, "roar", calls="open,openat,execve")

    host = lines[0].split()[0]
    opening = {line.split()[0] for line in lines if "/roar/commands." in line}  # as source or as byte code
    assert opening
    assert host not in opening


@pytest.mark.req("M050")
def test_a_command_that_fails_loads_no_other_package_either(tmp_path: Path) -> None:
    station = Station(tmp_path)
    canary = station.root / "canary"
    with_command(station, "purr", head=f"open({str(canary)!r}, 'a').close()")
    with_command(station, "roar", head="raise ValueError")
    for name in ("purr", "roar"):
        station.install_id(name)

    refused(station("roar"), "plugin_load_failed")

    assert not canary.exists()


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

    answer = station("roar")

    assert answer.document["status"] == "succeeded"
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
