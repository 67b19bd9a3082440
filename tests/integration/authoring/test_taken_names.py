"""Names that somebody holds: a new extension gets none of them, and one that is written already is told."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from tests.support.packages import Environment, distribution, manifest, offering, write

EXIT_REFUSED = 2


@pytest.fixture
def world(tmp_path: Path) -> Environment:
    return Environment(tmp_path)


def refusal(world: Environment, name: str) -> str:
    """Return the sentence that refuses a name."""
    answer = world("extension", "init", name, "--destination", str(world.root / "new"), "--execute")
    assert (answer.status, answer.code) == (EXIT_REFUSED, "name_unusable"), answer
    assert not (world.root / "new").exists()
    return str(answer.document["error"])


@pytest.mark.parametrize("name", ["sitecustomize", "usercustomize", "setuptools", "activate", "json", "pip", "wheel"])
def test_what_every_python_holds_is_taken(world: Environment, name: str) -> None:
    assert name in refusal(world, name)


@pytest.mark.parametrize("name", ["attrs", "jsonschema", "packaging", "rpds", "rich", "importlib-metadata", "attr"])
def test_what_loopx_itself_imports_is_taken(world: Environment, name: str) -> None:
    refusal(world, name)


def test_a_program_on_this_path_is_taken_and_named_by_its_path(world: Environment) -> None:
    program = write(world.root / "bin/weigh", "#!/bin/sh\n")
    program.chmod(0o755)
    world.env["PATH"] = f"{program.parent}:{world.env['PATH']}"

    assert str(program) in refusal(world, "weigh")


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
def test_git_is_taken_where_it_is_there(world: Environment) -> None:
    assert f"{os.sep}git" in refusal(world, "git")


@pytest.mark.parametrize(
    ("name", "files"),
    [
        ("lonely", {"lonely.py": ""}),
        ("packed", {"packed/__init__.py": ""}),
        ("spaced", {"spaced/inner/deep.py": ""}),
        ("Upper".lower(), {"Upper/__init__.py": ""}),
        ("two-words", {"two_words/__init__.py": ""}),
        ("compiled", {"compiled.cpython-311-x86_64-linux-gnu.so": ""}),
    ],
)
def test_a_module_of_an_installed_package_is_taken_and_its_holder_named(
    world: Environment, name: str, files: dict[str, str]
) -> None:
    distribution(world.site, "holder", "3.2", files=files)

    assert "holder 3.2" in refusal(world, name)


def test_a_module_that_no_package_brought_is_named_by_its_path(world: Environment) -> None:
    path = write(world.site / "dropped.py", "")

    assert str(path) in refusal(world, "dropped")


def test_a_package_name_is_taken_in_every_spelling(world: Environment) -> None:
    distribution(world.site, "Some.Thing", files={"elsewhere.py": ""})

    assert "Some.Thing 1.0" in refusal(world, "some-thing")


def test_a_package_that_an_editable_install_points_to_is_taken(world: Environment) -> None:
    source = world.root / "source"
    write(source / "pointed/__init__.py", "")
    distribution(world.site, "holder", editable=source, files={"holder.pth": f"{source}\n"})

    assert "holder 1.0" in refusal(world, "pointed")


def test_a_command_that_a_package_brings_is_taken(world: Environment) -> None:
    groups = {"console_scripts": {"sweep": "elsewhere:main"}}
    distribution(world.site, "holder", groups=groups, files={"elsewhere.py": ""})

    assert "holder 1.0" in refusal(world, "sweep")


def test_what_the_package_itself_holds_is_its_own(world: Environment) -> None:
    offering(world.site, "mine", name="mine")

    answer = world("extension", "init", "mine", "--destination", str(world.root / "new"), "--execute")

    assert answer.status == 0, answer


def project(world: Environment, module: str, *, name: str = "acme", script: str = "acme") -> Path:
    """Write the project of an extension that nobody installed."""
    folder = world.root / "project"
    write(folder / f"src/{module}/__init__.py", "")
    write(folder / f"src/{module}/extension.toml", manifest("acme"))
    described = f"[project]\nname = {name!r}\n[project.scripts]\n{script!r} = '{module}:main'\n"
    write(folder / "pyproject.toml", described)
    return folder / f"src/{module}"


@pytest.mark.parametrize(
    "settings",
    [
        {"module": "sitecustomize"},
        {"module": "SiteCustomize"},
        {"module": "attr"},
        {"module": "acme", "name": "Att-rs".replace("-", "")},
        {"module": "acme", "name": "importlib.metadata"},
        {"module": "acme", "script": "activate"},
        {"module": "acme", "script": "PIP"},
    ],
)
def test_a_written_package_is_told_whose_names_it_takes_and_strict_refuses_it(
    world: Environment, settings: dict[str, str]
) -> None:
    package = project(world, **settings)

    told, refused = (world("extension", "validate", str(package), *flags) for flags in ((), ("--strict",)))

    assert (told.status, refused.status, refused.code) == (0, EXIT_REFUSED, "name_unusable"), (told, refused)
    assert any("holds" in line for line in told.document["advice"])


def test_a_written_package_with_names_of_its_own_is_told_nothing_of_them(world: Environment) -> None:
    package = project(world, "acme_words", name="acme-words", script="acme-words")

    assert not any("holds" in line for line in world("extension", "validate", str(package)).document["advice"])
