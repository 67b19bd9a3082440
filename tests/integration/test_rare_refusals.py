"""Refusals and warnings that ordinary use never meets: our own bug, another platform, odd launchers."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.cli import Answer, Loopx
from tests.support.providers import ECHO

CAPABILITY = """
[[provides]]
id = "subject-report"
kind = "report"
title = "A report"
status = "active"
visibility = "public"
real_world_anchor = "a desk"
user_value = "Know things."
entry_command = "loopx report"
next_real_step = "Read it."
"""


@pytest.fixture
def loopx(tmp_path: Path) -> Loopx:
    return Loopx(tmp_path)


def run_with(loopx: Loopx, before: str, *words: str) -> Answer:
    """Run the command line in an interpreter that did `before` first."""
    code = f"import sys; {before}; from loopx_host.entrypoint import main; main()"
    command = [sys.executable, "-c", code, *words, "--format", "json", "--state-file", str(loopx.state_file)]
    done = subprocess.run(command, capture_output=True, env=loopx.env, check=False)
    return Answer(done.returncode, done.stdout, done.stderr)


BUG = (
    "from loopx_host.assembly.operations import Operations; "
    "Operations.list = lambda self: (_ for _ in ()).throw(KeyError('a bug'))"
)


def test_our_own_bug_is_one_document_with_a_report_and_no_traceback(loopx: Loopx) -> None:
    answer = run_with(loopx, BUG, "extension", "list")

    assert (answer.status, answer.code) == (70, "internal_error")
    assert b"Traceback" not in answer.stderr
    assert "a bug" in Path(answer.document["report"]).read_text(encoding="utf-8")
    assert Path(answer.document["report"]).stat().st_mode & 0o077 == 0


def test_debug_shows_the_traceback_of_our_own_bug(loopx: Loopx) -> None:
    answer = run_with(loopx, BUG, "extension", "list", "--debug")

    assert answer.code == "internal_error"
    assert b"Traceback" in answer.stderr


def test_another_platform_is_refused_in_one_sentence(loopx: Loopx) -> None:
    answer = run_with(loopx, "sys.platform = 'win32'", "extension", "list")

    assert (answer.status, answer.stdout) == (2, b"")
    assert answer.stderr.count(b"\n") == 1


def test_a_launcher_below_a_path_that_is_not_utf8_is_refused(loopx: Loopx) -> None:
    manifest = loopx.write_extension("subject", ECHO, entrypoint="./provider")
    odd = os.fsencode(loopx.root / "extensions") + b"/\xff"
    os.rename(manifest.parent, odd)

    answer = loopx("extension", "install", "--manifest", odd + b"/extension.toml", "--execute")

    assert (answer.status, answer.code) == (2, "entrypoint_path")
    assert not loopx.state_file.exists()


def test_an_entry_without_a_runtime_has_nothing_to_run(loopx: Loopx) -> None:
    """A v0 state file may hold one: its manifest provides something and runs nothing."""
    form = {
        "capabilities": [],
        "documentation": None,
        "implementations": [
            {"capability_id": "other", "protocol": "a_v0", "provider_id": "bare", "provider_version": "1"}
        ],
        "presentation_surfaces": [],
        "provider": {
            "declared": True,
            "enabled": False,
            "id": "bare",
            "installed": False,
            "origin": "extension",
            "permissions": [],
            "ready": False,
            "requires_loopx_api": "1",
            "version": "1",
        },
        "runtime": None,
    }
    revision = _revision(form)
    entry = {
        "id": "bare",
        "enabled": True,
        "active_revision": revision,
        "rollback_revision": None,
        "doctor_verified_revision": None,
        "doctor_verified_entrypoint_identity": None,
        "revisions": [{"revision": revision, "version": "1", "manifest": form}],
    }
    document = {"schema_version": "loopx_extension_state_v0", "extensions": {"bare": entry}}
    loopx.state_file.write_text(json.dumps(document), encoding="utf-8")

    ran = loopx.run("bare", b"{}")
    probed = loopx("extension", "doctor", "bare", "--execute")

    assert (ran.status, ran.code) == (2, "runtime_missing")
    assert (probed.status, probed.code) == (2, "runtime_missing")


def _revision(form: object) -> str:
    from hashlib import sha256

    text = json.dumps(form, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return sha256(text.encode()).hexdigest()[:16]


@pytest.mark.req("X14")
def test_a_doctor_says_that_nothing_holds_it_to_reading_only(loopx: Loopx) -> None:
    """The reporting half of the row: enforcing it is the work of containment."""
    loopx.make_extension("subject", ECHO)

    probed = loopx("extension", "doctor", "subject", "--execute").document
    installed = loopx("extension", "show", "subject").document

    assert probed["read_only"] == {"enforced": False, "by": None}
    assert probed["external_writes_performed"] is False
    assert installed["ready"] is True


@pytest.mark.req("X17")
def test_an_unowned_launcher_of_a_capability_is_warned_of(loopx: Loopx) -> None:
    manifest = loopx.write_extension("subject", ECHO)
    with manifest.open("a", encoding="utf-8") as file:
        file.write(CAPABILITY)

    preview = loopx("extension", "install", "--manifest", str(manifest)).document
    done = loopx.install(manifest).document

    for document in (preview, done):
        assert document["owner"] == "unowned"
        assert [row["code"] for row in document["warnings"]] == ["entrypoint_unowned"]


def test_a_launcher_of_another_version_than_the_manifest_is_warned_of(loopx: Loopx) -> None:
    """The launcher of this environment's pytest is carried by a distribution of quite another version."""
    manifest = loopx.write_extension("subject", ECHO, entrypoint=str(Path(sys.executable).with_name("pytest")))

    document = loopx("extension", "install", "--manifest", str(manifest)).document

    assert document["owner"]["name"] == "pytest"
    assert [row["code"] for row in document["warnings"]] == ["entrypoint_version_differs"]
