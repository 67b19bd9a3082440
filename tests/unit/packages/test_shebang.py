"""Which program a first line leads to, the way `env` reads it; what it finds is what would really be executed."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from loopx_host.adapters.packages import shebang
from tests.support.packages import write

ENV = shutil.which("env") or "/usr/bin/env"


@pytest.fixture
def places(tmp_path: Path) -> list[str]:
    """Two folders of programs; `prog` is in both, each says which it is."""
    for name in ("one", "two"):
        program(tmp_path / name / "prog")
    program(tmp_path / "two/second")
    return [str(tmp_path / "one"), str(tmp_path / "two")]


def program(path: Path) -> Path:
    write(path, f'#!/bin/sh\necho "{path}"\n').chmod(0o755)
    return path


LINES = {
    "prog": "one/prog",
    "second": "two/second",
    "-Sprog": "one/prog",
    "-S prog": "one/prog",
    "-S prog --flag value": "one/prog",
    "-S\tprog\t-x": "one/prog",
    "-S  'prog' x": "one/prog",
    '-S "prog" x': "one/prog",
    "-S {two}/prog": "two/prog",
    "-S{two}/prog -x": "two/prog",
    "--split-string=prog -x": "one/prog",
    "--split=prog -x": "one/prog",
    "-vS prog": "one/prog",
    "-S -u PATHS prog": "one/prog",
    "-S -uPATHS prog": "one/prog",
    "-S --unset=PATHS -- prog": "one/prog",
    "-S A=1 B=2 prog": "one/prog",
    "-S PATH={two} prog": "two/prog",
    "-S -i PATH={two} prog": "two/prog",
    "-S -C {two} ./prog": "two/prog",
    "-S --chdir={two} prog": "one/prog",
    "-S prog # a comment": "one/prog",
    "-S -a another prog": "one/prog",
    "-S -- prog": "one/prog",
    "-S - PATH={two} prog": "two/prog",
    r"-S pro\g": None,
    "-S -S prog": "one/prog",
    "-S --default-signal=PIPE prog": "one/prog",
}


@pytest.mark.req("X17")
@pytest.mark.parametrize("line", LINES)
def test_what_env_is_said_to_find_is_what_it_finds(tmp_path: Path, places: list[str], line: str) -> None:
    argument = line.format(two=places[1])
    script = write(tmp_path / "script", f"#!{ENV} {argument}\n")
    script.chmod(0o755)

    found = shebang.chain(str(script), places)

    wanted = LINES[line]
    executed = subprocess.run(
        [str(script)], env={"PATH": ":".join(places)}, capture_output=True, text=True, check=False, cwd="/"
    )
    assert found.is_known
    if wanted is not None:
        assert found.programs == [ENV, str(tmp_path / wanted), "/bin/sh"]
    if executed.returncode == 0:
        assert executed.stdout.strip() == found.programs[1]


@pytest.mark.req("X17")
@pytest.mark.parametrize(
    "line", ["-S $HOME/prog", "-S ${HOME}/prog", "-S 'prog", "--nothing-of-it prog", "-Z prog", "-S", "-u"]
)
def test_what_cannot_be_told_before_it_is_executed_is_not_known(tmp_path: Path, places: list[str], line: str) -> None:
    script = write(tmp_path / "script", f"#!{ENV} {line}\n")

    assert shebang.chain(str(script), places).is_known is False


def test_what_is_looked_at_in_vain_is_told(tmp_path: Path, places: list[str]) -> None:
    script = write(tmp_path / "script", f"#!{ENV} second\n")

    assert shebang.chain(str(script), places).looked_at == [os.path.join(places[0], "second")]


@pytest.mark.parametrize(
    ("text", "programs"),
    [
        ("no line", []),
        ("#!", []),
        ("#! \n", []),
        ("#!prog\n", []),
        ("#! /bin/sh -e\n", ["/bin/sh"]),
        ("#!/bin/sh\t-e\n", ["/bin/sh"]),
        ("#!/bin/sh\r\n", ["/bin/sh"]),
        ('#!/bin/sh\n\'\'\'exec\' "/a b/python" "$0" "$@"\n', ["/bin/sh"]),
        ("#!/bin/sh\n'''exec' /opt/python -I x\n", ["/bin/sh", "/opt/python"]),
        (f"#!{ENV}\n", [ENV]),
        (f"#!{ENV} -S A={'a' * 300} prog\n", [ENV]),  # no kernel reads that far
    ],
)
def test_other_first_lines(tmp_path: Path, text: str, programs: list[str]) -> None:
    script = write(tmp_path / "script", text)

    assert shebang.chain(str(script), ["/nowhere"]).programs == programs


def test_a_script_that_executes_itself_ends(tmp_path: Path) -> None:
    script = tmp_path / "script"
    write(script, f"#!{script}\n").chmod(0o755)

    assert len(shebang.chain(str(script), []).programs) <= 8
