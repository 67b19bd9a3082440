"""The catalogue that core ships is the one its packages declare."""

from __future__ import annotations

import pytest

from tests.support.train_catalogue import MODULE, members, text


@pytest.mark.req("M124")
def test_the_catalogue_is_the_one_the_generator_writes() -> None:
    assert MODULE.read_text(encoding="utf-8") == text()


@pytest.mark.req("M124")
def test_every_capability_package_of_the_train_is_in_it() -> None:
    listed = {row["distribution"] for row in members()}

    assert {
        path.parent.name for path in MODULE.parents[2].glob("plugins/loopx-capability-*/pyproject.toml")
    } <= listed
