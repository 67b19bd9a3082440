"""Our own bug and a platform that is not ours: one document, one sentence, no traceback."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.cli import Answer, Loopx
from tests.support.providers import ECHO


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
    "from loopx_host.lifecycle.extensions import listing; "
    "listing.list_extensions = lambda ports: (_ for _ in ()).throw(KeyError('a bug'))"
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
