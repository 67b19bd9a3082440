"""The commands of the lifecycle chapter, typed as they stand there, in order, into one shell (row X16).

They are typed beside a copy of the example, with an environment that holds the built wheel of the host on PATH.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.lifecycle import CONSTRAINTS, ROOT, build_wheel, make_venv, pip, run_script

pytestmark = pytest.mark.timeout(300)

PACKAGE = """
python3 -m venv .venv
. .venv/bin/activate
python3 -m pip install -e './standalone-extension[test]'

loopx-text-stats --doctor

loopx-text-stats < standalone-extension/examples/request.json
"""
SEEN = """
find "$XDG_STATE_HOME" -type f
"""
ACTIVATION = """
loopx extension install \\
  --manifest standalone-extension/extension.toml \\
  --format json

loopx extension install \\
  --manifest standalone-extension/extension.toml \\
  --execute \\
  --format json

loopx extension list --format json

loopx extension doctor loopx-text-stats --execute --format json

loopx extension run loopx-text-stats \\
  --input-json standalone-extension/examples/request.json \\
  --format json

loopx extension run loopx-text-stats \\
  --input-json standalone-extension/examples/request.json \\
  --execute \\
  --format json

loopx extension disable loopx-text-stats --execute --format json

loopx extension run loopx-text-stats \\
  --input-json standalone-extension/examples/request.json \\
  --execute \\
  --format json

loopx extension enable loopx-text-stats --execute --format json
"""
# "First change the package and the version in the manifest, and install the new package into the same environment."
NEXT_VERSION = """
sed -i 's/version = "0.1.0"/version = "0.2.0"/' standalone-extension/pyproject.toml \\
  standalone-extension/src/loopx_text_stats/extension.toml
python3 -m pip install -e './standalone-extension[test]'
"""
SWITCHING = """
loopx extension upgrade \\
  --manifest standalone-extension/extension.toml \\
  --format json

loopx extension upgrade \\
  --manifest standalone-extension/extension.toml \\
  --execute \\
  --format json

loopx extension rollback loopx-text-stats --execute --format json
"""
ISOLATED = """
state_file="$(mktemp)"
rm -f "$state_file"

loopx extension install \\
  --state-file "$state_file" \\
  --manifest standalone-extension/extension.toml \\
  --execute \\
  --format json

loopx extension list --format json --state-file "$state_file"

printf '%s' "$state_file"
"""
TESTS_OF_THE_EXAMPLE = """
python3 -m pytest -q standalone-extension/tests
"""


@pytest.fixture(scope="session")
def host_wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of the host, built once."""
    return build_wheel(ROOT, tmp_path_factory.mktemp("dist"))


@pytest.fixture(scope="session")
def host(tmp_path_factory: pytest.TempPathFactory, host_wheel: Path) -> Path:
    """The scripts directory of a clean environment that holds the host's wheel and what it depends on."""
    scripts = make_venv(tmp_path_factory.mktemp("host") / "venv")
    pip("--python", str(scripts / "python"), "install", str(host_wheel))
    return scripts


class Typed:
    """What came of each block, by the part of the chapter it stands in."""

    def __init__(self, place: Path, parts: dict[str, list[tuple[int, str]]]) -> None:
        self.place = place
        self.parts = parts

    def statuses(self, part: str) -> list[int]:
        return [status for status, _ in self.parts[part]]

    def document(self, part: str, number: int) -> dict[str, Any]:
        document = json.loads(self.parts[part][number][1])
        assert isinstance(document, dict)
        return document


@pytest.fixture(scope="module")
def typed(tmp_path_factory: pytest.TempPathFactory, host: Path) -> Iterator[Typed]:
    place = tmp_path_factory.mktemp("chapter")
    shutil.copytree(ROOT / "examples/standalone-extension", place / "standalone-extension", symlinks=True)
    for name in ("home", "state", "tmp"):
        (place / name).mkdir()
    env = {
        name: value for name, value in os.environ.items() if name.startswith(("PIP_", "LANG", "SSL_", "REQUESTS_"))
    }
    env |= {
        "PATH": f"{host}:{os.defpath}",
        "HOME": str(place / "home"),
        "XDG_STATE_HOME": str(place / "state"),
        "XDG_CACHE_HOME": str(place / "cache"),
        "TMPDIR": str(place / "tmp"),
        "PIP_CONSTRAINT": str(CONSTRAINTS),
        "PIP_BUILD_CONSTRAINT": str(CONSTRAINTS),
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
        "PIP_ROOT_USER_ACTION": "ignore",
    }
    chapter = {
        "package": PACKAGE,
        "before": SEEN,
        "activation": ACTIVATION,
        "next_version": NEXT_VERSION,
        "switching": SWITCHING,
        "isolated": ISOLATED,
        "own_tests": TESTS_OF_THE_EXAMPLE,
    }
    outputs = iter(run_script("\n\n".join(chapter.values()), cwd=place, env=env))
    counts = {name: len([one for one in text.strip().split("\n\n") if one]) for name, text in chapter.items()}
    yield Typed(place, {name: [next(outputs) for _ in range(count)] for name, count in counts.items()})
    shutil.rmtree(place / ".venv", ignore_errors=True)


