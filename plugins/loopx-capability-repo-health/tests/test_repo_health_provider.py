"""The provider as a process: one governed request, its doctor, its arguments."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from repo_health_repositories import NOW, repository

from loopx_host import governed_environment, governed_request

Json = dict[str, object]


def call(*args: str, stdin: bytes = b"", **environment: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-m", "loopx_repo_health", *args],
        env={**os.environ, **environment},
        input=stdin,
        capture_output=True,
        check=False,
    )


def test_the_doctor_passes() -> None:
    assert call("--doctor").returncode == 0


def test_the_doctor_leaves_nothing_behind(tmp_path: Path) -> None:
    call("--doctor", TMPDIR=str(tmp_path))

    assert list(tmp_path.iterdir()) == []


def test_the_doctor_fails_without_git(tmp_path: Path) -> None:
    ended = call("--doctor", PATH=str(tmp_path))

    assert ended.returncode == 1
    assert b"git_unavailable" in ended.stderr


def test_arguments_nobody_defined_are_refused() -> None:
    assert call("--other").returncode == 2


def governed(
    operation: str, capability: str, manifest: str, references: dict[str, str], given: Json
) -> subprocess.CompletedProcess[bytes]:
    """Call the provider as the host does: with the envelope that binds the request, and what it must agree with."""
    protocol = f"loopx_{capability.replace('-', '_')}_v0"
    made = governed_request(manifest, capability, operation, given, protocol=protocol, references=references)
    return call(stdin=json.dumps(made).encode(), **governed_environment(made))


def test_a_governed_request_is_answered_with_one_observation(tmp_path: Path) -> None:
    folder = repository(tmp_path / "r", {"README": b"x"})
    manifest = "loopx-capability-repo-health"

    ended = governed("inspect", "repo-health", manifest, {"repo": str(folder)}, {"now": NOW})

    answer = json.loads(ended.stdout)
    assert (ended.returncode, answer["status"]) == (0, "succeeded")
    assert [seen["found"] for seen in answer["observations"]] == [{"readme": "README"}]


def test_a_folder_that_is_no_repository_is_answered_with_the_reason(tmp_path: Path) -> None:
    manifest = "loopx-capability-repo-health"

    ended = governed("inspect", "repo-health", manifest, {"repo": str(tmp_path)}, {})

    answer = json.loads(ended.stdout)
    assert (answer["ok"], answer["code"]) == (False, "not_a_repository")


def test_a_publish_request_is_answered_with_the_view(tmp_path: Path) -> None:
    folder = repository(tmp_path / "r", {"README": b"x"})
    body = {
        "schema_version": "loopx_repo_health_publish_request_v0",
        "publish": "repository-health",
        "now": NOW,
    }
    made = governed_request(
        "loopx-capability-repo-health",
        "repo-health",
        "inspect",
        body,
        protocol="loopx_repo_health_v0",
        references={"repo": str(folder)},
        surface="repository-health",
    )

    ended = call(stdin=json.dumps(made).encode(), **governed_environment(made))

    answer = json.loads(ended.stdout)
    assert (ended.returncode, answer["ok"], answer["view"]["generated_at"]) == (0, True, NOW)


@pytest.mark.parametrize("data", [b"", b"{}", b"nothing", b"[1]", b'{"publish": "repository-health"}'])
def test_a_request_that_is_neither_is_answered_with_a_failure(data: bytes) -> None:
    ended = call(stdin=data)

    assert (ended.returncode, json.loads(ended.stdout)["ok"]) == (0, False)
