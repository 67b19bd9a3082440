"""The command `loopx repo-health` before a host that only notes what it is asked."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from loopx_repo_health.command import repo_health
from loopx_repo_health.facts import inspect
from repo_health_repositories import NOW, repository

Row = Any


class Host:
    """Inspects for real, without a sandbox, and publishes nowhere."""

    def __init__(self, *, succeeds: bool = True, publishes: bool = True, executes: bool = True) -> None:
        self.calls: list[tuple[Any, ...]] = []
        self.published: list[tuple[Any, ...]] = []
        self.succeeds = succeeds
        self.publishes = publishes
        self.executes = executes

    def invoke(
        self,
        capability_id: str,
        operation: str,
        input: Mapping[str, object],  # noqa: A002
        *,
        goal_id: str,
        references: Mapping[str, str] | None = None,
    ) -> Row:
        self.calls.append((capability_id, operation, input, goal_id, references))
        receipt = {"invocation_id": "capability-" + "0" * 24, "request_digest": "sha256:" + "1" * 64, "more": 1}
        receipt = {**receipt, "executed": self.executes}
        if not self.executes:
            return {**receipt, "ok": True, "would_refuse": None}
        if not self.succeeds:
            return {**receipt, "ok": False, "failure_kind": "timeout", "error": "it took too long"}
        return {
            **receipt,
            "ok": True,
            "provider_result": {"observations": inspect({"now": NOW, **input}, dict(references or {}))},
        }

    def publish(
        self,
        extension_id: str,
        surface: str,
        input: Mapping[str, object],  # noqa: A002
        *,
        goal_id: str | None = None,
        references: Mapping[str, str] | None = None,
    ) -> Row:
        self.published.append((extension_id, surface, input, goal_id, references))
        status = "published" if self.publishes else "failed"
        return {"ok": self.publishes, "status": status, "surface_id": surface, "error": None, "more": 1}


@pytest.fixture
def folder(tmp_path: Path) -> str:
    return str(repository(tmp_path / "r", {"LICENSE": b"x", "a.py": b"TODO\n"}))


def run(host: Host, *arguments: str) -> Row:
    document: Row = repo_health(arguments=list(arguments), host=host)
    return document


def test_a_report_holds_what_was_observed_and_by_which_call(folder: str) -> None:
    host = Host()

    document = run(host, folder, "--goal-id", "g1", "--large-file-kb", "7")

    assert set(document) == {"ok", "schema_version", "observation", "receipt", "executed", "text"}
    assert (document["ok"], document["schema_version"]) == (True, "loopx_repo_health_report_v0")
    assert document["observation"]["todo"]["lines"] == 1
    assert set(document["receipt"]) == {"invocation_id", "request_digest"}
    assert host.calls == [("repo-health", "inspect", {"large_file_kb": 7}, "g1", {"repo": folder})]
    assert host.published == []


def test_the_text_names_what_a_person_should_look_at(folder: str) -> None:
    text = run(Host(), folder, "--goal-id", "g1")["text"]

    assert "ATTENTION" in text
    assert "LICENSE" in text
    assert text.endswith("\n")


def test_without_a_path_the_repository_is_here(monkeypatch: pytest.MonkeyPatch, folder: str) -> None:
    host = Host()
    monkeypatch.chdir(folder)

    run(host, "--goal-id", "g1")

    assert host.calls[0][-1] == {"repo": "."}


def test_what_is_published_is_the_view_of_the_same_moment(folder: str) -> None:
    host = Host()

    document = run(host, folder, "--goal-id", "g1", "--publish", "--large-file-kb", "7")

    request = {
        "schema_version": "loopx_repo_health_publish_request_v0",
        "publish": "repository-health",
        "now": NOW,
        "large_file_kb": 7,
    }
    assert host.published == [
        ("loopx-capability-repo-health", "repository-health", request, "g1", {"repo": folder}),
    ]
    assert (document["ok"], document["publication"]["status"]) == (True, "published")


def test_a_publication_that_fails_is_no_success_and_hides_nothing_that_was_observed(folder: str) -> None:
    document = run(Host(publishes=False), folder, "--goal-id", "g1", "--publish")

    assert (document["ok"], document["publication"]["status"]) == (False, "failed")
    assert document["observation"]["todo"]["lines"] == 1


def test_a_call_that_fails_is_a_failure_with_its_kind(folder: str) -> None:
    host = Host(succeeds=False)

    document = run(host, folder, "--goal-id", "g1", "--publish")

    assert (document["ok"], document["code"], document["observation"]) == (False, "timeout", None)
    assert host.published == []


def test_a_preview_says_what_would_be_done_and_publishes_nothing(folder: str) -> None:
    host = Host(executes=False)

    document = run(host, folder, "--goal-id", "g1", "--publish")

    assert (document["ok"], document["executed"], document["observation"]) == (True, False, None)
    assert "--execute" in document["text"]
    assert (len(host.calls), host.published) == (1, [])


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["."],
        ["--goal-id"],
        [".", "--goal", "g1"],
        [".", "x", "--goal-id", "g1"],
        [".", "--goal-id", "g1", "--large-file-kb", "many"],
        [".", "--goal-id", "g1", "--unknown"],
    ],
    ids=" ".join,
)
def test_wrong_arguments_are_answered_and_nothing_is_called(arguments: list[str]) -> None:
    host = Host()

    document = run(host, *arguments)

    assert (document["ok"], document["code"], host.calls) == (False, "usage_error", [])


@pytest.mark.parametrize("arguments", [["--help"], ["-h"], ["--goal-id", "g1", "--help"]])
def test_help_is_answered_and_nothing_is_called(arguments: list[str]) -> None:
    host = Host()

    document = run(host, *arguments)

    assert (document["ok"], host.calls) == (True, [])
    assert "--goal-id" in document["text"]
