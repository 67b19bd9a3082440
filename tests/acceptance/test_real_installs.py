"""What pip leaves behind is found, proved and followed: wheels, and editable installs of two build backends.

Contract sections 3 and 5; extension-formats, *Finding it without import*. One throw-away environment holds the
built wheel of the host beside the packages.
"""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.support.cli import Loopx
from tests.support.lifecycle import ROOT, build_wheel, make_venv, pip, words
from tests.support.packages import manifest, write

pytestmark = pytest.mark.timeout(300)

HATCHLING = """\
[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"

[tool.hatch.build.targets.wheel]
packages = ["{place}"]
"""
SETUPTOOLS = """\
[build-system]
requires = ["setuptools"]
build-backend = "setuptools.build_meta"

[tool.setuptools.packages.find]
where = ["{where}"]
include = ["{package}*"]

[tool.setuptools.package-data]
"*" = ["*.toml"]
"""
PROJECT = """
[project]
name = "{name}"
version = "{version}"

[project.scripts]
{name} = "{package}.cli:main"

[project.entry-points."loopx.extensions"]
{offers}
"""
CLI = """\
import json, sys


def main():
    if sys.argv[1:] != ["--doctor"]:
        print(json.dumps({"ok": True, "version": "%s"}))
"""


def project(
    folder: Path, name: str, *, backend: str, layout: str = "src", version: str = "1.0", extras: tuple[str, ...] = ()
) -> Path:
    """Write the source of a package that offers an extension of its own name, and more of `extras`."""
    package = name.replace("-", "_")
    place = f"{layout}/{package}" if layout != "." else package
    offers = [f'{name} = "{package}"', *(f'{extra} = "{package}.{extra}"' for extra in extras)]
    build = backend.format(place=place, where=layout, package=package)
    head = PROJECT.format(name=name, package=package, version=version, offers="\n".join(offers))
    source = folder / f"{name}-{version}"
    write(source / "pyproject.toml", build + head)
    write(source / place / "__init__.py", "")
    write(source / place / "cli.py", CLI % version)
    write(source / place / "extension.toml", manifest(name, version, entrypoint=name))
    for extra in extras:
        write(source / place / extra / "__init__.py", "raise SystemExit('imported')\n")
        write(source / place / extra / "extension.toml", manifest(extra, version, entrypoint=name))
    return source


class Host(Loopx):
    """The host installed from its wheel in an environment of its own."""

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        self.scripts = make_venv(root / "venv")
        self.sources = root / "sources"
        self.pip("install", str(build_wheel(ROOT, root / "dist")))

    def command(self, *words: str | bytes, options: bool = True) -> list[str | bytes]:
        return [str(self.scripts / "loopx"), *super().command(*words, options=options)[1:]]

    def pip(self, *arguments: str) -> None:
        pip("--python", str(self.scripts / "python"), *arguments)

    def offer(self, extension_id: str) -> dict[str, Any]:
        rows = self("extension", "discover").document["extensions"]
        (found,) = [row for row in rows if row["id"] == extension_id]
        assert isinstance(found, dict)
        return found

    def row(self, extension_id: str) -> dict[str, Any]:
        return next(row for row in self.rows() if row["id"] == extension_id)

    def proved(self, extension_id: str) -> None:
        answer = self("extension", "install", extension_id, "--execute")
        assert answer.status == 0, answer
        assert self.row(extension_id)["ready"] is True


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Host:
    return Host(tmp_path_factory.mktemp("host"))


@pytest.fixture(scope="module")
def wheel(host: Host) -> Path:
    """A wheel that offers two extensions."""
    return build_wheel(project(host.sources, "wheeled", backend=HATCHLING, extras=("second",)), host.sources / "dist")


@pytest.fixture(scope="module", autouse=True)
def _installed(host: Host, wheel: Path) -> None:
    host.pip("install", str(wheel))
    for name, backend, layout in EDITABLE:
        host.pip("install", "--editable", str(project(host.sources, name, backend=backend, layout=layout)))


EDITABLE = [
    ("hatched", HATCHLING, "src"),
    ("set-up-below", SETUPTOOLS, "src"),
    ("set-up-flat", SETUPTOOLS, "."),
]
NAMES = [name for name, _, _ in EDITABLE]


@pytest.mark.parametrize("name", ["wheeled", "second", *NAMES])
def test_what_pip_installed_is_offered(host: Host, name: str) -> None:
    row = host.offer(name)

    assert (row["state"] in ("available", "installed"), row["code"], row["version"]) == (True, None, "1.0")


