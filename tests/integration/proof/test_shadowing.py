"""Identity covers what could take a file's place, byte code included."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support.cli import Loopx
from tests.support.packages import Vane, write, write_record


@pytest.fixture
def loopx(tmp_path: Path) -> Loopx:
    return Loopx(tmp_path)


@pytest.fixture
def vane(tmp_path: Path) -> Vane:
    return Vane(tmp_path).proved()


def shadow_package(vane: Vane) -> None:
    write(vane.packages / "vane/cli/__init__.py", "# a package comes before the module of that name\n")


def beside_the_launcher(vane: Vane) -> None:
    write(vane.launcher.with_name("re.py"), "# the folder of a script stands first on its path\n")


def package_beside_the_launcher(vane: Vane) -> None:
    write(vane.launcher.with_name("json") / "__init__.py", "")


def bare_byte_code(vane: Vane) -> None:
    write(vane.packages / "vane/extra.pyc", "executed when there is no source")


@pytest.mark.req("X4")
@pytest.mark.parametrize("change", [shadow_package, beside_the_launcher, package_beside_the_launcher, bare_byte_code])
def test_what_could_be_imported_in_place_of_a_proved_file_is_stale(vane: Vane, change: Any) -> None:
    change(vane)

    assert vane.row("vane")["reason"] == "readiness_stale"


def test_recorded_byte_code_outside_the_cache_is_covered(tmp_path: Path) -> None:
    vane = Vane(tmp_path)
    files = {**vane.files(), "vane/core.pyc": "first"}
    write_record(vane.put("vane", *vane.requires, files=files), list(files))
    vane.proved()

    write(vane.packages / "vane/core.pyc", "other")

    assert vane.row("vane")["reason"] == "readiness_stale"


def test_loopx_itself_imports_nothing_from_the_folder_of_its_script_or_the_caller(loopx: Loopx) -> None:
    trap = loopx.root / "trap"
    mark = loopx.root / "imported"
    for name in ("json", "re", "argparse", "signal", "tomli"):
        write(trap / f"{name}.py", f"open({str(mark)!r}, 'w')\n")
    launcher = trap / "loopx"
    launcher.write_text(f"#!{sys.executable}\nfrom loopx_host.entrypoint import main\nmain()\n", encoding="utf-8")
    launcher.chmod(0o755)

    for command in ([str(launcher)], [sys.executable, "-m", "loopx_host"]):
        done = subprocess.run(
            [*command, "extension", "list"], cwd=trap, env=loopx.env, capture_output=True, check=False
        )
        assert done.returncode == 0, done.stderr

    assert not mark.exists()
