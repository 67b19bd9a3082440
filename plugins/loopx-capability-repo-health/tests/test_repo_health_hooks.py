"""What the package brings into the host: contract, domain check, view schema."""

from __future__ import annotations

import json
from importlib import resources
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from loopx_repo_health import hooks
from loopx_repo_health.facts import inspect
from loopx_repo_health.git import TOTAL_SECONDS
from loopx_repo_health.request import LARGE_FILE_KB_MAX
from loopx_repo_health.view import repository_health_view
from repo_health_repositories import NOW, repository

PROFILE = json.loads((resources.files("loopx_repo_health") / "profile.json").read_text("utf-8"))
MANIFEST_SECONDS = 60


def judged(**given: object) -> Any:
    verdict: Any = hooks.loopx_check_invocation(
        request={"capability_id": "repo-health", "operation": "inspect", "input": given, "context_refs": []}
    )
    return verdict


def test_the_contract_says_what_any_provider_does_and_nothing_of_this_one() -> None:
    (contract,) = hooks.loopx_capability_contracts()

    assert (contract["id"], [one["id"] for one in contract["operations"]]) == ("repo-health", ["inspect"])
    assert set(contract["operations"][0]) == {"id", "effect_class", "request_schema", "result_schema"}
    assert "protocol" not in json.dumps(contract)
    assert "loopx-capability-repo-health" not in json.dumps(contract)


def test_the_profile_of_this_provider_keeps_the_contract() -> None:
    ((contract,), (operation,)) = (hooks.loopx_capability_contracts(), PROFILE["operations"])

    assert contract["operations"][0].items() <= operation.items()


@pytest.mark.parametrize("kilobytes", [0, -1, LARGE_FILE_KB_MAX + 1, True, "1", None])
def test_a_size_outside_the_bounds_of_the_domain_is_denied(kilobytes: object) -> None:
    assert set(judged(large_file_kb=kilobytes) or {}) == {"deny"}


@pytest.mark.parametrize("now", ["2026-02-30T00:00:00Z", "2026-01-01T25:00:00Z"])
def test_a_day_that_only_looks_like_one_is_denied(now: str) -> None:
    jsonschema.validate({"now": now}, PROFILE["operations"][0]["request_schema"])

    assert set(judged(now=now) or {}) == {"deny"}


def test_a_good_input_gets_the_time_git_may_take_and_not_the_whole_time_of_the_manifest() -> None:
    verdict = judged(large_file_kb=1, now=NOW)

    assert verdict is not None
    assert set(verdict) == {"timeout_seconds"}
    assert TOTAL_SECONDS < verdict["timeout_seconds"] < MANIFEST_SECONDS


def test_other_capabilities_are_nothing_to_judge() -> None:
    request: dict[str, object] = {
        "capability_id": "recall",
        "operation": "search",
        "input": {"now": 1},
        "context_refs": [],
    }

    assert hooks.loopx_check_invocation(request=request) is None


def test_the_view_schema_judges_the_views_this_package_makes(tmp_path: Path) -> None:
    schema = hooks.loopx_view_schemas()["repository_health_view_v0"]
    (seen,) = inspect({"now": NOW}, {"repo": str(repository(tmp_path / "r", {"a": b"TODO\n"}))})

    jsonschema.validate(repository_health_view(seen), schema)
    assert not jsonschema.Draft202012Validator(schema).is_valid({**repository_health_view(seen), "more": 1})