@pytest.mark.req("X16")
def test_the_package_is_installed_and_its_command_works(typed: Typed) -> None:
    assert typed.statuses("package") == [0, 0, 0], typed.parts["package"]
    assert typed.document("package", 2)["ok"] is True


@pytest.mark.req("X16")
def test_installing_and_using_the_package_touches_no_activation_state(typed: Typed) -> None:
    assert typed.parts["before"] == [(0, "")]


@pytest.mark.req("X16")
def test_the_tests_that_the_example_brings_pass_in_its_environment(typed: Typed) -> None:
    assert typed.statuses("own_tests") == [0], typed.parts["own_tests"]


@pytest.mark.req("X16", "X2")
def test_a_preview_changes_nothing_and_the_execution_activates(typed: Typed) -> None:
    preview, receipt = typed.document("activation", 0), typed.document("activation", 1)

    assert (preview["dry_run"], preview["changed"], preview["doctor"]["status"]) == (True, False, "probe_required")
    assert (receipt["dry_run"], receipt["changed"], receipt["doctor"]["verified"]) == (False, True, True)
    assert (receipt["version"], receipt["permissions"]) == ("0.1.0", [])


@pytest.mark.req("X16", "X17")
def test_the_command_is_that_of_the_activated_environment_and_its_owner_is_named(typed: Typed) -> None:
    receipt = typed.document("activation", 1)

    assert receipt["launcher"]["path"] == str(typed.place / ".venv/bin/loopx-text-stats")
    assert receipt["owner"] == {"name": "loopx-text-stats", "version": "0.1.0"}


@pytest.mark.req("X16")
def test_it_is_listed_as_ready_and_proved_again(typed: Typed) -> None:
    (row,) = typed.document("activation", 2)["extensions"]
    doctor = typed.document("activation", 3)

    assert (row["id"], row["enabled"], row["ready"]) == ("loopx-text-stats", True, True)
    assert (doctor["status"], doctor["verified"]) == ("ready", True)


@pytest.mark.req("X16")
def test_the_request_is_previewed_and_then_run(typed: Typed) -> None:
    preview, receipt = typed.document("activation", 4), typed.document("activation", 5)

    assert (preview["status"], preview["executed"]) == ("ready", False)
    assert receipt["status"] == "succeeded"
    assert receipt["provider_result"] == typed.document("package", 2)


@pytest.mark.req("X16", "X7")
def test_a_disabled_extension_does_not_run_until_it_is_enabled(typed: Typed) -> None:
    disabled, refused, enabled = (typed.document("activation", number) for number in (6, 7, 8))

    assert (disabled["enabled"], refused["code"]) == (False, "extension_disabled")
    assert (enabled["enabled"], enabled["doctor"]["verified"]) == (True, True)
    assert typed.statuses("activation") == [0, 0, 0, 0, 0, 0, 0, 2, 0]


@pytest.mark.req("X16", "X8")
def test_a_new_version_is_upgraded_to_and_rolled_back(typed: Typed) -> None:
    preview, upgraded, rolled_back = (typed.document("switching", number) for number in range(3))

    assert typed.statuses("next_version") == [0], typed.parts["next_version"]
    assert preview["changes"]["version"] == {"from": "0.1.0", "to": "0.2.0"}
    assert (upgraded["version"], upgraded["owner"]["version"]) == ("0.2.0", "0.2.0")
    assert (rolled_back["version"], rolled_back["revision"]) == ("0.1.0", upgraded["previous_revision"])


@pytest.mark.req("X16")
def test_an_isolated_state_file_holds_an_extension_of_its_own(typed: Typed) -> None:
    receipt, listed = typed.document("isolated", 1), typed.document("isolated", 2)
    state_file = Path(typed.parts["isolated"][3][1])

    assert typed.statuses("isolated") == [0, 0, 0, 0]
    assert (receipt["changed"], [row["version"] for row in listed["extensions"]]) == (True, ["0.2.0"])
    assert state_file.parent == typed.place / "tmp"
    assert state_file.is_file()
    default = json.loads((typed.place / "state/loopx/extensions/state.json").read_bytes())
    assert default["extensions"]["loopx-text-stats"]["active_revision"] != receipt["revision"]
