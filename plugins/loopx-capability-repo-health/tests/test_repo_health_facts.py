"""What `inspect` says about real repositories."""

from __future__ import annotations

import json
import os
import subprocess
from importlib import resources
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from loopx_repo_health import facts, git
from loopx_repo_health.facts import inspect
from repo_health_repositories import NOW, commit, repository
from repo_health_repositories import git as run_git

from loopx_host import OperationFailed

(OPERATION,) = json.loads((resources.files("loopx_repo_health") / "profile.json").read_text("utf-8"))["operations"]
SCHEMA = OPERATION["result_schema"]["properties"]["observations"]["items"]


def look(folder: Path, **request: object) -> Any:
    (seen,) = inspect({"now": NOW, **request}, {"repo": str(folder)})
    jsonschema.validate(seen, SCHEMA)
    return seen


def code_of(folder: Path) -> str:
    with pytest.raises(OperationFailed) as refused:
        look(folder)
    return refused.value.code


def test_a_repository_without_commits_is_unborn(tmp_path: Path) -> None:
    seen = look(repository(tmp_path / "r"))

    assert seen["head"] == {"state": "unborn", "branch": "main", "commit": None}
    assert seen["last_activity"] is None
    assert seen["branches"]["items"] == []
    assert seen["commits"] == {"count": 0, "complete": True}
    assert seen["files"]["count"] == 0
    assert seen["missing"] == ["licence", "readme", "ci"]


def test_staged_files_count_before_the_first_commit(tmp_path: Path) -> None:
    folder = repository(tmp_path / "r")
    (folder / "README").write_bytes(b"TODO\n")
    run_git(folder, "add", "README")

    seen = look(folder)

    assert seen["files"]["count"] == 1
    assert seen["found"] == {"readme": "README"}
    assert seen["todo"]["lines"] == 1


def test_branches_are_listed_with_their_age_newest_first(tmp_path: Path) -> None:
    folder = repository(tmp_path / "r", {"a": b"1"}, days_ago=400)
    run_git(folder, "branch", "old")
    commit(folder, {"a": b"2"}, days_ago=3)
    run_git(folder, "branch", "also/new")

    seen = look(folder)

    rows = [(row["name"], row["age_days"], row["current"]) for row in seen["branches"]["items"]]
    assert rows == [("also/new", 3, False), ("main", 3, True), ("old", 400, False)]
    assert seen["last_activity"] == {"at": "2026-02-26T00:00:00Z", "age_days": 3}
    assert seen["commits"]["count"] == 2


def test_an_age_is_counted_in_whole_days_in_any_time_zone(tmp_path: Path) -> None:
    folder = repository(tmp_path / "r", {"a": b"1"}, days_ago=1)

    # committed 2026-02-28T00:00:00Z
    assert look(folder, now="2026-02-28T23:59:59Z")["last_activity"]["age_days"] == 0
    assert look(folder, now="2026-03-01T02:00:00+02:00")["last_activity"]["age_days"] == 1


def test_a_commit_of_the_future_is_zero_days_old(tmp_path: Path) -> None:
    folder = repository(tmp_path / "r", {"a": b"1"}, days_ago=-30)

    assert look(folder)["last_activity"]["age_days"] == 0


def test_the_same_repository_and_time_give_the_same_bytes(tmp_path: Path) -> None:
    folder = repository(tmp_path / "r", {"a": b"TODO\n", "b": b"TODO\n", "README": b""}, days_ago=2)

    assert json.dumps(look(folder)) == json.dumps(look(folder))


def test_a_detached_head_names_its_commit(tmp_path: Path) -> None:
    folder = repository(tmp_path / "r", {"a": b"1"})
    first = run_git(folder, "rev-parse", "HEAD")
    run_git(folder, "checkout", "--quiet", "--detach")

    seen = look(folder)

    assert seen["head"] == {"state": "detached", "branch": None, "commit": first[:12]}
    assert [row["current"] for row in seen["branches"]["items"]] == [False]


def test_activity_on_a_detached_head_counts(tmp_path: Path) -> None:
    folder = repository(tmp_path / "r", {"a": b"1"}, days_ago=50)
    run_git(folder, "checkout", "--quiet", "--detach")
    commit(folder, {"a": b"2"}, days_ago=1)

    assert look(folder)["last_activity"]["age_days"] == 1


