"""What the package brings into the host: the two contracts, as their profiles say them."""

from __future__ import annotations

import json
from importlib import resources
from typing import Any

from loopx_host import hookimpl

_PROFILES = {"profile.json": "Periodic report", "sink-profile.json": "Report sink"}


@hookimpl
def loopx_capability_contracts() -> list[dict[str, Any]]:
    """Return the contracts of `periodic-report` and `report-sink`."""
    return [_contract(name, title) for name, title in _PROFILES.items()]


def _contract(name: str, title: str) -> dict[str, Any]:
    profile = json.loads(resources.files(__package__).joinpath(name).read_text(encoding="utf-8"))
    return {"id": profile["capability_id"], "title": title, "operations": profile["operations"]}
