"""Why a test asks for a level of containment below the one that users get; without one of these it asks for none."""

from __future__ import annotations

import pytest

LEAVES_MARKS = pytest.mark.containment(
    "limits", because="its providers tell what they did through files outside their private directory"
)
CHANGES_ITSELF = pytest.mark.containment(
    "limits", because="its provider changes its own program, which is refused at the default level"
)
HELD_BY_NOTHING = pytest.mark.containment("limits", because="it is about a level at which nothing holds a provider")
NOBODY_ASKS = pytest.mark.containment(None, because="the level that users get is what it is about")
# Folders whose tests were written for `limits` and were not moved yet; most of them are about what a level refuses.
NOT_MOVED = ("process", "state", "documents", "authoring")


def level_of(item: pytest.Item) -> str | None:
    """Return the level that a test asks for, None for none."""
    marker = item.get_closest_marker("containment")
    if marker is not None:
        return marker.args[0]  # type: ignore[no-any-return]  # as they stand above
    folder = item.path.parent
    return "limits" if folder.parent.name == "integration" and folder.name in NOT_MOVED else None
