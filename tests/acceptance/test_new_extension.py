"""From `init` to a running extension, in an environment that holds the built wheels and nothing else (row B10).

The commands are those the generated README and the receipt give, typed as they stand there.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from tests.support.lifecycle import CONSTRAINTS, ROOT, build_wheel, pip, run_script
from tests.support.pages import follow, steps

pytestmark = pytest.mark.timeout(300)

LONGEST = "a" + "-b" * 23 + "c"  # 48 characters
STRANGER = ROOT / "tests" / "data" / "v0-package"


class Newcomer:
    """One fresh environment and the shell of somebody who works in it."""

    def __init__(self, place: Path, scripts: Path) -> None:
        self.place = place
        kept = {name: value for name, value in os.environ.items() if name.startswith(("PIP_", "SSL_", "REQUESTS_"))}
        self.env = {
            **kept,
            "LANG": "C.UTF-8",
            "PATH": f"{scripts}:{os.defpath}",
            "HOME": str(place / "home"),
            "XDG_STATE_HOME": str(place / "state"),
            "XDG_CACHE_HOME": str(place / "cache"),
            "PIP_CACHE_DIR": os.environ.get("PIP_CACHE_DIR", str(Path.home() / ".cache" / "pip")),
            "PIP_CONSTRAINT": str(CONSTRAINTS),
            "PIP_BUILD_CONSTRAINT": str(CONSTRAINTS),
            "PIP_DISABLE_PIP_VERSION_CHECK": "1",
            "PIP_ROOT_USER_ACTION": "ignore",
        }
        (place / "home").mkdir()

    def type(self, *commands: str) -> list[tuple[int, str]]:
        """Type commands into one shell and return (status, output) of each."""
        return run_script("\n\n".join(commands), cwd=self.place, env=self.env)

    def document(self, command: str) -> dict[str, Any]:
        """Type one command that prints one JSON document and succeeds."""
        ((status, output),) = self.type(command)
        assert status == 0, output
        document = json.loads(output)
        assert isinstance(document, dict)
        return document


@pytest.fixture(scope="module")
def newcomer(tmp_path_factory: pytest.TempPathFactory) -> Newcomer:
    """A newcomer whose environment holds host and kit as wheels, both built here."""
    place = tmp_path_factory.mktemp("newcomer")
    source = tmp_path_factory.mktemp("source")
    for name in ("loopx_host", "plugins"):
        shutil.copytree(ROOT / name, source / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md", "LICENSE", "CHANGELOG.md"):
        shutil.copy(ROOT / name, source)
    dist = tmp_path_factory.mktemp("dist")
    wheels = [build_wheel(source, dist), build_wheel(source / "plugins" / "loopx-pytest", dist)]
    subprocess.run([sys.executable, "-m", "venv", str(place / "venv")], check=True)
    scripts = place / "venv" / "bin"
    pip("--python", str(scripts / "python"), "install", "--find-links", str(dist), *map(str, wheels))
    return Newcomer(place, scripts)


@pytest.fixture(scope="module")
def package(newcomer: Newcomer) -> Path:
    """A new package, unedited."""
    made = newcomer.document("loopx extension init acme-word-count --execute --format json")
    assert made["changed"] is True
    return newcomer.place / "acme-word-count"


@pytest.mark.req("B10")
def test_the_readme_of_a_new_package_works_as_it_stands(newcomer: Newcomer, package: Path) -> None:
    """init_result_installs_and_runs (case 38): package, own tests, validate, install, run."""
    readme = package / "README.md"

    wrong = follow(readme, package, newcomer.env)

    assert wrong == []
    assert len([command for step in steps(readme.read_text("utf-8")) for command in step.commands]) <= 5


def test_its_response_follows_its_own_schema(newcomer: Newcomer, package: Path) -> None:
    """init_result_installs_and_runs (case 38): `succeeded`, and the reference judge agrees."""
    _installed(newcomer, "acme-word-count", package)
    example = "acme-word-count/examples/request.json"

    receipt = newcomer.document(f"loopx extension run acme-word-count --input-json {example} --execute --format json")

    schema = json.loads((package / "src/acme_word_count/schemas/response.schema.json").read_bytes())
    assert receipt["status"] == "succeeded"
    assert list(Draft202012Validator(schema).iter_errors(receipt["provider_result"])) == []


def test_the_generated_tests_include_the_conformance_suite(newcomer: Newcomer, package: Path) -> None:
    _installed(newcomer, "acme-word-count", package)

    ((status, output),) = newcomer.type("cd acme-word-count && python3 -m pytest -q -rs")

    assert status == 0, output
    assert "skipped" not in output


def test_the_next_commands_work_for_the_longest_name_in_a_place_with_spaces(newcomer: Newcomer) -> None:
    destination = f"my packages/{LONGEST}"
    made = newcomer.document(f"loopx extension init {LONGEST} --destination '{destination}' --execute --format json")
    commands = made["next_commands"]

    (installed, _), (registered, receipt), (ran, answer) = newcomer.type(
        commands["install_package"], commands["register_extension"], commands["run_extension"]
    )

    assert (installed, registered, ran) == (0, 0, 0), (receipt, answer)
    assert len(LONGEST) == 48
    assert json.loads(answer)["status"] == "succeeded"
    assert json.loads(answer)["protocol"] == made["protocol"]


def test_a_new_package_is_offered_by_its_metadata(newcomer: Newcomer, package: Path) -> None:
    _installed(newcomer, "acme-word-count", package)

    rows = newcomer.document("loopx extension discover --format json")["extensions"]

    assert ("acme-word-count", "installed") in {(row["id"], row["state"]) for row in rows}


def test_a_package_for_plain_v0_is_valid_installs_runs_and_conforms_unmodified(newcomer: Newcomer) -> None:
    shutil.copytree(STRANGER, newcomer.place / "orchard", ignore=shutil.ignore_patterns("__pycache__"))
    example = "orchard/examples/request.json"

    ((status, output),) = newcomer.type("python3 -m pip install --quiet ./orchard")
    validated = newcomer.document("loopx extension validate orchard --strict --format json")
    installed = newcomer.document("loopx extension install --manifest orchard/extension.toml --execute --format json")
    receipt = newcomer.document(f"loopx extension run orchard-notes --input-json {example} --execute --format json")
    report = newcomer.document("loopx extension conformance orchard --execute --format json")

    assert status == 0, output
    assert validated["warnings"] == []
    assert installed["owner"] == {"name": "orchard-notes", "version": "1.4.0"}
    assert installed["warnings"] == []
    assert receipt["provider_result"]["counts"] == {"apple": 2, "pear": 1}
    assert {row["rule"] for row in report["rules"] if row["status"] != "passed"} == {"unknown_field_request"}
    assert report["ok"] is True


def test_the_kit_holds_a_package_for_plain_v0_to_every_rule(newcomer: Newcomer) -> None:
    folder = newcomer.place / "orchard-kit"
    shutil.copytree(STRANGER, folder, ignore=shutil.ignore_patterns("__pycache__"))
    ((made, output),) = newcomer.type("python3 -m pip install --quiet ./orchard-kit 'pytest>=8'")

    ((status, report),) = newcomer.type("cd orchard-kit && python3 -m pytest -q --loopx-conformance .")

    assert made == 0, output
    assert status == 0, report
    assert "23 passed, 1 skipped" in report


def _installed(newcomer: Newcomer, extension_id: str, package: Path) -> None:
    """Install package and extension unless an earlier test has."""
    listed = newcomer.document("loopx extension list --format json")["extensions"]
    if extension_id not in {row["id"] for row in listed}:
        assert follow(package / "README.md", package, newcomer.env) == []
