"""The view schemas that core itself knows.

Which schema judges a view is said by the manifest of a surface, never by the view: a provider cannot choose its own
judge (contract section 5). Schemas of packages come through the hook `loopx_view_schemas`.
"""

from __future__ import annotations

from loopx_host.documents import sections_view


def core_view_schema(name: str) -> dict[str, object] | None:
    """Return the schema of this id that core knows, or None."""
    return sections_view.schema() if name == sections_view.ID else None
