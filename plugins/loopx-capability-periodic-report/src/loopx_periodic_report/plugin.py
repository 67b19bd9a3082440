"""What the package brings into the host: the two contracts, as their profiles say them."""

from __future__ import annotations

import json
from importlib import resources
from typing import TypedDict

from loopx_host import hookimpl

_PROFILES = {"profile.json": "Periodic report", "sink-profile.json": "Report sink"}


class Contract(TypedDict):
    """What any provider of a capability does."""

    id: str
    title: str
    operations: list[dict[str, object]]


@hookimpl
def loopx_capability_contracts() -> list[Contract]:
    """Return the contracts of `periodic-report` and `report-sink`."""
    return [_contract(name, title) for name, title in _PROFILES.items()]


def _contract(name: str, title: str) -> Contract:
    profile = json.loads(resources.files(__package__).joinpath(name).read_text(encoding="utf-8"))
    return {"id": profile["capability_id"], "title": title, "operations": profile["operations"]}
