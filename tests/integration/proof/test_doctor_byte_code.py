"""Byte code that a doctor left is taken from the private directory only, and never too much of it."""

from __future__ import annotations

import os
import sys
import textwrap
from pathlib import Path

import pytest

from loopx_host.adapters.process.bytecode import harvest
from tests.support.cli import Loopx
from tests.support.providers import PYTHON

on_linux = pytest.mark.skipif(sys.platform != "linux", reason="the fence is Linux'")
SECRET = b"the user's key"
CONTAINED = {"LOOPX_CONTAINMENT": "contained"}


@pytest.fixture
def loopx(tmp_path: Path) -> Loopx:
    return Loopx(tmp_path)


# What a doctor does to the directory `cache`; `elsewhere` holds what is not its to give.
LINKED = "os.symlink(elsewhere, cache)"
HOLDS_LINKS = """
os.mkdir(cache)
os.symlink(elsewhere, cache + "/folder")
os.symlink(elsewhere + "/secret.pyc", cache + "/secret.pyc")
"""
TOO_MANY = """
os.mkdir(cache)
for number in range(25_000):
    os.close(os.open(f"{cache}/{number}.pyc", os.O_CREAT | os.O_WRONLY))
"""
TOO_DEEP = """
os.makedirs(cache + "/d" * 99)
open(cache + "/d" * 99 + "/deep.pyc", "wb").close()
"""
TOO_LARGE = """
os.mkdir(cache)
with open(cache + "/small.pyc", "wb") as small, open(cache + "/large.pyc", "wb") as large:
    small.write(b"small")
    large.truncate(9 << 20)
"""
BEYOND_A_BOUND = {"25,000 files": TOO_MANY, "100 levels": TOO_DEEP, "a file of 9 MB": TOO_LARGE}
HOSTILE = {"a link itself": LINKED, "holds links": HOLDS_LINKS, **BEYOND_A_BOUND}


def arranged(code: str, root: Path) -> Path:
    """Do what a doctor would do to a directory of byte code; return the directory."""
    elsewhere = root / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "secret.pyc").write_bytes(SECRET)
    cache = root / "bytecode"
    exec(code, {"os": os, "cache": str(cache), "elsewhere": str(elsewhere)})
    return cache


def byte_code_below(folder: Path) -> list[str]:
    """Return every link and every byte-code file below a directory."""
    found = [Path(here, name) for here, folders, files in os.walk(folder) for name in (*folders, *files)]
    return sorted(str(path.relative_to(folder)) for path in found if path.is_symlink() or path.suffix == ".pyc")


@pytest.mark.parametrize("code", [LINKED, *BEYOND_A_BOUND.values()], ids=["a link itself", *BEYOND_A_BOUND])
def test_a_hostile_directory_of_byte_code_is_taken_not_even_in_part(tmp_path: Path, code: str) -> None:
    source = arranged(code, tmp_path)

    taken = harvest(str(source), str(tmp_path / "new"))

    assert taken is False
    assert not os.path.lexists(tmp_path / "new")


def test_links_among_byte_code_are_left_and_the_rest_is_taken(tmp_path: Path) -> None:
    source = arranged(HOLDS_LINKS, tmp_path)
    (source / "own.pyc").write_bytes(b"own")
    (source / "package").mkdir()
    (source / "package/module.pyc").write_bytes(b"module")

    harvest(str(source), str(tmp_path / "new"))

    assert byte_code_below(tmp_path / "new") == ["own.pyc", "package/module.pyc"]
    assert (tmp_path / "new/package/module.pyc").read_bytes() == b"module"


@on_linux
@pytest.mark.parametrize("code", HOSTILE.values(), ids=HOSTILE)
def test_an_extension_whose_doctor_arranges_byte_code_is_installed_and_brings_none(loopx: Loopx, code: str) -> None:
    elsewhere = loopx.root / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "secret.pyc").write_bytes(SECRET)
    doctor = f"cache, elsewhere = os.environ['TMPDIR'] + '/bytecode', {str(elsewhere)!r}\n{code}"
    body = f"import os, sys\nif sys.argv[1:] == ['--doctor']:\n{textwrap.indent(doctor, '    ')}\n"
    loopx.env.update(CONTAINED)

    answer = loopx.install(loopx.write_extension("arranging", PYTHON + body))

    assert answer.status == 0, answer
    assert loopx.rows()[0]["ready"] is True
    assert byte_code_below(loopx.root / "home") == []
