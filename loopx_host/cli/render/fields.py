"""Any document that has no look of its own: its fields, one below the other."""

from __future__ import annotations

from loopx_host.cli.render.parts import clean, field_lines

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping


def to_text(document: Mapping[str, object]) -> str:
    """Return every field that holds something."""
    return clean(field_lines(document, 0))
