"""A JSON Schema: for a person, too, it is JSON."""

from __future__ import annotations

from loopx_host.cli.render.as_json import to_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping


def to_text(document: Mapping[str, object]) -> str:
    """Return the schema, indented."""
    return to_json(document, indent=True)
