"""A document that a package's command made: shown plainly, whatever schema it says it has."""

from __future__ import annotations

from loopx_host.cli.render import fields, schema
from loopx_host.cli.render.parts import clean_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping


def to_text(document: Mapping[str, object]) -> str:
    """Return its text if it has one, else its fields."""
    if "$schema" in document:
        return schema.to_text(document)
    text = document.get("text")
    return clean_text(text) if isinstance(text, str) else fields.to_text(document)
