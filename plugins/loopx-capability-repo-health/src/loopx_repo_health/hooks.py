"""What the package brings into the host: the contract of the capability, its domain check, the schema of its view."""

from __future__ import annotations

import json
from importlib import resources
from typing import TYPE_CHECKING, cast

from loopx_host import OperationFailed, hookimpl
from loopx_repo_health.facts import read_request
from loopx_repo_health.git import TOTAL_SECONDS
from loopx_repo_health.publication import asked_of
from loopx_repo_health.view import VIEW_SCHEMA

if TYPE_CHECKING:
    from typing import TypedDict

    class Contract(TypedDict):
        """What any provider of a capability does."""

        id: str
        title: str
        operations: list[dict[str, object]]


CAPABILITY = "repo-health"
CONTRACT_KEYS = ("id", "effect_class", "request_schema", "result_schema")
START_SECONDS = 5.0  # for everything beside git


@hookimpl
def loopx_capability_contracts() -> list[Contract]:
    """Return what any provider of repo-health does: operations and their schemas, no protocol and no permission."""
    operations = cast("list[dict[str, object]]", _document("profile.json")["operations"])
    kept = [{key: operation[key] for key in CONTRACT_KEYS} for operation in operations]
    return [{"id": CAPABILITY, "title": "Repository health", "operations": kept}]


@hookimpl
def loopx_check_invocation(request: dict[str, object]) -> dict[str, object] | None:
    """Deny an input that the domain has no answer to, before anything starts, and shorten the provider's time.

    The schema knows the shape of `now`; only a calendar knows whether there is such a day. All git calls together end
    after `TOTAL_SECONDS`: a provider that is still there well after that hangs.
    """
    if request["capability_id"] != CAPABILITY:
        return None
    try:
        given = cast("dict[str, object]", request["input"])  # the host looked at its schema
        read_request(asked_of(given) if "surface" in request else given)
    except OperationFailed as failed:
        return {"deny": str(failed)}
    return {"timeout_seconds": TOTAL_SECONDS + START_SECONDS}


@hookimpl
def loopx_view_schemas() -> dict[str, dict[str, object]]:
    """Return the schema that judges what is published on the surface `repository-health`."""
    return {VIEW_SCHEMA: _document("schemas/view.schema.json")}


def _document(name: str) -> dict[str, object]:
    document: dict[str, object] = json.loads((resources.files("loopx_repo_health") / name).read_text("utf-8"))
    return document
