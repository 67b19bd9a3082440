"""What the front pages of packages and examples tell their readers to type works, and prints what they say it prints.

`not-run` blocks install a package, which this environment has already; everything else is typed.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tests.acceptance.test_pages import BIN, ROOT, environment
from tests.support.packages import write
from tests.support.pages import follow

pytestmark = pytest.mark.timeout(180)


def _examples(place: Path) -> None:
    shutil.copytree(ROOT / "examples", place, symlinks=True, dirs_exist_ok=True)


def _notes(place: Path) -> None:
    write(
        place / "notes/ops/latency.md",
        "# Latency\n\nThe cache is cold after each release; latency doubles for an hour.\n",
    )


def _project(place: Path) -> None:
    """A repository whose one commit is nine days old."""
    project = place / "project"
    for name, text in (
        ("LICENSE", "As you like.\n"),
        (".github/workflows/ci.yml", "on: push\n"),
        ("src/app.py", "# TODO: everything\n"),
        ("logo.bin", "x" * (2929 << 10)),
    ):
        write(project / name, text)
    write(place / "view.json", VIEW_REQUEST)
    at = (datetime.now(UTC) - timedelta(days=9, hours=1)).isoformat()
    who = {
        f"GIT_{role}_{what}": "somebody@example.invalid"
        for role in ("AUTHOR", "COMMITTER")
        for what in ("NAME", "EMAIL")
    }
    env = {**os.environ, **who, "GIT_AUTHOR_DATE": at, "GIT_COMMITTER_DATE": at, "GIT_CONFIG_GLOBAL": os.devnull}
    for words in (["init", "-q", "-b", "main"], ["add", "."], ["commit", "-q", "-m", "first"]):
        subprocess.run(["git", *words], cwd=project, env=env, check=True)


VIEW_REQUEST = (
    '{"schema_version": "loopx_repo_health_publish_request_v0", "publish": "repository-health",'
    ' "now": "2026-11-29T12:00:00Z"}\n'
)


def _report(place: Path) -> None:
    _notes(place)
    example = ROOT / "plugins/loopx-capability-periodic-report/examples/request.json"
    write(place / "report.json", json.dumps(json.loads(example.read_text("utf-8"))["input"]["report"]))


# What lies there before a reader begins; a page without a row needs nothing.
STAGES: dict[str, Callable[[Path], None]] = {
    "examples/c-provider": _examples,
    "examples/node-provider": _examples,
    "examples/standalone-extension": _examples,
    "plugins/loopx-capability-recall": _notes,
    "plugins/loopx-capability-repo-health": _project,
    "plugins/loopx-capability-periodic-report": _report,
}
ELSEWHERE = {"plugins/loopx-pytest"}  # its commands are those that tests/test_plugin.py of it runs
PAGES = sorted(path.parent.relative_to(ROOT).as_posix() for path in ROOT.glob("[ep][lx]*/*/README.md"))


@pytest.mark.parametrize("page", [page for page in PAGES if page not in ELSEWHERE])
def test_the_front_page_does_what_it_says(tmp_path: Path, page: str) -> None:
    if page in STAGES:
        STAGES[page](tmp_path)

    wrong = follow(ROOT / page / "README.md", tmp_path, environment(tmp_path, BIN))

    assert wrong == []


def test_the_translated_front_page_does_what_it_says(tmp_path: Path) -> None:
    assert follow(ROOT / "README.zh-CN.md", tmp_path, environment(tmp_path, BIN)) == []
