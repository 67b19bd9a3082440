"""The identity of editable installs and of modules covers what would be imported, and nothing else."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.support.levels import LEAVES_MARKS
from tests.support.packages import Vane, distribution, manifest, write, write_record


@pytest.fixture
def vane(tmp_path: Path) -> Vane:
    return Vane(tmp_path).proved()


# --- editable installs ----------------------------------------------------------------------------------------------


@pytest.fixture
def edited(tmp_path: Path) -> Vane:
    """The provider's source beside its environment, which only points there."""
    vane = Vane(tmp_path)
    source = tmp_path / "project/src"
    for name in Vane.FILES:
        write(source / name, f"# {name}\n")
    write(source / "sibling.py", "# imported by the package\n")
    shutil.rmtree(vane.packages / "vane")
    files = {"../../../bin/vane": vane.launcher.read_text("utf-8"), "_vane.pth": f"{source}\n"}
    info = vane.put("vane", files=files)
    write(info / "direct_url.json", f'{{"url": "{source.parent.as_uri()}", "dir_info": {{"editable": true}}}}')
    write(info / "entry_points.txt", "[console_scripts]\nvane = vane.cli:main\n")
    write_record(info, list(files))
    return vane.proved()


def source(vane: Vane) -> Path:
    return vane.root / "project/src"


@pytest.mark.req("X4")
@pytest.mark.parametrize(
    "name",
    [
        "vane/cli.py",
        "vane/data.json",
        "vane/new.py",
        "vane/deeper/new.json",
        "vane/.hidden/new.py",
        "sibling.py",
        "new_sibling.py",
    ],
)
def test_a_change_in_the_source_of_an_editable_install_is_stale(edited: Vane, name: str) -> None:
    write(source(edited) / name, "# changed\n")

    row = edited.row("vane")

    assert (row["reason"], row["changed"]) == ("readiness_stale", ["distribution"])
    assert [detail.split()[0] for detail in row["changed_details"]] == [name]


@pytest.mark.parametrize("name", ["vane/__pycache__/cli.cpython-311.pyc", "../README.md"])
def test_what_cannot_be_imported_from_an_editable_install_does_not_count(edited: Vane, name: str) -> None:
    write(source(edited) / name, "anything")

    assert edited.row("vane")["ready"] is True


def test_an_editable_install_pointed_elsewhere_is_stale(edited: Vane) -> None:
    shutil.copytree(source(edited), edited.root / "elsewhere")
    write(edited.packages / "_vane.pth", f"{edited.root / 'elsewhere'}\n")

    assert "pth" in edited.row("vane")["changed"]


@pytest.mark.req("X4")
def test_a_module_beside_the_package_that_a_finder_maps_is_covered(tmp_path: Path) -> None:
    vane = Vane(tmp_path)
    project = tmp_path / "project"
    write(project / "vane/__init__.py", "")
    write(project / "sibling.py", "# one\n")
    mapping = {"vane": str(project / "vane"), "sibling": str(project / "sibling")}
    files = {
        "../../../bin/vane": vane.launcher.read_text("utf-8"),
        "__editable___vane_finder.py": f"MAPPING = {mapping!r}\n",
        "__editable__.vane.pth": "import __editable___vane_finder\n",
    }
    shutil.rmtree(vane.packages / "vane")
    info = vane.put("vane", files=files)
    write(info / "direct_url.json", f'{{"url": "{project.as_uri()}", "dir_info": {{"editable": true}}}}')
    write_record(info, list(files))
    vane.proved()

    write(project / "sibling.py", "# two\n")

    assert vane.row("vane")["changed_details"] == ["sibling.py (changed)"]


# --- modules --------------------------------------------------------------------------------------------------------

MODULE = """\
import json, sys
if sys.argv[1:] != ["--doctor"]:
    print(json.dumps({"ok": True, "file": __file__}))
"""


@pytest.fixture
def module(tmp_path: Path) -> Vane:
    """A provider that is a module of a package on the search path, and may see that path."""
    vane = Vane(tmp_path)
    files = {"moved/__init__.py": "", "moved/__main__.py": MODULE, "moved/part.py": ""}
    distribution(vane.site, "moved-package", files=files)
    write(vane.manifest, manifest("vane", entrypoint=None, python_module="moved", env=["PYTHONPATH"]))
    return vane.proved()


@LEAVES_MARKS
@pytest.mark.parametrize("name", ["__main__.py", "__init__.py", "part.py"])
def test_a_change_of_any_file_behind_a_module_is_stale(module: Vane, name: str) -> None:
    """module_source_changed (case 66)"""
    path = module.site / "moved" / name
    path.write_text(path.read_text("utf-8") + "# changed\n", "utf-8")

    row = module.row("vane")

    assert (row["reason"], row["changed_details"]) == ("readiness_stale", [f"moved/{name} (changed)"])


@LEAVES_MARKS
def test_a_package_of_the_same_name_in_the_current_directory_is_not_run(module: Vane) -> None:
    """cwd_shadow (case 73)"""
    here = module.root / "here"
    write(here / "moved/__init__.py", "raise SystemExit(9)")
    write(here / "moved/__main__.py", "raise SystemExit(9)")

    answer = module.run("vane", {}, cwd=here)

    assert answer.status == 0, answer
    assert answer.document["provider_result"]["file"] == str(module.site / "moved/__main__.py")
