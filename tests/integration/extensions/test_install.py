"""`extension install` as a caller sees it: nothing before --execute, cheap refusals first, then a proof."""

from __future__ import annotations

import shutil
import stat
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.cli import Answer, Loopx, Place
from tests.support.levels import LEAVES_MARKS
from tests.support.manifests import NEW_CAPABILITY
from tests.support.providers import CANARY, ECHO, FLAGGED, SHELL

IMPLEMENTATION = '[[implements]]\ncapability_id = "new-thing"\nprotocol = "test_v0"\n'


@pytest.fixture
def loopx(tmp_path: Path) -> Loopx:
    return Loopx(tmp_path / "loopx")


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    made = Place(tmp_path / "place")
    yield made
    made.close()


@pytest.mark.req("X1")
def test_an_installed_python_package_is_not_an_activation(loopx: Loopx, tmp_path: Path) -> None:
    canary, site, scripts = tmp_path / "canary", tmp_path / "site", tmp_path / "scripts"
    metadata = site / "canary-1.0.dist-info"
    for folder in (metadata, site / "canary", scripts):
        folder.mkdir(parents=True)
    manifest = loopx.write_extension("canary", CANARY.format(canary=canary), entrypoint="canary-provider")
    shutil.move(manifest.with_name("provider"), scripts / "canary-provider")
    shutil.copy(manifest, site / "canary/extension.toml")
    (site / "canary/__init__.py").write_text(f"open({str(canary)!r}, 'w')\n", encoding="utf-8")
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: canary\nVersion: 1.0\n", encoding="utf-8")
    (metadata / "entry_points.txt").write_text("[loopx.extensions]\ncanary = canary\n", encoding="utf-8")
    env = {"PYTHONPATH": str(site), "PATH": f"{scripts}:{loopx.env['PATH']}"}

    listed = loopx("extension", "list", env=env)
    run = loopx.run("canary", {}, env=env)

    assert listed.document["extensions"] == []
    assert run.code == "extension_not_installed"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["loopx", "scripts", "site"]
    assert not loopx.state_file.exists()


@pytest.mark.req("X3", "X2")
def test_a_preview_of_an_install_leaves_no_trace(loopx: Loopx, tmp_path: Path) -> None:
    """install_preview_no_side_effect (case 39)."""
    canary = tmp_path / "canary"
    manifest = loopx.write_extension("canary", CANARY.format(canary=canary))
    root = tmp_path / "not/yet/there"

    answer = loopx("extension", "install", "--manifest", str(manifest), "--runtime-root", str(root))

    document = answer.document
    assert (answer.status, document["changed"], document["dry_run"]) == (0, False, True)
    assert document["doctor"]["status"] == "probe_required"
    assert not (tmp_path / "not").exists()
    assert [path.name for path in loopx.state_file.parent.glob("state.json*")] == []
    assert not (tmp_path / "canary.doctor").exists()


@pytest.mark.req("X3")
def test_a_missing_entrypoint_is_told_by_a_preview_and_refused_by_an_install(loopx: Loopx) -> None:
    """install_missing_entrypoint (case 40)."""
    manifest = loopx.write_extension("missing", entrypoint="no-such-command-anywhere")

    preview = loopx("extension", "install", "--manifest", str(manifest))
    executed = loopx.install(manifest)

    assert (preview.status, preview.document["would_refuse"]["code"]) == (0, "entrypoint_missing")
    assert (executed.status, executed.code) == (2, "entrypoint_missing")
    assert not loopx.state_file.exists()


@pytest.mark.parametrize("execute", [(), ("--execute",)], ids=["preview", "executed"])
@pytest.mark.parametrize("doctor_args", [[], None], ids=["empty", "absent"])
def test_an_extension_without_a_doctor_is_refused(
    loopx: Loopx, doctor_args: list[str] | None, execute: tuple[str, ...]
) -> None:
    """install_no_doctor_args (case 41)."""
    manifest = loopx.write_extension("no-doctor", doctor_args=doctor_args)

    answer = loopx("extension", "install", "--manifest", str(manifest), *execute)

    assert (answer.status, answer.code) == (2, "doctor_not_configured")


