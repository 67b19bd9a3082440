"""The view schemas that core itself knows.

Which schema judges a view is said by the manifest of a surface, never by the view: a provider cannot choose its own
judge (contract section 5). Schemas of packages come through the hook `loopx_view_schemas`.
"""

from __future__ import annotations

from loopx_host.documents import sections_view

VIEW_SCHEMAS: dict[str, dict[str, object]] = {
    sections_view.ID: {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Sections of labels and values, in plain text",
        **sections_view.schema(),
    }
}


def core_view_schema(name: str) -> dict[str, object] | None:
    """Return the schema of this id that core knows, or None."""
    return VIEW_SCHEMAS.get(name)
