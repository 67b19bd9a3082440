"""Editable installs, as the build backends leave them: followed to the source, and nothing of them is run."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.packages import (
    Environment,
    distribution,
    manifest,
    write,
)

Standing = tuple[str | None, str, str | None]


@pytest.fixture
def environment(tmp_path: Path) -> Environment:
    return Environment(tmp_path, "site", "other")


def standings(environment: Environment) -> list[Standing]:
    """Return (id, state, code) of every row."""
    return [(row["id"], row["state"], row["code"]) for row in environment.offers()]


def editable(environment: Environment, package: Path, files: dict[str, str]) -> Path:
    """Write the metadata of an editable install of `package` and the files that point to it."""
    write(package / "extension.toml", manifest("edited"))
    write(package / "__init__.py", "")
    groups = {"loopx.extensions": {"edited": "edited"}}
    return distribution(environment.site, "edited-package", groups=groups, files=files, editable=package.parent)


def test_a_path_file_leads_to_the_source(environment: Environment) -> None:
    package = environment.root / "project/src/edited"
    editable(environment, package, {"_edited_package.pth": f"{package.parent}\n"})

    assert environment.offer("edited")["manifest_path"] == str(package / "extension.toml")


def test_the_literal_mapping_of_a_finder_leads_to_the_source(environment: Environment) -> None:
    package = environment.root / "project/lib/edited"
    finder = f"MAPPING: dict[str, str] = {{'edited': {str(package)!r}}}\nraise SystemExit\n"
    files = {
        "__editable___edited_finder.py": finder,
        "__editable__.edited.pth": "import __editable___edited_finder\n",
    }
    editable(environment, package, files)

    assert environment.offer("edited")["manifest_path"] == str(package / "extension.toml")


def test_the_source_wins_over_a_copy_in_the_site_directory(environment: Environment) -> None:
    package = environment.root / "project/src/edited"
    copy = {"edited/extension.toml": manifest("edited", "0.1")}
    editable(environment, package, {"_edited_package.pth": f"{package.parent}\n", **copy})

    assert environment.offer("edited")["version"] == "1.0"


def test_a_mapping_that_is_no_literal_is_not_executed(environment: Environment) -> None:
    mark = environment.root / "mark"
    finder = f"MAPPING = dict(edited=open({str(mark)!r}, 'w').name)\n"
    files = {
        "__editable___edited_finder.py": finder,
        "__editable__.edited.pth": "import __editable___edited_finder\n",
    }
    editable(environment, environment.root / "project/edited", files)

    row = environment.offer("edited")

    assert (row["state"], row["code"]) == ("broken", "editable_unresolved")
    assert not mark.exists()


def test_a_path_file_of_another_distribution_is_not_followed(environment: Environment) -> None:
    stray = environment.root / "stray"
    write(stray / "edited/extension.toml", manifest("edited"))
    groups = {"loopx.extensions": {"edited": "edited"}}
    distribution(environment.site, "a", groups=groups, editable=environment.root / "gone")
    write(environment.site / "_another_package.pth", f"{stray}\n")

    assert environment.offer("edited")["code"] == "editable_unresolved"


def test_metadata_that_a_build_left_in_the_source_is_no_second_copy(environment: Environment) -> None:
    """A flat editable install puts the project, with its egg-info, on the search path."""
    project = environment.root / "project"
    editable(environment, project / "edited", {"__editable__.edited_package-1.0.pth": f"{project}\n"})
    groups = {"loopx.extensions": {"edited": "edited"}}
    distribution(project, "edited-package", groups=groups, folder="edited_package.egg-info")
    environment.look_in(environment.site, project)

    assert standings(environment) == [("edited", "available", None)]
