"""A group that bounds memory is one that the kernel keeps; files that only look like one are not made."""

from __future__ import annotations

from pathlib import Path

import pytest

from loopx_host.adapters.process import memory_group
from loopx_host.adapters.process.memory_group import MemoryGroup

NAME = "loopx-0123456789abcdef"


@pytest.mark.req("B3")
@pytest.mark.parametrize("bounds", [memory_group._BOUNDS_1, memory_group._BOUNDS_2], ids=["version 1", "version 2"])
def test_where_something_else_is_mounted_over_the_hierarchy_there_is_no_group_and_nothing_is_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, bounds: tuple[tuple[str, bool], ...]
) -> None:
    """An ordinary directory takes a new one, which has none of a group's files."""
    monkeypatch.setattr(memory_group, "parents", lambda: iter([(str(tmp_path), bounds)]))

    made = MemoryGroup.create(NAME, 2**26)

    assert (made, list(tmp_path.iterdir())) == (None, [])
