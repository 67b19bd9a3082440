"""What was hashed is what is executed, or the run is refused; and whose byte code runs (contract section 6)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.cli import Loopx
from tests.support.levels import CHANGES_ITSELF
from tests.support.packages import Vane, write
from tests.support.providers import PYTHON

EXIT_REFUSED = 2
DEFAULT_LEVEL = {"LOOPX_CONTAINMENT": "contained"}
# Does something to its own launcher while it runs, then answers as if nothing had been.
RESTLESS = (
    PYTHON
    + """\
import os, sys
if sys.argv[1:] == ["--doctor"]:
    raise SystemExit(0)
sys.stdin.read()
path = os.path.abspath(sys.argv[0])
data = open(path, "rb").read()
{deed}
print('{{"ok": true}}')
"""
)
DEEDS = {
    "replaced": (
        "open(path + '.new', 'wb').write(data + b'# more\\n')\n"
        "os.chmod(path + '.new', 0o755)\n"
        "os.rename(path + '.new', path)"
    ),
    "rewritten and put back": "open(path, 'wb').write(b'#!/bin/sh\\n'); open(path, 'wb').write(data)",
    "moved away and back": "os.rename(path, path + '.away'); os.rename(path + '.away', path)",
    "removed": "os.unlink(path)",
}


@pytest.fixture
def loopx(tmp_path: Path) -> Loopx:
    return Loopx(tmp_path / "loopx")


@CHANGES_ITSELF
@pytest.mark.parametrize("deed", DEEDS)
def test_a_launcher_that_was_touched_while_it_ran_gives_no_answer(loopx: Loopx, deed: str) -> None:
    loopx.make_extension("restless", RESTLESS.format(deed=DEEDS[deed]))

    answer = loopx.run("restless", {})

    assert (answer.status, answer.code) == (EXIT_REFUSED, "changed_during_run")
    assert answer.document["next_command"].split()[1:4] == ["extension", "doctor", "restless"]
    assert answer.document["containment"]["survivors"] == 0
    assert "provider_result" not in answer.document


def test_a_launcher_that_is_left_alone_gives_its_answer(loopx: Loopx) -> None:
    loopx.make_extension("restless", RESTLESS.format(deed=""))

    assert loopx.run("restless", {}).document["status"] == "succeeded"


@pytest.mark.req("B6")
@pytest.mark.parametrize("deed", DEEDS)
def test_at_the_default_level_nothing_of_a_provider_can_be_touched_by_itself(loopx: Loopx, deed: str) -> None:
    loopx.make_extension("restless", RESTLESS.format(deed=DEEDS[deed]))

    answer = loopx.run("restless", {}, env=DEFAULT_LEVEL)

    assert (answer.status, answer.document["failure_kind"]) == (1, "exit_nonzero")
    assert "PermissionError" in answer.document["stderr_tail"]


@pytest.fixture
def vane(tmp_path: Path) -> Vane:
    """A package whose command imports a module of its own; its doctor does so, too."""
    made = Vane(tmp_path, program=f"#!{tmp_path / 'venv/bin/python'}\nimport vane.cli\n")
    write(made.packages / "vane/cli.py", "import sys\nimport vane.part\nprint('{\"ok\": true}')\n")
    write(made.packages / "vane/part.py", "VALUE = 1\n")
    return made


def bytecode(vane: Vane) -> list[str]:
    """Return the names of the byte-code files that the host keeps for providers."""
    cache = vane.root / "home/cache/loopx/pycache"
    return sorted(path.name for path in cache.rglob("*.pyc")) if cache.exists() else []


def in_the_tree(vane: Vane) -> list[Path]:
    return list(vane.packages.rglob("*.pyc"))


def test_what_the_doctor_compiled_is_kept_by_the_host_and_not_in_the_package(vane: Vane) -> None:
    vane.proved()

    assert any(name.startswith("part.") for name in bytecode(vane))
    assert in_the_tree(vane) == []


def test_byte_code_in_the_tree_of_a_package_is_not_executed(vane: Vane) -> None:
    """It is not part of what was proved."""
    import py_compile

    evil = vane.root / "evil.py"
    write(evil, "print('evil'); raise SystemExit(3)\n")
    source = vane.packages / "vane/part.py"
    place = Path(str(py_compile.compile(str(source), doraise=True)))
    made = place.read_bytes()[:16]
    py_compile.compile(str(evil), cfile=str(vane.root / "evil.pyc"), doraise=True)
    body = (vane.root / "evil.pyc").read_bytes()[16:]
    place.write_bytes(made + body)

    vane.proved()
    answer = vane("extension", "run", "vane", "--input-json", "-", "--execute", stdin=b"{}")

    assert answer.document["status"] == "succeeded", answer


def test_a_run_adds_nothing_to_the_byte_code_that_later_runs_execute(vane: Vane) -> None:
    write(
        vane.packages / "vane/cli.py",
        "import sys\nif sys.argv[1:] != ['--doctor']:\n    import vane.part\nprint('{\"ok\": true}')\n",
    )
    vane.proved()
    before = bytecode(vane)

    answer = vane("extension", "run", "vane", "--input-json", "-", "--execute", stdin=b"{}", env=DEFAULT_LEVEL)

    assert json.loads(answer.stdout)["status"] == "succeeded"
    assert bytecode(vane) == before
    assert in_the_tree(vane) == []
