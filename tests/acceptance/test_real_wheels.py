"""The rows of the lifecycle over real wheels that pip put into a clean environment, typed at the command line.

Nothing is asked of containment: these are the levels that users get.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.lifecycle import build_wheel
from tests.support.packages import manifest, write
from tests.support.real_packages import HATCHLING, Host

pytestmark = pytest.mark.timeout(300)

ID = "greeter"
PRINTED = "what-a-doctor-prints-is-not-kept"
PROJECT = """
[project]
name = "greeter"
version = "{version}"
dependencies = ["phrasing"]

[project.scripts]
greeter = "greeter.cli:main"

[project.entry-points."loopx.extensions"]
greeter = "greeter"
"""
CLI = f"""\
import json, os, sys, time

import phrasing


def main():
    if sys.argv[1:] == ["--doctor"]:
        print("{PRINTED}")
        sys.exit({{status}})
    request = json.load(sys.stdin)
    if "daemon" in request and os.fork() == 0:
        os.setsid()
        time.sleep(60)
    if "wait" in request:
        time.sleep(60)
    print(json.dumps({{{{"ok": True, "version": "{{version}}", "says": phrasing.WORD, "argv": sys.argv[1:]}}}}))
"""


def greeter(folder: Path, version: str, *, status: int = 0, top: str = "") -> Path:
    """Build the wheel of one version; its doctor ends with `status`."""
    source = folder / f"greeter-{version}"
    build = HATCHLING.format(place="src/greeter")
    write(source / "pyproject.toml", build + PROJECT.format(version=version))
    write(source / "src/greeter/__init__.py", "")
    write(source / "src/greeter/cli.py", CLI.format(version=version, status=status))
    text = manifest(ID, version, entrypoint=ID).replace("[runtime]", f"{top}\n[runtime]\ntimeout_seconds = 2", 1)
    write(source / "src/greeter/extension.toml", text)
    return build_wheel(source, folder / "dist" / version)


def phrasing(folder: Path, version: str, word: str) -> Path:
    source = folder / f"phrasing-{version}"
    build = HATCHLING.format(place="src/phrasing")
    write(source / "pyproject.toml", f'{build}\n[project]\nname = "phrasing"\nversion = "{version}"\n')
    write(source / "src/phrasing/__init__.py", f"WORD = {word!r}\n")
    return build_wheel(source, folder / "dist" / f"phrasing-{version}")


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Host:
    return Host(tmp_path_factory.mktemp("host"))


@pytest.fixture(scope="module")
def wheels(host: Host) -> dict[str, Path]:
    folder = host.sources
    return {
        "phrasing 1": phrasing(folder, "1.0", "good day"),
        "phrasing 2": phrasing(folder, "1.1", "good night"),
        "greeter 1": greeter(folder, "1.0"),
        "greeter 2": greeter(folder, "2.0"),
        "greeter that fails": greeter(folder, "3.0", status=3),
        "greeter that asks": greeter(folder, "4.0", top='permissions = ["net.connect"]'),
    }


@pytest.fixture
def clean(host: Host, wheels: dict[str, Path], tmp_path: Path) -> Host:
    """The environment with the first version of both packages, and no state."""
    put(host, wheels["phrasing 1"], wheels["greeter 1"])
    host.state_file = tmp_path / "state.json"
    return host


def put(host: Host, *packages: Path) -> None:
    host.pip("install", "--no-deps", "--no-index", "--force-reinstall", *map(str, packages))


def installed(host: Host) -> Host:
    answer = host("extension", "install", ID, "--execute")
    assert answer.status == 0, answer
    return host


def result(host: Host, request: dict[str, Any] | None = None) -> Any:
    answer = host.run(ID, request or {})
    assert answer.status == 0, answer
    return answer.document["provider_result"]


@pytest.mark.req("X1")
def test_a_package_that_pip_installed_is_offered_and_off(clean: Host) -> None:
    offered = clean.offer(ID)
    listed, refused = clean("extension", "list"), clean.run(ID, {})

    assert (offered["state"], offered["version"]) == ("available", "1.0")
    assert listed.document["extensions"] == []
    assert (refused.status, refused.code) == (2, "extension_not_installed")
    assert not clean.state_file.exists()


@pytest.mark.req("X3")
def test_an_installation_keeps_revision_snapshot_and_proof_and_nothing_a_provider_said(clean: Host) -> None:
    preview = clean("extension", "install", ID)
    assert not clean.state_file.exists()

    receipt = clean("extension", "install", ID, "--execute", "--plan", preview.document["plan"]).document

    entry = json.loads(clean.state_file.read_text("utf-8"))["extensions"][ID]
    (revision,) = entry["revisions"]
    assert (receipt["revision"], receipt["owner"]) == (entry["active_revision"], {"name": ID, "version": "1.0"})
    assert revision["manifest"]["runtime"]["entrypoint"] == ID
    assert revision["launcher"]["path"] == str(clean.scripts / ID)
    assert revision["manifest"]["provider"]["permissions"] == []
    assert entry["proof"]["revision"] == entry["active_revision"]
    assert PRINTED not in clean.state_file.read_text("utf-8")


@pytest.mark.req("X4")
def test_an_upgrade_of_a_library_alone_is_stale_and_named_until_it_is_proved(
    clean: Host, wheels: dict[str, Path]
) -> None:
    installed(clean)
    assert result(clean)["says"] == "good day"

    put(clean, wheels["phrasing 2"])

    refused, row = clean.run(ID, {}), clean.row(ID)
    assert (refused.status, refused.code) == (2, "readiness_stale")
    assert (row["ready"], row["changed"]) == (False, ["closure"])
    assert any("phrasing" in detail for detail in row["changed_details"])
    assert clean("extension", "doctor", ID, "--execute").status == 0
    assert result(clean)["says"] == "good night"
    put(clean, wheels["phrasing 1"])
    assert clean.row(ID)["reason"] == "readiness_stale"
    clean.pip("uninstall", "--yes", "phrasing")
    assert clean.run(ID, {}).code == "readiness_stale"


@pytest.mark.req("X4")
def test_the_same_library_again_leaves_it_ready(clean: Host, wheels: dict[str, Path]) -> None:
    installed(clean)

    put(clean, wheels["phrasing 1"])

    assert clean.row(ID)["ready"] is True


@pytest.mark.req("X5")
def test_a_run_is_the_manifests_and_the_caller_adds_nothing_but_the_request(clean: Host) -> None:
    installed(clean)

    told = result(clean, {"any": 1})
    more = clean("extension", "run", ID, "--input-json", "-", "--execute", "more", stdin=b"{}")

    assert told["argv"] == ["run"]
    assert (more.status, more.code) == (2, "usage_error")


@pytest.mark.req("X5")
@pytest.mark.parametrize(
    "request_", [{"wait": 1}, {"wait": 1, "daemon": 1}, {"daemon": 1}], ids=["waits", "both", "leaves"]
)
def test_a_run_ends_with_its_time_and_leaves_nothing(clean: Host, request_: dict[str, Any]) -> None:
    installed(clean)

    document = clean.run(ID, request_).document

    assert document["failure_kind"] == ("timeout" if "wait" in request_ else None)
    assert (document["containment"]["survivors"], document["containment"]["proof"]) == (0, "no_child_left")
    assert document["containment"]["rung"] == "contained" or document["containment"]["limits"]


@pytest.mark.req("X6")
def test_a_run_takes_an_enabled_ready_extension_and_a_word_to_execute(clean: Host) -> None:
    installed(clean)

    preview = clean("extension", "run", ID, "--input-json", "-", stdin=b"{}")
    large = clean.run(ID, b"{" + b" " * 1_100_000 + b"}")
    clean("extension", "disable", ID, "--execute")
    disabled = clean.run(ID, {})

    assert (preview.document["executed"], preview.document["status"]) == (False, "ready")
    assert (large.code, disabled.code) == ("request_too_large", "extension_disabled")


@pytest.mark.req("X6")
def test_an_extension_that_declares_permissions_is_not_run_by_itself(clean: Host, wheels: dict[str, Path]) -> None:
    put(clean, wheels["greeter that asks"])
    installed(clean)

    assert clean.run(ID, {}).code == "permissions_declared"


@pytest.mark.req("X8")
def test_an_upgrade_whose_doctor_fails_leaves_the_one_before_active(clean: Host, wheels: dict[str, Path]) -> None:
    installed(clean)
    put(clean, wheels["greeter that fails"])

    refused = clean("extension", "upgrade", ID, "--execute")

    assert (refused.status, refused.code) == (2, "doctor_failed")
    assert clean.row(ID)["version"] == "1.0"
    put(clean, wheels["greeter 1"])
    assert result(clean)["version"] == "1.0"


@pytest.mark.req("X8")
def test_a_rollback_proves_the_revision_it_returns_to(clean: Host, wheels: dict[str, Path]) -> None:
    installed(clean)
    first = clean.row(ID)["active_revision"]
    put(clean, wheels["greeter 2"])
    assert clean("extension", "upgrade", ID, "--execute").status == 0
    assert result(clean)["version"] == "2.0"
    put(clean, wheels["greeter that fails"])

    refused = clean("extension", "rollback", ID, "--execute")
    kept = clean.row(ID)
    put(clean, wheels["greeter 1"])
    done = clean("extension", "rollback", ID, "--execute")

    assert (refused.status, refused.code) == (2, "doctor_failed")
    assert kept["version"] == "2.0"
    assert (done.status, clean.row(ID)["active_revision"]) == (0, first)
    assert result(clean)["version"] == "1.0"


@pytest.mark.req("X9")
def test_another_state_file_is_another_world(clean: Host, tmp_path: Path) -> None:
    installed(clean)
    before = clean.state_file.read_bytes()
    first, clean.state_file = clean.state_file, tmp_path / "other.json"

    assert clean("extension", "list").document["extensions"] == []
    assert clean.run(ID, {}).code == "extension_not_installed"
    installed(clean)
    clean("extension", "uninstall", ID, "--execute")
    assert first.read_bytes() == before
    clean.state_file = first
    assert result(clean)["version"] == "1.0"
