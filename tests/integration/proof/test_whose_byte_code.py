"""Byte code is executed for the extension that left it, for what was proved, and for nobody and nothing else.

Contract section 5, *Readiness*; containment page, *Byte code*.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from tests.support.capabilities import Station
from tests.support.cli import Loopx
from tests.support.levels import LEAVES_MARKS
from tests.support.package_commands import module, with_command
from tests.support.packages import write

PYTHON = os.path.realpath(sys.executable)
# A doctor that leaves byte code of its own making for a module of the standard library.
PLANT = """
import importlib.util, json.decoder, os, py_compile, sys
source = os.path.join(os.environ["TMPDIR"], "made-up.py")
open(source, "w").write("raise SystemExit(77)")
genuine = json.decoder.__file__
place = importlib.util.cache_from_source(genuine)
py_compile.compile(source, cfile=place, doraise=True)
data = bytearray(open(place, "rb").read())
status = os.stat(genuine)
data[8:16] = int(status.st_mtime).to_bytes(4, "little") + status.st_size.to_bytes(4, "little")
open(place, "wb").write(data)
"""
ANSWER = "import json; print(json.dumps({'ok': True}))"


@pytest.fixture
def loopx(tmp_path: Path) -> Loopx:
    return Loopx(tmp_path)


def bare(loopx: Loopx, extension_id: str, *, doctor: str, run: str = ANSWER) -> Path:
    """Write an extension that is nothing but a Python and what its manifest hands it."""
    return loopx.write_extension(
        extension_id, entrypoint=PYTHON, args=["-S", "-c", run], doctor_args=["-S", "-c", doctor]
    )


def kept(loopx: Loopx) -> list[Path]:
    """Return all byte code that the host keeps."""
    return sorted((loopx.root / "home").rglob("*.pyc"))


@pytest.mark.req("B22")
def test_byte_code_that_one_extension_planted_is_not_executed_by_another_with_the_same_launcher(loopx: Loopx) -> None:
    assert loopx.install(bare(loopx, "planter", doctor=PLANT)).status == 0
    assert loopx.install(bare(loopx, "victim", doctor="pass")).status == 0

    planted, answer = loopx.run("planter", {}), loopx.run("victim", {})

    assert planted.document.get("exit_code") == 77, planted  # what it planted for itself is good byte code
    assert answer.document["status"] == "succeeded", answer


@pytest.mark.req("B22")
def test_byte_code_goes_with_its_extension_and_another_of_the_same_id_begins_without(loopx: Loopx) -> None:
    assert loopx.install(bare(loopx, "planter", doctor=PLANT)).status == 0
    assert kept(loopx) != []
    assert loopx("extension", "uninstall", "planter", "--execute").status == 0

    gone = kept(loopx)
    assert loopx.install(bare(loopx, "planter", doctor="pass")).status == 0

    assert gone == []
    assert loopx.run("planter", {}).document["status"] == "succeeded"


@pytest.mark.req("B22")
def test_another_revision_executes_nothing_that_the_one_before_left(loopx: Loopx) -> None:
    assert loopx.install(bare(loopx, "planter", doctor=PLANT)).status == 0
    manifest = bare(loopx, "planter", doctor="pass")

    assert loopx("extension", "upgrade", "--manifest", str(manifest), "--execute").status == 0

    assert loopx.run("planter", {}).document["status"] == "succeeded"


def edited(path: Path, old: str, new: str) -> None:
    """Write other words of the same length, and put the time stamp back."""
    before = path.stat()
    path.write_text(path.read_text("utf-8").replace(old, new), "utf-8")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert path.stat().st_size == before.st_size


@LEAVES_MARKS
@pytest.mark.req("B22")
def test_a_module_that_no_proof_covers_is_executed_as_the_last_doctor_found_it(loopx: Loopx) -> None:
    """A program that nobody owns may import anything: its proof is of the present all the same."""
    write(loopx.root / "library/part.py", "WORD = 'old'\n")
    run = f"import sys; sys.path.insert(0, {str(loopx.root / 'library')!r}); import part, json; "
    assert (
        loopx.install(bare(loopx, "loose", doctor=run, run=run + "print(json.dumps({'ok': 1, 'w': part.WORD}))"))
    ).status == 0

    edited(loopx.root / "library/part.py", "old", "new")
    assert loopx("extension", "doctor", "loose", "--execute").status == 0

    assert loopx.run("loose", {}).document["provider_result"]["w"] == "new"


WORD = 'return {"ok": True, "schema_version": "x_v0", "word": "old"}'


@pytest.fixture
def station(tmp_path: Path) -> Station:
    """A package with a command that was run once."""
    made = Station(tmp_path)
    with_command(made, **{"commands.py": module(body=WORD)})
    made.install_id("roar")
    assert made("roar").document["word"] == "old"
    return made


@pytest.mark.req("B22")
def test_a_command_edited_to_the_same_size_and_time_is_new_once_it_is_proved_again(station: Station) -> None:
    edited(station.site / "roar/commands.py", "old", "new")
    assert station("extension", "doctor", "roar", "--execute").status == 0

    assert station("roar").document["word"] == "new"


@pytest.mark.req("B22")
def test_byte_code_of_a_command_is_compared_with_the_whole_source_whatever_its_time_stamp(station: Station) -> None:
    """Also where no key could tell: every flag of the header says so (PEP 552)."""
    compiled = [path for path in kept_for(station) if path.name.startswith("commands.")]

    assert compiled != []
    assert {path.read_bytes()[4:8] for path in compiled} == {(0b11).to_bytes(4, "little")}


def kept_for(station: Station) -> list[Path]:
    return sorted(station.cache.rglob("roar/host-*/**/*.pyc"))


@pytest.mark.req("B22")
def test_byte_code_beside_the_source_of_a_command_is_not_executed(station: Station) -> None:
    import py_compile

    source = station.site / "roar/commands.py"
    evil = write(station.root / "evil.py", source.read_text("utf-8").replace("old", "bad"))
    place = Path(py_compile.compile(str(source), doraise=True) or "")
    header = place.read_bytes()[:16]
    place.write_bytes(header + Path(py_compile.compile(str(evil), doraise=True) or "").read_bytes()[16:])
    for path in kept_for(station):
        path.unlink()

    assert station("roar").document["word"] == "old"


@pytest.mark.req("B22")
def test_byte_code_of_commands_goes_with_the_extension(station: Station) -> None:
    assert kept_for(station) != []

    assert station("extension", "uninstall", "roar", "--execute").status == 0

    assert kept_for(station) == []
