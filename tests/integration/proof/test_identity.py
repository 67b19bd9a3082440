"""Ready is about content: every byte that is covered counts, and nothing but bytes does.

Contract section 5, *Readiness*; extension-formats, *Ready*.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.levels import LEAVES_MARKS
from tests.support.packages import Vane, distribution, write

EXIT_REFUSED = 2
Change = Callable[[Vane], object]


@pytest.fixture
def vane(tmp_path: Path) -> Vane:
    return Vane(tmp_path).proved()


# --- what makes it stale --------------------------------------------------------------------------------------------


def a_byte_of_the_launcher(vane: Vane) -> None:
    vane.launcher.write_text(vane.launcher.read_text("utf-8") + "#\n", "utf-8")


def another_launcher_of_the_same_size_and_time(vane: Vane) -> None:
    before = vane.launcher.stat()
    vane.launcher.write_bytes(vane.launcher.read_bytes().replace(b"true", b"!1=1"))
    os.utime(vane.launcher, ns=(before.st_atime_ns, before.st_mtime_ns))


def the_settings_of_its_environment(vane: Vane) -> None:
    with (vane.venv / "pyvenv.cfg").open("a", encoding="utf-8") as stream:
        stream.write("prompt = other\n")


def the_link_to_its_interpreter(vane: Vane) -> None:
    vane.python.unlink()
    vane.python.symlink_to(shutil.which("sh") or "/bin/sh")


def its_module(vane: Vane) -> None:
    """module_behind_wrapper_changed (case 67)"""
    write(vane.packages / "vane/cli.py", "# changed\n")


def its_main_module(vane: Vane) -> None:
    write(vane.packages / "vane/__main__.py", "# changed\n")


def its_data(vane: Vane) -> None:
    write(vane.packages / "vane/data.json", "{}\n")


def a_file_that_went(vane: Vane) -> None:
    (vane.packages / "vane/data.json").unlink()


def a_file_that_is_a_directory_now(vane: Vane) -> None:
    (vane.packages / "vane/data.json").unlink()
    (vane.packages / "vane/data.json").mkdir()


def its_version(vane: Vane) -> None:
    vane.put("vane", *vane.requires, version="1.1", files=vane.files())


def a_required_version(vane: Vane) -> None:
    vane.put("leaf", "twig", version="1.1")


def a_version_required_by_what_it_requires(vane: Vane) -> None:
    vane.put("twig", version="2.0")


def a_version_that_an_extra_brings(vane: Vane) -> None:
    vane.put("booster", version="3.0")


def a_required_package_that_went(vane: Vane) -> None:
    shutil.rmtree(vane.packages / "twig-1.0.dist-info")


def a_required_package_that_came(vane: Vane) -> None:
    vane.put("absent", version="0.1")


def the_record_of_a_required_package(vane: Vane) -> None:
    record = vane.packages / "leaf-1.0.dist-info/RECORD"
    record.write_text(record.read_text("utf-8").replace("sha256=", "sha256=x"), "utf-8")


def what_a_required_package_requires(vane: Vane) -> None:
    vane.put("newcomer")
    vane.put("leaf", "twig", "newcomer")


def a_new_path_file(vane: Vane) -> None:
    write(vane.packages / "surprise.pth", "import os\n")


def a_path_file_that_offers_what_it_imports(vane: Vane) -> None:
    write(vane.root / "elsewhere/leaf.py", "")
    distribution(vane.packages, "unrelated", files={"unrelated.pth": f"# note\n{vane.root / 'elsewhere'}\n"})


def a_path_file_that_offers_nothing_it_imports(vane: Vane) -> None:
    write(vane.root / "elsewhere/stranger.py", "")
    distribution(vane.packages, "unrelated", files={"unrelated.pth": f"{vane.root / 'elsewhere'}\n/nowhere\n"})


def what_runs_when_its_python_starts(vane: Vane) -> None:
    write(vane.packages / "usercustomize.py", "")


STALE: list[tuple[Change, str, str | None]] = [
    (a_byte_of_the_launcher, "launcher", "../../../bin/vane (changed)"),
    (another_launcher_of_the_same_size_and_time, "launcher", None),
    (the_settings_of_its_environment, "interpreter", None),
    (the_link_to_its_interpreter, "interpreter", None),
    (its_module, "distribution", "vane/cli.py (changed)"),
    (its_main_module, "distribution", "vane/__main__.py (changed)"),
    (its_data, "distribution", "vane/data.json (changed)"),
    (a_file_that_went, "distribution", "vane/data.json (removed)"),
    (a_file_that_is_a_directory_now, "distribution", "vane/data.json (removed)"),
    (its_version, "distribution", None),
    (a_required_version, "closure", "leaf 1.0 → 1.1"),
    (a_version_required_by_what_it_requires, "closure", "twig 1.0 → 2.0"),
    (a_version_that_an_extra_brings, "closure", "booster 1.0 → 3.0"),
    (a_required_package_that_went, "closure", "twig (removed)"),
    (a_required_package_that_came, "closure", "absent (added)"),
    (the_record_of_a_required_package, "closure", "leaf (changed)"),
    (what_a_required_package_requires, "closure", "newcomer (added)"),
    (a_new_path_file, "pth", "surprise.pth line 1 runs code at every start of Python (new)"),
    (what_runs_when_its_python_starts, "pth", None),
    (a_path_file_that_offers_what_it_imports, "pth", None),
]


@pytest.mark.req("X4", "B2")
@pytest.mark.parametrize(("change", "group", "detail"), STALE, ids=[row[0].__name__ for row in STALE])
def test_a_change_of_what_is_covered_is_stale_and_says_what_changed(
    vane: Vane, change: Change, group: str, detail: str | None
) -> None:
    """entrypoint_replaced_or_removed, module_behind_wrapper_changed (cases 65, 67)"""
    change(vane)

    row = vane.row("vane")

    assert (row["ready"], row["reason"]) == (False, "readiness_stale")
    assert group in row["changed"]
    assert detail is None or detail in row["changed_details"]
    assert row["next_command"].startswith("loopx extension doctor vane --execute")


@pytest.mark.req("X4")
@pytest.mark.parametrize(
    "change", [a_byte_of_the_launcher, its_module, a_required_version, a_new_path_file], ids=lambda one: one.__name__
)
def test_a_stale_extension_is_dispatched_again_only_after_its_doctor(vane: Vane, change: Change) -> None:
    """entrypoint_replaced_or_removed (case 65)"""
    change(vane)
    refused = vane.run("vane", {})

    proved = vane("extension", "doctor", "vane", "--execute")

    assert (refused.status, refused.code) == (EXIT_REFUSED, "readiness_stale")
    assert proved.status == 0, proved
    assert vane.run("vane", {}).status == 0


def test_a_launcher_that_went_is_missing_until_it_is_back(vane: Vane) -> None:
    """entrypoint_replaced_or_removed (case 65)"""
    kept = vane.launcher.rename(vane.root / "kept")
    gone, refused = vane.row("vane"), vane.run("vane", {})

    kept.rename(vane.launcher)

    assert gone["reason"] == "entrypoint_missing"
    assert (refused.status, refused.code) == (EXIT_REFUSED, "entrypoint_missing")
    assert vane.row("vane")["ready"] is True


def test_a_change_that_is_taken_back_is_ready_again(vane: Vane) -> None:
    path = vane.packages / "vane/cli.py"
    before = path.read_text("utf-8")
    write(path, "# changed\n")
    stale = vane.row("vane")["ready"]

    write(path, before)

    assert stale is False
    assert vane.row("vane")["ready"] is True


# --- what does not --------------------------------------------------------------------------------------------------


def touching(vane: Vane) -> None:
    """touch_only (case 69)"""
    for path in (*vane.covered, *vane.packages.glob("*/*"), vane.venv / "pyvenv.cfg"):
        os.utime(path, ns=(10**18, 10**18))


def copying(vane: Vane) -> None:
    for path in vane.covered:
        shutil.copy2(path, path.with_name("copy"))
        path.with_name("copy").replace(path)


def rewriting_the_same_bytes(vane: Vane) -> None:
    for path in (*vane.covered, *vane.packages.glob("*/RECORD")):
        path.write_bytes(path.read_bytes())


def another_installer(vane: Vane) -> None:
    """What differs between two installs of one wheel: who did it, byte code, and who asked for it."""
    for info in vane.packages.glob("*.dist-info"):
        write(info / "INSTALLER", "another\n")
        write(info / "REQUESTED", "")
        with (info / "RECORD").open("a", encoding="utf-8") as stream:
            rows = ("INSTALLER,sha256=abc,8", "REQUESTED,,")
            stream.writelines(f"{info.name}/{row}\n" for row in rows)
            stream.write("vane/__pycache__/cli.cpython-311.pyc,,\n")


def a_record_in_another_order(vane: Vane) -> None:
    record = vane.packages / "leaf-1.0.dist-info/RECORD"
    record.write_text("\n".join(reversed(record.read_text("utf-8").splitlines())) + "\n", "utf-8")


def byte_code(vane: Vane) -> None:
    write(vane.packages / "vane/__pycache__/cli.cpython-311.pyc", "not byte code")
    write(vane.packages / "__pycache__/leaf.cpython-311.pyc", "not byte code")


def an_unrelated_package(vane: Vane) -> None:
    vane.put("unrelated", "something", "else")


def an_extra_nobody_asked_for(vane: Vane) -> None:
    vane.put("slow")


def a_requirement_of_another_python(vane: Vane) -> None:
    vane.put("never")


def a_file_behind_no_requirement(vane: Vane) -> None:
    write(vane.packages / "stray.py", "")


@pytest.mark.req("X4")
@pytest.mark.parametrize(
    "change",
    [
        touching,
        a_path_file_that_offers_nothing_it_imports,
        copying,
        rewriting_the_same_bytes,
        another_installer,
        a_record_in_another_order,
        byte_code,
        an_unrelated_package,
        an_extra_nobody_asked_for,
        a_requirement_of_another_python,
        a_file_behind_no_requirement,
    ],
    ids=lambda one: one.__name__,
)
def test_what_changes_no_covered_byte_stays_ready(vane: Vane, change: Change) -> None:
    """touch_only (case 69)"""
    change(vane)

    row = vane.row("vane")

    assert (row["ready"], row["changed"]) == (True, [])
    assert vane.run("vane", {}).status == 0


# --- a probe that moves what it probes ------------------------------------------------------------------------------


@LEAVES_MARKS
@pytest.mark.req("X4")
@pytest.mark.parametrize("changed", ["launcher", "module"])
def test_a_doctor_that_changes_what_it_probes_proves_nothing(tmp_path: Path, changed: str) -> None:
    """changed_during_probe (case 71)"""
    vane = Vane(tmp_path)
    path = vane.launcher if changed == "launcher" else vane.packages / "vane/cli.py"
    program = f"#!{sys.executable} -IS\nopen({str(path)!r}, 'a').write('#')\n"
    vane.put("vane", *vane.requires, files=vane.files(program))

    answer = vane.install(vane.manifest)

    assert (answer.status, answer.code) == (EXIT_REFUSED, "doctor_failed")
    assert answer.document["doctor"]["failure_kind"] == "changed_during_probe"
    assert vane.rows() == []


# --- what people are told -------------------------------------------------------------------------------------------


def test_the_refusal_of_a_run_names_the_library_that_moved(vane: Vane) -> None:
    vane.put("leaf", "twig", version="1.1")

    refused = vane.run("vane", {}).document

    assert (refused["changed"], refused["changed_details"]) == (["closure"], ["leaf 1.0 → 1.1"])


def test_without_what_was_remembered_the_groups_are_still_named(vane: Vane) -> None:
    vane.put("leaf", "twig", version="1.1")
    shutil.rmtree(vane.cache)

    row = vane.row("vane")

    assert (row["changed"], row["changed_details"]) == (["closure"], [])
