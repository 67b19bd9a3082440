"""The view of an observation: sections a person reads, and the check every view passes before it is shown."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from importlib import resources
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from loopx_repo_health.facts import inspect
from loopx_repo_health.observation import View
from loopx_repo_health.view import check, repository_health_view
from repo_health_repositories import NOW, git, repository

SCHEMA = json.loads((resources.files("loopx_repo_health") / "schemas/view.schema.json").read_text("utf-8"))
WHOLE = {"LICENSE": b"x", "README.md": b"x", ".github/workflows/ci.yml": b"x"}


def view_of(folder: Path, **request: object) -> View:
    (seen,) = inspect({"now": NOW, **request}, {"repo": str(folder)})
    view = repository_health_view(seen)
    jsonschema.validate(view, SCHEMA)
    assert check(view) == []
    return view


def statuses(view: View) -> dict[str, str]:
    return {section["id"]: section["status"] for section in view["sections"]}


def section(view: View, name: str) -> dict[str, str]:
    (found,) = [section for section in view["sections"] if section["id"] == name]
    return {item["label"]: item["value"] for item in found["items"]}


def test_a_repository_in_good_health_is_ok_throughout(tmp_path: Path) -> None:
    view = view_of(repository(tmp_path / "r", WHOLE, days_ago=1))

    assert set(statuses(view).values()) == {"ok"}
    assert view["generated_at"] == NOW


def test_what_needs_somebody_is_marked(tmp_path: Path) -> None:
    folder = repository(tmp_path / "r", {"big": b"0" * 2000, "a": b"TODO\n" * 101}, days_ago=181)

    assert set(statuses(view_of(folder, large_file_kb=1)).values()) == {"attention"}


@pytest.mark.parametrize(("days", "status"), [(90, "ok"), (91, "attention")])
def test_a_branch_is_stale_after_ninety_days(tmp_path: Path, days: int, status: str) -> None:
    folder = repository(tmp_path / "r", WHOLE, days_ago=days)

    assert statuses(view_of(folder))["branches"] == status


def test_what_is_not_known_is_unknown_and_not_ok(tmp_path: Path) -> None:
    (seen,) = inspect({"now": NOW}, {"repo": str(repository(tmp_path / "r", {"a": b"1"}))})
    seen |= {"missing": None, "large_files": None, "todo": None, "commits": None, "last_activity": None}

    view = repository_health_view(seen)

    jsonschema.validate(view, SCHEMA)
    assert statuses(view) == {
        "activity": "unknown",
        "branches": "ok",
        "essentials": "unknown",
        "files": "unknown",
        "todo": "unknown",
    }


def test_a_repository_without_commits_has_a_view(tmp_path: Path) -> None:
    view = view_of(repository(tmp_path / "r"))

    assert statuses(view)["activity"] == "unknown"
    assert section(view, "activity").keys() == {"Head", "Commits"}


def test_each_expected_file_is_named(tmp_path: Path) -> None:
    view = view_of(repository(tmp_path / "r", {"LICENSE": b"x"}))

    assert section(view, "essentials")["Licence"] == "LICENSE"
    assert section(view, "essentials").keys() == {"Licence", "Readme", "Continuous integration"}


def test_branches_beyond_the_list_are_counted(tmp_path: Path) -> None:
    folder = repository(tmp_path / "r", WHOLE)
    for number in range(24):
        git(folder, "branch", f"b{number}")

    assert section(view_of(folder), "branches")["Not listed"].split()[0] == "5"


def test_the_same_observation_gives_the_same_view(tmp_path: Path) -> None:
    folder = repository(tmp_path / "r", WHOLE)

    assert json.dumps(view_of(folder)) == json.dumps(view_of(folder))


def put(key: str, value: object) -> Callable[[Any], None]:
    def change(view: Any) -> None:
        view[key] = value

    return change


def put_in_section(key: str, value: object) -> Callable[[Any], None]:
    def change(view: Any) -> None:
        view["sections"][0][key] = value

    return change


@pytest.mark.parametrize(
    "change",
    [
        put("more", 1),
        put("schema_version", "repository_health_view_v1"),
        put("title", "two\nlines"),
        put("title", ""),
        put("title", "x" * 301),
        put("generated_at", "yesterday"),
        put("sections", {}),
        put("sections", [1]),
        put_in_section("status", "fine"),
        put_in_section("status", ["ok"]),
        put_in_section("more", 1),
        put_in_section("id", "branches"),
        put_in_section("items", [{"label": "a"}]),
        put_in_section("items", [{"label": "a", "value": 1}]),
        put_in_section("items", [{"label": "\u202eabc", "value": "b"}]),
        put_in_section("items", [{"label": "a", "value": "b"}] * 121),
    ],
)
def test_a_view_with_a_fault_is_not_shown(tmp_path: Path, change: Callable[[Any], None]) -> None:
    view = copy.deepcopy(view_of(repository(tmp_path / "r")))
    change(view)

    assert check(view) != []


@pytest.mark.parametrize("view", [None, [], {}, "x"])
def test_what_is_no_view_at_all_is_not_shown(view: object) -> None:
    assert check(view) != []
