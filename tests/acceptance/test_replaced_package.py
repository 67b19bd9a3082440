"""A package is replaced on disk before its upgrade is tried, and the upgrade fails (row X12).

Real wheels in a throw-away environment: the second version's doctor fails. Whether the first manifest still
works on the second version's files decides what the refusal says of the active revision.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.support.cli import Answer, Loopx
from tests.support.lifecycle import build_wheel, make_venv, pip

EXIT_REFUSED = 2
PROJECT = """\
[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"

[project]
name = "weather-vane"
version = "{version}"

[project.scripts]
weather-vane = "weather_vane:{function}"

[tool.hatch.build.targets.wheel]
packages = ["weather_vane"]
"""
# `--doctor N` asks whether version N of the manifest can be served; `broken` lists those that cannot.
PROGRAM = """\
import sys

BROKEN = {broken!r}


def {function}():
    if sys.argv[1] == "--doctor":
        return 1 if sys.argv[2] in BROKEN else 0
    print('{{"ok": true, "code": "{version}", "manifest": "%s"}}' % sys.argv[2])
"""
MANIFEST = """\
schema_version = "loopx_extension_manifest_v0"
id = "weather-vane"
version = "{version}"
requires_loopx_api = "1"

[runtime]
protocol = "weather_vane_v0"
entrypoint = "weather-vane"
args = ["serve", "{version}"]
doctor_args = ["--doctor", "{version}"]
"""


def wheel(folder: Path, name: str, version: str, broken: list[str], *, function: str = "run") -> Path:
    """Build one version; `function` is the console script's, so another name makes another launcher."""
    source = folder / name
    (source / "weather_vane").mkdir(parents=True)
    names = {"version": version, "broken": broken, "function": function}
    (source / "pyproject.toml").write_text(PROJECT.format(**names), encoding="utf-8")
    (source / "weather_vane/__init__.py").write_text(PROGRAM.format(**names), encoding="utf-8")
    return build_wheel(source, source / "dist")


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("wheels")
    return {
        "first": wheel(folder, "first", "1.0", [], function="main"),
        "serves_both": wheel(folder, "both", "2.0", []),
        "serves_the_old_one": wheel(folder, "old", "2.0", ["2.0"]),
        "serves_the_new_one": wheel(folder, "new", "2.0", ["1.0"]),
        "serves_neither": wheel(folder, "neither", "2.0", ["1.0", "2.0"]),
        "serves_neither_by_the_same_launcher": wheel(folder, "same", "2.0", ["1.0", "2.0"], function="main"),
    }


class Vane:
    """The package in its own environment, and loopx outside of it, with that environment on PATH."""

    def __init__(self, root: Path, wheels: dict[str, Path]) -> None:
        self.loopx = Loopx(root)
        self.wheels = wheels
        self.scripts = make_venv(root / "venv")
        self.loopx.env["PATH"] = f"{self.scripts}:{self.loopx.env['PATH']}"

    def put(self, name: str) -> None:
        """Install one wheel over whatever version is there."""
        python = str(self.scripts / "python")
        pip("--python", python, "install", "--no-index", "--no-deps", "--force-reinstall", str(self.wheels[name]))

    def manifest(self, version: str) -> str:
        path = self.loopx.root / f"extension-{version}.toml"
        path.write_text(MANIFEST.format(version=version), encoding="utf-8")
        return str(path)

    def install(self) -> Answer:
        return self.loopx("extension", "install", "--manifest", self.manifest("1.0"), "--execute")

    def upgrade(self) -> Answer:
        return self.loopx("extension", "upgrade", "--manifest", self.manifest("2.0"), "--execute")

    def run(self) -> Answer:
        return self.loopx.run("weather-vane", {})


@pytest.fixture
def vane(tmp_path: Path, wheels: dict[str, Path]) -> Vane:
    made = Vane(tmp_path, wheels)
    made.put("first")
    answer = made.install()
    assert answer.status == 0, answer
    return made


@pytest.mark.req("X17")
def test_the_owner_of_a_console_script_is_its_distribution_and_version(vane: Vane) -> None:
    receipt = vane.loopx("extension", "upgrade", "--manifest", vane.manifest("2.0")).document

    assert receipt["owner"] == {"name": "weather-vane", "version": "1.0"}


@pytest.mark.req("X12")
def test_an_old_manifest_that_runs_on_the_new_files_is_proved_again_and_stays_ready(vane: Vane) -> None:
    before = vane.loopx.rows()[0]["active_revision"]
    vane.put("serves_the_old_one")

    answer = vane.upgrade()

    assert (answer.status, answer.code, answer.document["active_after"]) == (EXIT_REFUSED, "doctor_failed", "ready")
    row = vane.loopx.rows()[0]
    assert (row["active_revision"], row["ready"], row["revision_count"]) == (before, True, 1)
    ran = vane.run()
    assert ran.document["provider_result"] == {"ok": True, "code": "2.0", "manifest": "1.0"}


@pytest.mark.req("X12")
def test_an_old_manifest_that_no_longer_runs_is_stale_and_what_would_restore_it_is_named(vane: Vane) -> None:
    before = vane.loopx.rows()[0]["active_revision"]
    vane.put("serves_neither")

    answer = vane.upgrade()

    assert (answer.status, answer.code, answer.document["active_after"]) == (EXIT_REFUSED, "doctor_failed", "stale")
    assert answer.document["restore"]["distribution"] == {"name": "weather-vane", "version": "1.0"}
    assert answer.document["restore"]["command"].endswith("-m pip install weather-vane==1.0")
    row = vane.loopx.rows()[0]
    assert (row["active_revision"], row["ready"], row["reason"]) == (before, False, "readiness_stale")
    assert vane.run().status == EXIT_REFUSED


@pytest.mark.req("X12")
def test_putting_the_named_version_back_makes_it_ready_without_another_probe(vane: Vane) -> None:
    vane.put("serves_neither")
    assert vane.upgrade().document["restore"]["distribution"]["version"] == "1.0"

    vane.put("first")

    assert vane.run().document["provider_result"] == {"ok": True, "code": "1.0", "manifest": "1.0"}


def test_the_restoring_command_installs_into_the_environment_of_the_launcher(vane: Vane) -> None:
    vane.put("serves_neither")

    command = vane.upgrade().document["restore"]["command"]

    assert str(vane.scripts) in command or str(vane.scripts.parent) in command


@pytest.mark.req("X12")
def test_files_replaced_behind_the_same_launcher_are_noticed_too(vane: Vane) -> None:
    launcher = (vane.scripts / "weather-vane").read_bytes()
    vane.put("serves_neither_by_the_same_launcher")
    assert (vane.scripts / "weather-vane").read_bytes() == launcher

    answer = vane.upgrade()

    assert (answer.code, answer.document["active_after"]) == ("doctor_failed", "stale")
    assert vane.run().status == EXIT_REFUSED


@pytest.mark.req("X12")
def test_a_failed_rollback_leaves_the_active_revision_ready(vane: Vane) -> None:
    vane.put("serves_both")
    assert vane.upgrade().status == 0
    vane.put("serves_the_new_one")

    answer = vane.loopx("extension", "rollback", "weather-vane", "--execute")

    assert (answer.status, answer.code, answer.document["active_after"]) == (EXIT_REFUSED, "doctor_failed", "ready")
    assert vane.run().document["provider_result"] == {"ok": True, "code": "2.0", "manifest": "2.0"}


@pytest.mark.req("X12")
def test_an_upgrade_whose_command_is_gone_says_how_to_restore_the_active_one(vane: Vane) -> None:
    shutil.rmtree(vane.scripts)

    answer = vane.upgrade()

    assert (answer.code, answer.document["active_after"]) == ("entrypoint_missing", "stale")
    assert answer.document["restore"]["distribution"] == {"name": "weather-vane", "version": "1.0"}
