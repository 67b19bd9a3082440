"""Whose files are believed: nothing from the current directory, nothing that another user could have written."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from tests.support.cli import Loopx
from tests.support.packages import write
from tests.support.providers import ECHO

IS_ROOT = os.geteuid() == 0
STRANGER = 12345


@pytest.fixture
def loopx(tmp_path: Path) -> Loopx:
    return Loopx(tmp_path)


def test_without_a_home_nothing_is_read_from_the_current_directory(loopx: Loopx) -> None:
    env = {**loopx.env, "HOME": "home"}
    del env["XDG_STATE_HOME"], env["XDG_CACHE_HOME"]
    planted = loopx.root / "home/.local/state/loopx/extensions/state.json"
    write(planted, '{"schema_version": "loopx_extension_state_v0", "extensions": {}}')

    command = loopx.command("extension", "list", "--format", "json", options=False)
    done = subprocess.run(command, cwd=loopx.root, env=env, capture_output=True, check=False)

    assert done.returncode == 2
    assert json.loads(done.stdout)["code"] == "state_unsafe"


@pytest.mark.skipif(not IS_ROOT, reason="only root can give a directory away")
def test_a_cache_that_another_user_could_write_to_is_not_used(loopx: Loopx) -> None:
    cache = Path(loopx.env["XDG_CACHE_HOME"])
    cache.mkdir(parents=True)
    os.chown(cache, STRANGER, STRANGER)

    loopx.make_extension("subject", ECHO)

    assert loopx.run("subject", b"{}").document["ok"] is True
    assert list(cache.iterdir()) == []
