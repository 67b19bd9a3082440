"""The publish request: one request in, the view of the surface out."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from importlib import resources
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from loopx_repo_health.observation import View
from loopx_repo_health.publication import published_view
from loopx_repo_health.view import check
from repo_health_repositories import NOW, git, repository

from loopx_host import OperationFailed

SCHEMA = json.loads((resources.files("loopx_repo_health") / "schemas/publish.schema.json").read_text("utf-8"))
EXAMPLE = Path(__file__).parents[1] / "examples/request.json"
REQUEST = {"schema_version": "loopx_repo_health_publish_request_v0", "publish": "repository-health", "now": NOW}
SAMPLE = {**REQUEST, "sample": True}


def made(folder: Path) -> View:
    """The view of a repository, as the seam asks for it."""
    return published_view(REQUEST, {"repo": str(folder)})


def answered(request: Mapping[str, object] | bytes) -> Any:
    """What the provider process answers to a request, or to bytes that may be none."""
    data = request if isinstance(request, bytes) else json.dumps(request).encode()
    ended = subprocess.run([sys.executable, "-m", "loopx_repo_health"], input=data, capture_output=True, check=True)
    answer = json.loads(ended.stdout)
    assert isinstance(answer, dict)
    return answer


def test_a_repository_is_answered_with_its_view(tmp_path: Path) -> None:
    folder = repository(tmp_path / "r", {"LICENSE": b"x"})

    view = made(folder)

    jsonschema.validate(REQUEST, SCHEMA)
    assert (check(view), view["generated_at"]) == ([], NOW)


def test_a_private_name_is_in_no_view(tmp_path: Path) -> None:
    folder = repository(tmp_path / "r", {"a": b"x"})
    name = "ghp_" + "a1" * 18
    git(folder, "switch", "--quiet", "--create", name)

    view = made(folder)

    assert name not in json.dumps(view)
    assert {"label": "Names withheld", "value": "1"} in [item for one in view["sections"] for item in one["items"]]


def test_the_example_is_a_request_and_is_answered() -> None:
    data = EXAMPLE.read_bytes()

    jsonschema.validate(json.loads(data), SCHEMA)
    assert answered(data)["ok"] is True


@pytest.mark.parametrize(
    ("more", "code"),
    [
        ({}, "reference_missing"),
        ({"schema_version": "loopx_repo_health_publish_request_v1", "sample": True}, "request_invalid"),
        ({"more": 1, "sample": True}, "invalid_input"),
        ({"sample": "yes"}, "invalid_input"),
        ({"sample": 1}, "invalid_input"),
        ({"sample": True, "now": "2026-02-30T00:00:00Z"}, "invalid_input"),
    ],
    ids=str,
)
def test_a_request_without_a_view_is_refused_with_its_code(more: dict[str, object], code: str) -> None:
    answer = answered({**REQUEST, **more})

    assert (answer["ok"], answer["code"], answer["effect"]) == (False, code, "none")


def test_a_request_without_a_version_is_refused() -> None:
    assert answered({"publish": "repository-health", "sample": True})["code"] == "request_invalid"


def test_a_sample_of_a_reference_is_refused(tmp_path: Path) -> None:
    folder = repository(tmp_path / "r", {"a": b"x"})

    with pytest.raises(OperationFailed) as failed:
        published_view(SAMPLE, {"repo": str(folder)})

    assert failed.value.code == "invalid_input"


def test_a_folder_that_is_no_repository_is_refused(tmp_path: Path) -> None:
    with pytest.raises(OperationFailed) as failed:
        made(tmp_path)

    assert failed.value.code == "not_a_repository"


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"", "request_invalid"),
        (b"[]", "request_invalid"),
        (b"nothing", "request_invalid"),
        (json.dumps({**SAMPLE, "publish": "other"}).encode(), "surface_unknown"),
        (b'{"publish": "repository-health"}', "request_invalid"),
        (json.dumps(SAMPLE).replace('"publish"', '"publish": "x", "publish"').encode(), "request_invalid"),
        (json.dumps(SAMPLE).replace(f'"{NOW}"', "NaN").encode(), "request_invalid"),
        (json.dumps({**SAMPLE, "context_refs": []}).encode(), "request_invalid"),
        (json.dumps({**REQUEST, "context_refs": [{"name": "repo", "path": "/"}]}).encode(), "request_invalid"),
        (b'{"a":' * 100_000, "request_invalid"),
    ],
    ids=lambda given: repr(given[:24]) if isinstance(given, bytes) else given,
)
def test_a_process_answers_what_is_no_publish_request_with_its_code(data: bytes, code: str) -> None:
    answer = answered(data)

    assert (answer["ok"], answer["code"]) == (False, code)