@LEAVES_MARKS
@pytest.mark.req("X3")
def test_a_failing_doctor_refuses_the_install_and_leaves_the_state_as_it_was(loopx: Loopx, tmp_path: Path) -> None:
    """install_doctor_nonzero (case 42)."""
    flag = tmp_path / "flag"
    flag.write_text("7", encoding="ascii")
    loopx.make_extension("other", ECHO)
    before = loopx.state_file.read_bytes()

    answer = loopx.install(loopx.write_extension("sick", FLAGGED.format(flag=flag)))

    doctor = answer.document["doctor"]
    assert (answer.status, answer.code) == (2, "doctor_failed")
    assert (doctor["failure_kind"], doctor["exit_code"]) == ("exit_nonzero", 7)
    assert loopx.state_file.read_bytes() == before


def test_everything_an_install_creates_is_private_under_any_umask(loopx: Loopx, tmp_path: Path) -> None:
    """install_state_mode (case 44)."""
    manifest = loopx.write_extension("echo", ECHO)
    root = tmp_path / "made/by/loopx"
    words = ("--format", "json", "extension", "install", "--manifest", str(manifest), "--execute")

    answer = loopx(*words, "--runtime-root", str(root), options=False, umask=0)

    assert answer.status == 0, answer
    places = [tmp_path / "made", *(tmp_path / "made").rglob("*"), *Path(loopx.env["HOME"]).rglob("*")]
    assert {root / "extensions/state.json", root / "extensions/state.json.lock"} <= set(places)
    modes = {place: stat.S_IMODE(place.stat().st_mode) for place in places}
    assert {place: oct(mode) for place, mode in modes.items() if mode != (0o700 if place.is_dir() else 0o600)} == {}


REFUSED_EARLY: dict[str, tuple[str, str, dict[str, Any]]] = {
    "already installed": ("already_installed", "other", {}),
    "another API": (
        "api_incompatible",
        "new",
        {"replace": ('requires_loopx_api = "1"', 'requires_loopx_api = ">=2"')},
    ),
    "permission not declared": ("manifest_invalid", "new", {"required_permissions": ["notes.read"]}),
    "duplicate capability": ("capability_duplicate", "new", {"manifest": NEW_CAPABILITY}),
    "unknown capability": (
        "capability_unknown",
        "new",
        {"manifest": IMPLEMENTATION.replace("new-thing", "unknown-thing")},
    ),
    "no doctor": ("doctor_not_configured", "new", {"doctor_args": []}),
}


@pytest.mark.req("X3")
@pytest.mark.parametrize("reason", REFUSED_EARLY)
def test_cheap_refusals_of_an_install_come_before_its_doctor(loopx: Loopx, tmp_path: Path, reason: str) -> None:
    code, extension_id, settings = REFUSED_EARLY[reason]
    canary = tmp_path / "canary"
    loopx.make_extension("other", ECHO, manifest=NEW_CAPABILITY)
    old, new = settings.get("replace", ("", ""))
    keys = {key: value for key, value in settings.items() if key != "replace"}
    manifest = loopx.write_extension(extension_id, CANARY.format(canary=canary), **keys)
    manifest.write_text(manifest.read_text("utf-8").replace(old, new), "utf-8")
    before = loopx.state_file.read_bytes()

    answer = loopx.install(manifest)

    assert (answer.status, answer.code) == (2, code)
    assert not (tmp_path / "canary.doctor").exists()
    assert loopx.state_file.read_bytes() == before


