"""A reference is what it was when its path was resolved, or nothing is started."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.cli import PATIENCE_SECONDS, Loopx

on_linux = pytest.mark.skipif(sys.platform != "linux", reason="the fence is Linux'")


@pytest.fixture
def loopx(tmp_path: Path) -> Loopx:
    return Loopx(tmp_path)


PORT = """\
import json, sys
from loopx_host.adapters.process.confinement import Level
from loopx_host.adapters.process.interrupts import Interrupts
from loopx_host.adapters.process.runner import ProcessRunner
from loopx_host.lifecycle.extensions.process import Grants, Launch, Limits

token, path = sys.argv[1:]
runner = ProcessRunner(Interrupts(), level=Level("contained", is_demanded=True, sessions=True))
grants = Grants(permissions=[token], references={"r": path})
ended = runner.run(Launch(["/bin/sh", "-c", "echo ran"], Limits(30), grants=grants))
print(json.dumps([ended.start_error, ended.exit_code, ended.stdout.decode()]))
"""


def started_with(loopx: Loopx, token: str, path: Path) -> tuple[str | None, int | None, str]:
    """Start a canary through the process port; return (why it did not start, exit status, what it said)."""
    done = subprocess.run(
        [sys.executable, "-c", PORT, token, str(path)],
        env=loopx.env,
        capture_output=True,
        timeout=PATIENCE_SECONDS,
        check=True,
    )
    start_error, exit_code, said = json.loads(done.stdout)
    return start_error, exit_code, said


@on_linux
@pytest.mark.req("B6")
@pytest.mark.parametrize("token", ["fs.read:r", "fs.write:r"])
@pytest.mark.parametrize("swapped", ["folder/given", "folder"])
def test_a_reference_swapped_for_a_link_after_it_was_resolved_starts_nothing(
    loopx: Loopx, token: str, swapped: str
) -> None:
    root = loopx.root.resolve()
    given = root / "folder/given"
    given.mkdir(parents=True)
    before = started_with(loopx, token, given)
    (root / swapped).rename(root / "moved")
    (root / swapped).symlink_to(root / "moved")

    after = started_with(loopx, token, given)

    assert before == (None, 0, "ran\n")
    assert after[0]
    assert after[1:] == (None, "")
