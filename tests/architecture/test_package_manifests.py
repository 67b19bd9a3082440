"""A capability package adopts the manifest of every extension as it is: no key of its own, no rule of its own."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
import tomli

from loopx_host.adapters.files.manifest_folder import open_manifest
from loopx_host.core.errors import Refused
from loopx_host.registry.load import load
from loopx_host.registry.manifest import Manifest

PLUGINS = Path(__file__).parents[2] / "plugins"
MANIFESTS = sorted(PLUGINS.glob("*/src/*/extension.toml"))
PROJECTS = sorted(PLUGINS.glob("*/pyproject.toml"))
GROUPS = {"loopx.extensions", "loopx.plugins", "loopx.commands"}
V0_KEYS = {
    *("schema_version", "id", "version", "requires_loopx_api", "permissions"),
    *("runtime", "provides", "implements", "presentation_surfaces", "documentation"),
}


def name(path: Path) -> str:
    return path.relative_to(PLUGINS).parts[0]


def loaded(path: Path) -> Manifest:
    return load(*open_manifest(str(path)))


def test_there_are_packages_to_look_at() -> None:
    assert {"loopx-capability-repo-health", "loopx-sink-smtp"} <= {name(path) for path in MANIFESTS}


@pytest.mark.req("M047")
@pytest.mark.parametrize("path", MANIFESTS, ids=name)
def test_the_manifest_of_a_package_is_that_of_every_extension(path: Path) -> None:
    manifest = loaded(path)

    assert set(tomli.loads(path.read_text("utf-8"))) <= V0_KEYS
    assert list(manifest.warnings) == []
    assert manifest.runtime is not None
    assert manifest.runtime.doctor_args


@pytest.mark.req("M047")
@pytest.mark.parametrize("path", MANIFESTS, ids=name)
def test_a_package_advertises_the_extension_that_its_manifest_is(path: Path) -> None:
    project = tomli.loads((PLUGINS / name(path) / "pyproject.toml").read_text("utf-8"))["project"]

    assert project["entry-points"]["loopx.extensions"] == {loaded(path).id: path.parent.name}
    assert project.get("version", loaded(path).version) == loaded(path).version  # some read it from the manifest


@pytest.mark.req("M047")
@pytest.mark.parametrize("path", MANIFESTS, ids=name)
def test_a_key_of_its_own_in_the_manifest_of_a_package_is_refused_or_warned_of(path: Path, tmp_path: Path) -> None:
    copy = Path(shutil.copytree(path.parent, tmp_path / "copy")) / "extension.toml"
    text = copy.read_text("utf-8")

    copy.write_text(re.sub(r"^schema_version", 'capability_mode = "x"\nschema_version', text, count=1), "utf-8")
    warned = list(loaded(copy).warnings)
    copy.write_text(text.replace("[runtime]", '[runtime]\ncapability_mode = "x"', 1), "utf-8")

    assert len(warned) == 1
    with pytest.raises(Refused):
        loaded(copy)


@pytest.mark.req("M030")
@pytest.mark.parametrize("path", PROJECTS, ids=name)
def test_a_package_registers_through_the_registry_s_entry_points_and_nothing_else(path: Path) -> None:
    groups = set(tomli.loads(path.read_text("utf-8"))["project"].get("entry-points", {}))

    others = groups - GROUPS - ({"pytest11"} if name(path) == "loopx-pytest" else set())
    assert others == set()


@pytest.mark.req("M030", "X15")
@pytest.mark.parametrize("path", MANIFESTS, ids=name)
def test_what_a_package_brings_into_the_host_belongs_to_an_extension_of_its_own(path: Path) -> None:
    groups = tomli.loads((PLUGINS / name(path) / "pyproject.toml").read_text("utf-8"))["project"]["entry-points"]

    assert set(groups.get("loopx.plugins", {})) <= set(groups["loopx.extensions"])
    for value in [*groups.get("loopx.plugins", {}).values(), *groups.get("loopx.commands", {}).values()]:
        assert value.split(".")[0].partition(":")[0] == path.parent.name
