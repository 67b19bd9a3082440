"""Real repositories for the tests, made by git itself with a fixed identity and fixed times."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

DAY = 86_400
NOW = "2026-03-01T00:00:00Z"
NOW_SECONDS = 1_772_323_200


def git(folder: Path, *arguments: str, days_ago: int = 0) -> str:
    stamp = f"{NOW_SECONDS - days_ago * DAY} +0000"
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": "/dev/null",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_AUTHOR_NAME": "A",
        "GIT_AUTHOR_EMAIL": "a@example.org",
        "GIT_AUTHOR_DATE": stamp,
        "GIT_COMMITTER_NAME": "A",
        "GIT_COMMITTER_EMAIL": "a@example.org",
        "GIT_COMMITTER_DATE": stamp,
    }
    ended = subprocess.run(
        ["git", "-c", "init.defaultBranch=main", *arguments],
        cwd=folder,
        env=environment,
        capture_output=True,
        check=True,
    )
    return ended.stdout.decode("utf-8", "replace").strip()


def repository(folder: Path, files: dict[str, bytes] | None = None, *, days_ago: int = 0) -> Path:
    """A repository at `folder`; with files, one commit that holds them."""
    folder.mkdir(parents=True)
    git(folder, "init", "--quiet")
    if files is not None:
        commit(folder, files, days_ago=days_ago)
    return folder


def commit(folder: Path, files: dict[str, bytes], *, days_ago: int = 0) -> str:
    for name, data in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    git(folder, "add", "--all", "--force")
    git(folder, "commit", "--quiet", "--allow-empty", "--message", "work", days_ago=days_ago)
    return git(folder, "rev-parse", "HEAD")