@pytest.mark.parametrize("name", NAMES)
def test_an_editable_install_is_offered_from_its_source(host: Host, name: str) -> None:
    assert host.offer(name)["manifest_path"].startswith(str(host.sources))


@pytest.mark.parametrize("name", ["wheeled", *NAMES])
def test_what_is_offered_is_installed_by_its_id_and_runs(host: Host, name: str, tmp_path: Path) -> None:
    host.state_file = tmp_path / "state.json"
    preview = host("extension", "install", name)

    host.proved(name)
    ran = host.run(name, {})

    assert preview.document["owner"] == {"name": name, "version": "1.0"}
    assert ran.document["provider_result"] == {"ok": True, "version": "1.0"}


@pytest.mark.req("X4")
@pytest.mark.parametrize("name", NAMES)
def test_an_edit_in_the_source_behind_the_script_is_stale(host: Host, name: str, tmp_path: Path) -> None:
    """module_behind_wrapper_changed (case 67)"""
    host.state_file = tmp_path / "state.json"
    host.proved(name)
    path = Path(host.offer(name)["manifest_path"]).with_name("cli.py")

    path.write_text(path.read_text("utf-8") + "# changed\n", "utf-8")

    row = host.row(name)
    assert (row["reason"], row["changed"]) == ("readiness_stale", ["distribution"])
    assert [detail.split()[0] for detail in row["changed_details"]] == [f"{path.parent.name}/cli.py"]


@pytest.mark.req("X4")
def test_the_same_wheel_installed_again_stays_ready(host: Host, wheel: Path, tmp_path: Path) -> None:
    host.state_file = tmp_path / "state.json"
    host.proved("wheeled")

    host.pip("install", "--force-reinstall", "--no-deps", str(wheel))

    assert host.row("wheeled")["ready"] is True


@pytest.mark.req("X4")
def test_another_package_in_the_same_environment_leaves_it_ready(host: Host, tmp_path: Path) -> None:
    host.state_file = tmp_path / "state.json"
    host.proved("wheeled")

    host.pip("install", str(build_wheel(project(tmp_path, "unrelated", backend=HATCHLING), tmp_path / "dist")))

    assert host.row("wheeled")["ready"] is True


@pytest.mark.req("X4")
def test_byte_code_that_running_leaves_does_not_count(host: Host, tmp_path: Path) -> None:
    host.state_file = tmp_path / "state.json"
    host.proved("wheeled")

    subprocess.run([host.scripts / "wheeled"], check=True, capture_output=True, env=host.env)

    assert host.row("wheeled")["ready"] is True


def test_a_new_version_is_offered_as_an_upgrade_and_upgraded_by_its_id(host: Host, tmp_path: Path) -> None:
    host.state_file = tmp_path / "state.json"
    versions = [project(tmp_path, "growing", backend=HATCHLING, version=version) for version in ("1.0", "2.0")]
    host.pip("install", str(build_wheel(versions[0], tmp_path / "dist")))
    host.proved("growing")
    host.pip("install", str(build_wheel(versions[1], tmp_path / "dist")))

    offered = host.offer("growing")
    upgraded = host(*words(offered["next_command"]), "--execute", options=False)

    assert (offered["state"], offered["version"]) == ("upgrade_available", "2.0")
    assert upgraded.status == 0, upgraded
    assert host.run("growing", {}).document["provider_result"]["version"] == "2.0"


def test_a_package_that_pip_removed_is_missing_and_named(host: Host, tmp_path: Path) -> None:
    host.state_file = tmp_path / "state.json"
    host.pip("install", str(build_wheel(project(tmp_path, "leaving", backend=HATCHLING), tmp_path / "dist")))
    host.proved("leaving")

    host.pip("uninstall", "--yes", "leaving")

    rows = {row["subject"]: row for row in host("doctor").document["checks"] if row["check"] == "extension"}
    assert host.row("leaving")["reason"] == "entrypoint_missing"
    assert "leaving==1.0" in rows["leaving"]["install_package"]
    assert host("extension", "uninstall", "leaving", "--execute").status == 0


def test_the_state_names_the_distribution_behind_each_revision(host: Host, tmp_path: Path) -> None:
    host.state_file = tmp_path / "state.json"
    host.proved("wheeled")

    (revision,) = json.loads(host.state_file.read_bytes())["extensions"]["wheeled"]["revisions"]

    assert revision["distribution"] == {"name": "wheeled", "version": "1.0"}