def test_a_bare_repository_is_read_from_its_head(tmp_path: Path) -> None:
    files = {"LICENSE": b"x", "src/a.py": b"# TODO\n# FIXME\n", "big": b"0" * 3000}
    source = repository(tmp_path / "source", files, days_ago=5)
    run_git(tmp_path, "clone", "--quiet", "--bare", str(source), "bare.git")

    seen = look(tmp_path / "bare.git", large_file_kb=2)

    assert seen["bare"] is True
    assert seen["files"] == {"source": "head", "count": 3, "complete": True}
    assert seen["large_files"]["items"] == [{"path": "big", "size_bytes": 3000}]
    assert seen["todo"]["items"] == [{"path": "src/a.py", "lines": 2}]
    assert seen["missing"] == ["readme", "ci"]
    assert seen["last_activity"]["age_days"] == 5


def test_a_bare_repository_without_commits_is_unborn(tmp_path: Path) -> None:
    run_git(tmp_path, "init", "--quiet", "--bare", "bare.git")

    assert look(tmp_path / "bare.git")["head"]["state"] == "unborn"


def test_a_clone_without_checkout_is_read_from_its_head(tmp_path: Path) -> None:
    source = repository(tmp_path / "source", {"README.md": b"x"})
    run_git(tmp_path, "clone", "--quiet", "--no-checkout", str(source), "r")

    assert look(tmp_path / "r")["found"] == {"readme": "README.md"}


def test_a_linked_worktree_shows_its_own_head(tmp_path: Path) -> None:
    folder = repository(tmp_path / "r", {"a": b"1"})
    run_git(folder, "worktree", "add", "--quiet", "-b", "side", str(tmp_path / "side"))

    seen = look(tmp_path / "side")

    assert seen["linked_worktree"] is True
    assert seen["head"]["branch"] == "side"
    assert seen["files"]["count"] == 1
    assert look(folder)["linked_worktree"] is False


def test_a_shallow_clone_says_so(tmp_path: Path) -> None:
    source = repository(tmp_path / "source", {"a": b"1"})
    commit(source, {"a": b"2"})
    run_git(tmp_path, "clone", "--quiet", "--depth=1", f"file://{source}", "r")

    seen = look(tmp_path / "r")

    assert seen["shallow"] is True
    assert seen["commits"] == {"count": 1, "complete": True}
    assert look(source)["shallow"] is False


def test_a_symbolic_link_to_a_repository_is_that_repository(tmp_path: Path) -> None:
    repository(tmp_path / "r", {"a": b"1"})
    (tmp_path / "link").symlink_to("r")

    assert look(tmp_path / "link")["files"]["count"] == 1


def test_a_folder_that_is_no_repository_is_refused(tmp_path: Path) -> None:
    assert code_of(tmp_path) == "not_a_repository"
    assert code_of(tmp_path / "absent") == "not_a_repository"


def test_a_folder_inside_a_repository_is_not_answered_with_what_lies_above_it(tmp_path: Path) -> None:
    folder = repository(tmp_path / "r", {"sub/a": b"1"})

    assert code_of(folder / "sub") == "not_a_repository"


def test_a_damaged_repository_is_unreadable(tmp_path: Path) -> None:
    (tmp_path / ".git").write_text("gitdir: nowhere\n")

    assert code_of(tmp_path) == "repository_unreadable"


def test_a_missing_reference_is_refused() -> None:
    with pytest.raises(OperationFailed) as refused:
        inspect({}, {})

    assert refused.value.code == "reference_missing"


def test_names_outside_utf8_are_shown_escaped(tmp_path: Path) -> None:
    folder = repository(tmp_path / "r")
    with open(os.fsencode(folder) + b"/caf\xe9 \xc3\xa9\n.txt", "wb") as file:
        file.write(b"FIXME\n" + b"0" * 2048)
    commit(folder, {})

    seen = look(folder, large_file_kb=1)

    assert seen["large_files"]["items"][0]["path"] == "caf\\xe9 é\\x0a.txt"
    assert seen["todo"]["items"] == [{"path": "caf\\xe9 é\\x0a.txt", "lines": 1}]


def test_a_branch_name_outside_utf8_is_shown_escaped(tmp_path: Path) -> None:
    folder = repository(tmp_path / "r", {"a": b"1"})
    tip = run_git(folder, "rev-parse", "HEAD")
    with open(os.fsencode(folder) + b"/.git/refs/heads/b\xff", "w", encoding="ascii") as ref:
        ref.write(tip + "\n")

    assert [row["name"] for row in look(folder)["branches"]["items"]] == ["b\\xff", "main"]


def test_only_files_above_the_threshold_are_large_and_the_largest_comes_first(tmp_path: Path) -> None:
    files = {"exact": b"0" * 2048, "over": b"0" * 2049, "more": b"0" * 9000}
    folder = repository(tmp_path / "r", files)
    (folder / "untracked").write_bytes(b"0" * 99_999)

    seen = look(folder, large_file_kb=2)

    assert seen["large_files"]["items"] == [
        {"path": "more", "size_bytes": 9000},
        {"path": "over", "size_bytes": 2049},
    ]
    assert seen["large_files"]["threshold_bytes"] == 2048


