"""The request behind `publish-projection`: inspect the repository, and make the view of the surface."""

from __future__ import annotations

from typing import TYPE_CHECKING

from loopx_host import OperationFailed
from loopx_repo_health.facts import inspect
from loopx_repo_health.request import PUBLISH_SCHEMA
from loopx_repo_health.sample import empty_repository
from loopx_repo_health.view import repository_health_view

if TYPE_CHECKING:
    from collections.abc import Mapping

    from loopx_repo_health.observation import View

_INPUT = ("now", "large_file_kb")
_KEYS = {"schema_version", "publish", "sample", *_INPUT}


def published_view(request: Mapping[str, object], references: dict[str, str]) -> View:
    """Return the view a publish request asks for; `references` says where what it may read is.

    Raises OperationFailed: `request_invalid` for another version, `invalid_input`, those of `inspect`.
    """
    if request.get("schema_version") != PUBLISH_SCHEMA:
        raise OperationFailed("request_invalid", f"the request is no {PUBLISH_SCHEMA}")
    if not set(request) <= _KEYS:
        raise OperationFailed("invalid_input", "the request has a field that a publish request does not know")
    asked = asked_of(request)
    sample = request.get("sample", False)
    if sample is False:
        return _seen(asked, references)
    if sample is not True or references:
        raise OperationFailed("invalid_input", "sample is true or absent, and a sample is of no reference")
    with empty_repository() as folder:
        return _seen(asked, {"repo": folder})


def asked_of(request: Mapping[str, object]) -> dict[str, object]:
    """Return the input of `inspect` in a publish request."""
    return {key: request[key] for key in _INPUT if key in request}


def _seen(asked: Mapping[str, object], references: dict[str, str]) -> View:
    (observation,) = inspect(asked, references)
    return repository_health_view(observation)
