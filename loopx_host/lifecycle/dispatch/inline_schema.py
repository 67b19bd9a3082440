"""A schema that stands inside a profile, applied through the judging port; it refers to nothing but itself."""

from __future__ import annotations

from loopx_host.lifecycle.dispatch.schemas import UNDECIDED
from loopx_host.registry.schemas import Bundle, SchemaError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from loopx_host.lifecycle.extensions.ports import Judging

_NAME = "profile.json"


def violations(judging: Judging, schema: dict[str, Any], instance: object) -> list[dict[str, str]]:
    """Return how an instance breaks an inline schema; one row when that could not be told."""
    try:
        rows = judging.violations(Bundle(_NAME, schema, {}), instance)
    except SchemaError as error:
        return [{"pointer": "", "message": f"the schema of the profile cannot be used: {error}"}]
    return UNDECIDED if rows is None else rows
