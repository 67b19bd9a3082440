"""Commands that packages bring: off until their extension is installed and proved, and nothing of them runs before.

Contract sections 1, 7; requirement X15.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.capabilities import Station
from tests.support.cli import Answer
from tests.support.lifecycle import words
from tests.support.manifests import revision_of
from tests.support.package_commands import ECHO, module, with_command
from tests.support.packages import needs_strace, traced, write, write_entry_points, write_record

EXIT_REFUSED, EXIT_ABSENT = 2, 69
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
    inside = (path for path in (trusted.site / "roar").rglob("*") if path.is_file())
    write_record(info, [str(path.relative_to(trusted.site)) for path in inside])
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


# --- another API ---------------------------------------------------------------------------------------------


def of_another_api(station: Station) -> None:
    """Let the entry of `roar` ask for an API that this host does not speak, as a state from a newer host could."""
    document = json.loads(station.state_file.read_text("utf-8"))
    entry = document["extensions"]["roar"]
    (revision,) = entry["revisions"]
    revision["manifest"]["provider"]["requires_loopx_api"] = ">=99"
    number = revision_of(revision["manifest"])
    revision["revision"] = entry["active_revision"] = entry["doctor_verified_revision"] = number
    entry["proof"]["revision"] = number
    station.state_file.write_text(json.dumps(document), "utf-8")


@pytest.mark.req("X15")
def test_a_command_of_an_extension_for_another_api_is_refused_and_loaded_by_nobody(tmp_path: Path) -> None:
    station = Station(tmp_path)
    canary = station.root / "canary"
    with_command(station, **{"commands.py": f"open({str(canary)!r}, 'a').close()\n{module()}"})
    station.install_id("roar")
    assert station("roar", "loud").status == 0
    canary.unlink()
    of_another_api(station)

    document = refused(station("roar", "loud"), "command_not_activated")

    assert "API" in document["error"]
    assert not canary.exists()
    row = next(row for row in station.rows() if row["id"] == "roar")
    assert (row["ready"], row["reason"]) == (False, "api_incompatible")
    assert station("capability", "list").status == station("--help", options=False).status == 0