@LEAVES_MARKS
@pytest.mark.req("X3")
def test_the_doctor_of_an_install_runs_before_anything_is_active(loopx: Loopx, tmp_path: Path) -> None:
    seen = tmp_path / "seen"
    provider = SHELL + f'[ -e "{loopx.state_file}" ] && echo active >"{seen}" || echo nothing >"{seen}"\n'

    loopx.make_extension("looks", provider)

    assert seen.read_text(encoding="ascii") == "nothing\n"
    assert [(row["id"], row["ready"]) for row in loopx.rows()] == [("looks", True)]


@pytest.mark.req("X3")
def test_no_output_of_a_doctor_is_stored(loopx: Loopx) -> None:
    loopx.make_extension("talks", SHELL + "echo printed-by-the-doctor\necho said-by-the-doctor >&2\n")

    kept = b"".join(path.read_bytes() for path in loopx.root.rglob("*") if path.is_file() and path.name != "provider")

    assert b"printed-by-the-doctor" not in kept
    assert b"said-by-the-doctor" not in kept


def can_trace() -> bool:
    tracer = shutil.which("strace")
    return (
        bool(tracer)
        and subprocess.run([str(tracer), "-qq", "true"], capture_output=True, check=False).returncode == 0
    )


@pytest.mark.req("X3")
@pytest.mark.skipif(not can_trace(), reason="strace is not usable here")
def test_an_install_opens_no_network_socket_and_reads_no_goal(loopx: Loopx, tmp_path: Path) -> None:
    manifest, trace = loopx.write_extension("echo", ECHO), tmp_path / "trace"
    for name in ("goals/goal.json", ".loopx/goals/goal.json", "runtime/control/events.db", "GOAL.md"):
        (tmp_path / "cwd" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "cwd" / name).write_text("{}", encoding="ascii")
    words = ("extension", "install", "--manifest", str(manifest), "--execute")
    root = ("--runtime-root", str(tmp_path / "cwd/runtime"))

    done = subprocess.run(
        ["strace", "-f", "-qq", "-o", str(trace), "-e", "trace=%file,socket", *loopx.command(*words, *root)],
        env=loopx.env,
        cwd=tmp_path / "cwd",
        capture_output=True,
        check=False,
    )

    calls = trace.read_text("utf-8", "replace")
    assert Answer(done.returncode, done.stdout, done.stderr).document["changed"] is True
    assert "extension.toml" in calls
    assert [word for word in ("AF_INET", "goal", "GOAL", "events.db") if word in calls] == []


@pytest.mark.req("X9")
def test_a_state_file_of_ones_own_isolates(loopx: Loopx, tmp_path: Path) -> None:
    own = tmp_path / "own"
    own.mkdir()
    loopx.make_extension("everywhere", ECHO)
    manifest = loopx.write_extension("elsewhere", ECHO)
    before = loopx.state_file.read_bytes()
    words = ("--format", "json", "--state-file", str(own / "state.json"), "extension")

    installed = loopx(*words, "install", "--manifest", str(manifest), "--execute", options=False)
    listed = loopx(*words, "list", options=False)
    run = loopx(*words, "run", "everywhere", "--input-json", "-", "--execute", stdin=b"{}", options=False)
    default = loopx("--format", "json", "extension", "list", options=False)

    assert installed.status == 0
    assert [row["id"] for row in listed.document["extensions"]] == ["elsewhere"]
    assert run.code == "extension_not_installed"
    assert default.document["extensions"] == []
    assert loopx.state_file.read_bytes() == before
    assert sorted(path.name for path in own.iterdir()) == ["state.json", "state.json.lock"]
    assert not Path(loopx.env["XDG_STATE_HOME"]).exists()


def test_no_state_file_is_an_empty_list_and_stays_none(loopx: Loopx) -> None:
    """state_missing (case 106)."""
    answer = loopx("extension", "list")

    assert (answer.status, answer.document["extensions"]) == (0, [])
    assert [path.name for path in loopx.root.glob("state.json*")] == []