def test_a_large_file_is_one_above_one_mebibyte_unless_said_otherwise(tmp_path: Path) -> None:
    folder = repository(tmp_path / "r", {"a": b"0" * 1024 * 1024, "b": b"0" * (1024 * 1024 + 1)})

    assert [row["path"] for row in look(folder)["large_files"]["items"]] == ["b"]


def test_the_list_of_large_files_is_capped_and_says_by_how_much(tmp_path: Path) -> None:
    folder = repository(tmp_path / "r", {f"f{n:03}": b"0" * 1025 for n in range(53)})

    large = look(folder, large_file_kb=1)["large_files"]

    assert (len(large["items"]), large["truncated"]) == (50, 3)


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("LICENSE", "licence"),
        ("licence.md", "licence"),
        ("COPYING", "licence"),
        ("LICENSE-MIT", "licence"),
        ("LICENSES/Apache-2.0.txt", "licence"),
        ("README", "readme"),
        ("ReadMe.rst", "readme"),
        ("docs/README.md", "readme"),
        (".github/workflows/test.yml", "ci"),
        (".gitlab-ci.yml", "ci"),
        (".circleci/config.yml", "ci"),
        ("Jenkinsfile", "ci"),
    ],
)
def test_a_well_known_name_is_found(tmp_path: Path, path: str, kind: str) -> None:
    seen = look(repository(tmp_path / "r", {path: b"x"}))

    assert seen["found"] == {kind: path}
    assert kind not in seen["missing"]


@pytest.mark.parametrize(
    "path", ["src/LICENSE", "licensed.py", "readme_test.py", ".github/workflows/x/y.yml", "a/README"]
)
def test_a_name_that_only_looks_alike_is_not_found(tmp_path: Path, path: str) -> None:
    assert look(repository(tmp_path / "r", {path: b"x"}))["missing"] == ["licence", "readme", "ci"]


def test_lines_with_the_word_todo_or_fixme_are_counted_in_tracked_text_files(tmp_path: Path) -> None:
    files = {
        "b.py": b"# TODO one\n# FIXME: two TODO\n",
        "a.py": b"TODO\nfixed\n",
        "words.txt": b"TODOS PREFIXME todo\n",
        "binary": b"TODO\0\n",
    }
    folder = repository(tmp_path / "r", files)
    (folder / "untracked").write_bytes(b"TODO\n")

    todo = look(folder)["todo"]

    assert todo["items"] == [{"path": "b.py", "lines": 2}, {"path": "a.py", "lines": 1}]
    assert (todo["lines"], todo["files"], todo["truncated"], todo["complete"]) == (3, 2, 0, True)


def test_the_twenty_files_with_most_todo_lines_are_named(tmp_path: Path) -> None:
    folder = repository(tmp_path / "r", {f"f{n:02}": b"TODO\n" * n for n in range(1, 24)})

    todo = look(folder)["todo"]

    assert [row["lines"] for row in todo["items"]] == list(range(23, 3, -1))
    assert (todo["truncated"], todo["lines"]) == (3, sum(range(1, 24)))


def test_a_submodule_is_one_tracked_file_that_is_not_entered(tmp_path: Path) -> None:
    inner = repository(tmp_path / "inner", {"a": b"TODO\n"})
    folder = repository(tmp_path / "r", {"b": b"1"})
    run_git(folder, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(inner), "sub")
    commit(folder, {})
    run_git(folder, "config", "submodule.recurse", "true")

    seen = look(folder)

    assert seen["files"]["count"] == 3  # b, .gitmodules, sub
    assert seen["todo"]["lines"] == 0
    assert seen["large_files"]["not_sized"] == 0


def test_the_sides_of_a_conflict_are_one_file(tmp_path: Path) -> None:
    folder = repository(tmp_path / "r", {"a": b"1"})
    run_git(folder, "checkout", "--quiet", "-b", "side")
    commit(folder, {"a": b"2"})
    run_git(folder, "checkout", "--quiet", "main")
    commit(folder, {"a": b"3"})
    with pytest.raises(subprocess.CalledProcessError):
        run_git(folder, "merge", "side")

    assert look(folder)["files"]["count"] == 1


