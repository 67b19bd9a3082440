"""A repository is somebody else's: nothing it configures runs, and nothing of the caller's environment steers git."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from loopx_repo_health.facts import inspect
from repo_health_repositories import NOW, git, repository

from loopx_host import OperationFailed


@pytest.fixture
def canary(tmp_path: Path) -> Path:
    """A program that leaves a mark when anything runs it."""
    program = tmp_path / "canary"
    program.write_text(f'#!/bin/sh\necho "$0 $*" >> {tmp_path}/ran\nexit 0\n')
    program.chmod(0o755)
    return program


def look(folder: Path) -> None:
    inspect({"now": NOW}, {"repo": str(folder)})


def set_keys(*keys: str) -> Callable[[Path, str], None]:
    def hostile(folder: Path, program: str) -> None:
        for key in keys:
            git(folder, "config", key, program)

    return hostile


def attributes(folder: Path, program: str) -> None:
    for key in ("filter.f.clean", "filter.f.smudge", "filter.f.process", "diff.f.command", "diff.f.textconv"):
        git(folder, "config", key, program)
    git(folder, "config", "diff.external", program)
    (folder / ".git/info/attributes").write_text("* filter=f diff=f merge=f\n")
    (folder / "a").write_text("changed TODO\n")


def included(folder: Path, program: str) -> None:
    (folder / "more.config").write_text(
        f"[core]\nfsmonitor = {program}\nhooksPath = {folder}\npager = {program}\nsshCommand = {program}\n"
        f"[grep]\nfallbackToNoIndex = true\n[color]\nui = always\n"
    )
    git(folder, "config", "include.path", str(folder / "more.config"))


def aliases(folder: Path, program: str) -> None:
    for name in ("grep", "ls-files", "rev-parse", "for-each-ref", "rev-list", "cat-file", "symbolic-ref"):
        git(folder, "config", f"alias.{name}", f"!{program}")


def hooks(folder: Path, program: str) -> None:
    for name in ("post-index-change", "reference-transaction", "fsmonitor-watchman", "pre-auto-gc"):
        (folder / ".git/hooks").mkdir(exist_ok=True)
        (folder / ".git/hooks" / name).symlink_to(program)


def signatures(folder: Path, program: str) -> None:
    git(folder, "config", "log.showSignature", "true")
    git(folder, "config", "gpg.program", program)


def promisor(url: str) -> Callable[[Path, str], None]:
    """Lose an object that a remote promises: git would fetch it."""

    def hostile(folder: Path, program: str) -> None:
        git(folder, "config", "core.repositoryFormatVersion", "1")
        git(folder, "config", "extensions.partialClone", "evil")
        git(folder, "config", "remote.evil.promisor", "true")
        git(folder, "config", "remote.evil.url", url.format(program=program, folder=folder))
        git(folder, "config", "remote.evil.uploadpack", program)
        git(folder, "config", "core.sshCommand", program)
        git(folder, "config", "core.gitProxy", program)
        git(folder, "config", "protocol.allow", "always")
        git(folder, "config", "protocol.ext.allow", "always")
        for blob in (folder / ".git/objects").glob("[0-9a-f][0-9a-f]/*"):
            if git(folder, "cat-file", "-t", blob.parent.name + blob.name) == "blob":
                blob.unlink()

    return hostile


HOSTILE = {
    "fsmonitor": set_keys("core.fsmonitor"),
    "programs": set_keys(
        "core.sshCommand", "core.pager", "core.editor", "core.askPass", "core.gitProxy", "pager.grep"
    ),
    "credential helper": set_keys("credential.helper", "uploadpack.packObjectsHook", "core.alternateRefsCommand"),
    "filters and diff drivers": attributes,
    "include.path": included,
    "aliases": aliases,
    "hooks": hooks,
    "signatures": signatures,
    "promisor ext": promisor("ext::{program} %S"),
    "promisor ssh": promisor("ssh://host/x"),
    "promisor git": promisor("git://127.0.0.1:1/x"),
    "promisor file": promisor("{folder}"),
}


@pytest.mark.parametrize("hostile", HOSTILE.values(), ids=HOSTILE)
def test_nothing_a_repository_configures_runs(
    tmp_path: Path, canary: Path, hostile: Callable[[Path, str], None]
) -> None:
    folder = repository(tmp_path / "r", {"a": b"TODO\n"}, days_ago=1)
    hostile(folder, str(canary))
    (tmp_path / "ran").unlink(missing_ok=True)

    look(folder)

    assert not (tmp_path / "ran").exists()


def test_the_canary_does_run_when_git_is_called_without_care(tmp_path: Path, canary: Path) -> None:
    folder = repository(tmp_path / "r", {"a": b"TODO\n"})
    promisor("ext::{program} %S")(folder, str(canary))

    with pytest.raises(Exception, match="status"):
        git(folder, "cat-file", "-p", "HEAD:a")

    assert (tmp_path / "ran").exists()


def test_an_object_that_is_promised_and_absent_is_a_file_of_unknown_size(tmp_path: Path, canary: Path) -> None:
    folder = repository(tmp_path / "r", {"a": b"TODO\n"})
    promisor("ssh://host/x")(folder, str(canary))

    (seen,) = inspect({"now": NOW}, {"repo": str(folder)})

    assert seen["large_files"] is None or seen["large_files"]["not_sized"] == 1
    assert seen["todo"] is None or seen["todo"]["complete"] is False


def test_a_configured_working_tree_elsewhere_is_not_looked_at(tmp_path: Path) -> None:
    folder = repository(tmp_path / "r", {"a": b"TODO\n"})
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "a").write_text("TODO\nTODO\n")
    (elsewhere / ".gitattributes").write_text("* binary\n")
    git(folder, "config", "core.worktree", str(elsewhere))

    (seen,) = inspect({"now": NOW}, {"repo": str(folder)})

    assert seen["todo"] is not None
    assert (seen["files"]["count"], seen["todo"]["lines"]) == (1, 1)


def test_colour_and_quoting_settings_do_not_change_the_answer(tmp_path: Path) -> None:
    folder = repository(tmp_path / "r", {"é a": b"TODO\n"}, days_ago=1)
    (plain,) = inspect({"now": NOW}, {"repo": str(folder)})
    for key in ("color.ui", "color.grep", "color.branch"):
        git(folder, "config", key, "always")
    for key in ("core.quotePath", "grep.lineNumber", "grep.column", "grep.fullName", "log.showSignature"):
        git(folder, "config", key, "true")
    git(folder, "config", "grep.patternType", "perl")

    (seen,) = inspect({"now": NOW}, {"repo": str(folder)})

    assert seen == plain


def test_the_callers_git_variables_choose_no_other_repository(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = repository(tmp_path / "r", {"a": b"1"})
    other = repository(tmp_path / "other", {"b": b"1", "c": b"1"})
    for name, value in (
        ("GIT_DIR", other / ".git"),
        ("GIT_WORK_TREE", other),
        ("GIT_INDEX_FILE", other / ".git/index"),
    ):
        monkeypatch.setenv(name, str(value))

    (seen,) = inspect({"now": NOW}, {"repo": str(folder)})

    assert seen["files"]["count"] == 1


def test_the_callers_own_settings_are_not_read(tmp_path: Path, canary: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = repository(tmp_path / "r", {"a": b"1"})
    home = tmp_path / "home"
    home.mkdir()
    (home / ".gitconfig").write_text(f"[core]\nfsmonitor = {canary}\n[broken\n")
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(home))
    monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
    monkeypatch.setenv("GIT_CONFIG_KEY_0", "core.fsmonitor")
    monkeypatch.setenv("GIT_CONFIG_VALUE_0", str(canary))

    look(folder)

    assert not (tmp_path / "ran").exists()


def test_a_program_called_git_in_a_relative_folder_of_path_is_not_run(
    tmp_path: Path, canary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = repository(tmp_path / "r", {"a": b"1"})
    (folder / "git").symlink_to(canary)
    monkeypatch.chdir(folder)
    monkeypatch.setenv("PATH", os.pathsep.join([".", "", os.environ["PATH"]]))

    look(folder)

    assert not (tmp_path / "ran").exists()


def test_without_git_the_operation_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = repository(tmp_path / "r")
    monkeypatch.setenv("PATH", str(tmp_path))

    with pytest.raises(OperationFailed) as refused:
        look(folder)

    assert refused.value.code == "git_unavailable"


def test_a_folder_whose_name_looks_like_an_option_or_a_list_is_a_folder(tmp_path: Path) -> None:
    folder = repository(tmp_path / "--upload-pack=x:y\nz", {"a": b"1"})

    (seen,) = inspect({"now": NOW}, {"repo": str(folder)})

    assert json.dumps(seen["files"]) == json.dumps({"source": "index", "count": 1, "complete": True})
