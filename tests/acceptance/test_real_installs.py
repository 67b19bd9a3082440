"""What pip leaves behind is found, proved and followed: wheels, and editable installs of two build backends.

Contract sections 3 and 5; extension-formats, *Finding it without import*. One throw-away environment holds the
built wheel of the host beside the packages.
"""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from tests.support.lifecycle import build_wheel, words
from tests.support.packages import manifest, write
from tests.support.real_packages import CLI, HATCHLING, SETUPTOOLS, SPACED, Host, library, project

pytestmark = pytest.mark.timeout(300)


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


UNRELATED = [
    ("stranger-a", HATCHLING, "src", "stranger_a"),
    ("stranger-b", SETUPTOOLS, "src", "stranger_b"),
    ("stranger-c", SETUPTOOLS, ".", "stranger_c"),
    ("stranger-d", SPACED, "src", "shared/stranger"),
]


@pytest.mark.req("X4")
@pytest.mark.parametrize(("name", "backend", "layout", "package"), UNRELATED, ids=[row[0] for row in UNRELATED])
def test_an_unrelated_editable_install_leaves_every_extension_ready(
    host: Host, tmp_path: Path, name: str, backend: str, layout: str, package: str
) -> None:
    host.state_file = tmp_path / "state.json"
    host.pip("install", str(build_wheel(library(tmp_path, "spaced", package="shared/spaced"), tmp_path / "dist")))
    for extension in ("wheeled", *NAMES):
        host.proved(extension)

    host.pip("install", "--editable", str(library(tmp_path, name, backend=backend, layout=layout, package=package)))

    assert [(row["id"], row["ready"], row["changed_details"]) for row in host.rows()] == [
        (extension, True, []) for extension in sorted(["wheeled", *NAMES])
    ]


@pytest.mark.req("X4", "B22")
@pytest.mark.parametrize(("backend", "layout"), [(HATCHLING, "src"), (SETUPTOOLS, ".")], ids=["path", "finder"])
def test_an_editable_install_that_offers_what_one_imports_makes_that_one_stale(
    host: Host, tmp_path: Path, backend: str, layout: str
) -> None:
    host.state_file = tmp_path / "state.json"
    leafy = f"leafy-{tmp_path.name[-8:].replace('_', '-').strip('-')}"
    needing = project(tmp_path, "needing", backend=HATCHLING)
    text = (needing / "pyproject.toml").read_text("utf-8")
    write(
        needing / "pyproject.toml",
        text.replace("[project.scripts]", f'dependencies = ["{leafy}"]\n[project.scripts]'),
    )
    host.pip("install", str(build_wheel(library(tmp_path, leafy, package="leafy"), tmp_path / "dist")))
    host.pip("install", "--force-reinstall", "--no-deps", str(build_wheel(needing, tmp_path / "dist")))
    host.proved("needing")
    host.proved("wheeled")

    shadow = library(tmp_path, f"{leafy}-shadow", backend=backend, layout=layout, package="leafy")
    host.pip("install", "--editable", str(shadow))

    row = host.row("needing")
    host.pip("uninstall", "--yes", leafy, f"{leafy}-shadow", "needing")
    assert (row["reason"], "pth" in row["changed"]) == ("readiness_stale", True)
    assert any("`leafy`" in detail and ".pth line 1 " in detail for detail in row["changed_details"])
    assert host.row("wheeled")["ready"] is True


@pytest.mark.req("X4")
@pytest.mark.parametrize(("backend", "layout"), [(HATCHLING, "src"), (SETUPTOOLS, ".")], ids=["path", "finder"])
def test_a_module_of_an_editable_install_that_offers_nothing_runs_by_its_manifest(
    host: Host, tmp_path: Path, backend: str, layout: str
) -> None:
    host.state_file = tmp_path / "state.json"
    source = library(tmp_path, f"acme-{layout.replace('.', 'flat')}", backend=backend, layout=layout, package="zebra")
    write(source / layout / "zebra/tool.py", CLI % "1.0" + "\n\nif __name__ == '__main__':\n    main()\n")
    path = write(
        source / layout / "zebra/extension.toml", manifest("zebra", entrypoint=None, python_module="zebra.tool")
    )
    host.pip("install", "--editable", str(source))

    installed = host("extension", "install", "--manifest", str(path), "--execute")
    ran = host.run("zebra", {})
    write(source / layout / "zebra/tool.py", CLI % "2.0")

    row = host.row("zebra")
    host.pip("uninstall", "--yes", source.name)
    assert installed.status == 0, installed
    assert ran.document["provider_result"] == {"ok": True, "version": "1.0"}
    assert (row["reason"], row["changed_details"]) == ("readiness_stale", ["zebra/tool.py (changed)"])


@pytest.mark.req("X4")
def test_an_edit_in_an_editable_library_that_one_requires_is_stale_and_named(host: Host, tmp_path: Path) -> None:
    host.state_file = tmp_path / "state.json"
    needing = project(tmp_path, "leaning", backend=HATCHLING)
    text = (needing / "pyproject.toml").read_text("utf-8")
    write(
        needing / "pyproject.toml", text.replace("[project.scripts]", 'dependencies = ["staff"]\n[project.scripts]')
    )
    write(needing / "src/leaning/cli.py", "import staff\n" + CLI % "1.0")
    staff = library(tmp_path, "staff", package="staff")
    host.pip("install", "--editable", str(staff))
    host.pip("install", "--no-deps", str(build_wheel(needing, tmp_path / "dist")))
    host.proved("leaning")
    ran = host.run("leaning", {})

    write(staff / "src/staff/__init__.py", "changed = 1\n")

    row = host.row("leaning")
    assert ran.status == 0, ran
    assert (row["reason"], row["changed"]) == ("readiness_stale", ["closure"])
    assert any("staff/__init__.py" in detail for detail in row["changed_details"])


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