def test_a_listing_that_is_cut_leaves_what_was_not_seen_unknown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = repository(tmp_path / "r", {"LICENSE": b"x", **{f"z{n}": b"1" for n in range(40)}})
    monkeypatch.setattr(facts, "FILES", 10)

    seen = look(folder)

    assert seen["files"] == {"source": "index", "count": 10, "complete": False}
    assert seen["found"] == {"licence": "LICENSE"}
    assert seen["missing"] is None


def test_output_beyond_the_cap_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = repository(tmp_path / "r", {f"{'long' * 20}{n:03}": b"1" for n in range(300)})
    unbounded = git.Repository.__init__

    def bounded(self: git.Repository, path: str) -> None:
        unbounded(self, path, output_bytes=4096)

    monkeypatch.setattr(git.Repository, "__init__", bounded)

    seen = look(folder)

    assert seen["files"]["complete"] is False
    assert 0 < seen["files"]["count"] < 4096 // 80


def test_a_history_longer_than_the_bound_is_counted_up_to_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = repository(tmp_path / "r", {"a": b"0"})
    for number in range(1, 4):
        commit(folder, {"a": str(number).encode()})
    monkeypatch.setattr(facts, "COMMITS", 3)

    assert look(folder)["commits"] == {"count": 3, "complete": False}


def test_a_git_that_never_answers_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = repository(tmp_path / "r")
    (folder / ".git/config").unlink()
    os.mkfifo(folder / ".git/config")
    monkeypatch.setattr(git, "CALL_SECONDS", 0.3)

    assert code_of(folder) == "git_timeout"


def test_an_observation_of_hostile_names_stays_far_below_the_bound_of_an_answer(tmp_path: Path) -> None:
    folder = repository(tmp_path / "r")
    wide = "\U0001f600" * 60
    commit(folder, {f"{wide}/{wide}{n:02}": b"TODO\n" + b"0" * 1024 for n in range(60)})
    tip = run_git(folder, "rev-parse", "HEAD")
    packed = "".join(f"{tip} refs/heads/{wide}/{wide}{n:03}\n" for n in range(150))
    (folder / ".git/packed-refs").write_text(f"# pack-refs with: peeled fully-peeled sorted\n{packed}")

    seen = look(folder, large_file_kb=1)

    assert (seen["branches"]["truncated"], seen["large_files"]["truncated"]) == (51, 10)
    assert len(json.dumps(seen)) < 200_000


def test_a_name_the_classifier_withholds_is_not_in_the_answer(tmp_path: Path) -> None:
    folder = repository(tmp_path / "r", {"private/x": b"TODO\n" + b"0" * 1024, "b": b"TODO\n"})

    seen: Any
    (seen,) = inspect({"large_file_kb": 1}, {"repo": str(folder)}, withhold=lambda name: "private" in name)

    assert "private" not in json.dumps(seen)
    assert (seen["todo"]["files"], len(seen["large_files"]["items"])) == (2, 1)
    assert seen["withheld"] == 1


@pytest.mark.parametrize("name", ["ghp_" + "a1" * 18, "password=hunter22", "AKIA" + "A1B2C3D4E5F6G7H8"])
def test_a_name_that_holds_private_material_is_counted_and_never_copied(tmp_path: Path, name: str) -> None:
    folder = repository(tmp_path / "r", {f"{name}.txt": b"TODO\n", "LICENSE": b"x"})
    run_git(folder, "branch", name)

    seen = look(folder)

    assert name not in json.dumps(seen)
    assert seen["withheld"] == 2
    assert seen["branches"]["items"][0]["age_days"] == 0


def test_ordinary_names_are_all_shown(tmp_path: Path) -> None:
    seen = look(repository(tmp_path / "r", {"password_reset.py": b"TODO\n", "tokens/README.md": b"TODO\n"}))

    assert (seen["withheld"], len(seen["todo"]["items"])) == (0, 2)


def test_an_observation_holds_no_absolute_path(tmp_path: Path) -> None:
    folder = repository(tmp_path / "r", {"a": b"TODO\n", "README": b""})

    assert str(tmp_path) not in json.dumps(look(folder))


def test_an_inspection_changes_nothing_in_the_repository(tmp_path: Path) -> None:
    folder = repository(tmp_path / "r", {"a": b"1"})
    os.utime(folder / "a", (1, 1))  # git would refresh its index, given the chance
    before = snapshot(folder)

    look(folder)

    assert snapshot(folder) == before


def snapshot(folder: Path) -> dict[str, tuple[int, int, int]]:
    found = (path.lstat() for path in folder.rglob("*"))
    names = [str(path) for path in folder.rglob("*")]
    return {name: (stat.st_ino, stat.st_mtime_ns, stat.st_ctime_ns) for name, stat in zip(names, found, strict=True)}
