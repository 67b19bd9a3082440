"""What is asked is taken as it was written: no empty value for none, no misspelt key for zero permission."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.cli import Loopx
from tests.support.providers import ECHO


@pytest.fixture
def loopx(tmp_path: Path) -> Loopx:
    return Loopx(tmp_path)


@pytest.mark.parametrize(
    "words",
    [
        ("extension", "rollback", "subject", "--to", ""),
        ("capability", "list", "--extension-manifest", ""),
        ("extension", "init", "subject", "--destination", ""),
        ("extension", "show", ""),
    ],
)
def test_an_empty_value_is_not_a_value_left_out(loopx: Loopx, words: tuple[str, ...]) -> None:
    answer = loopx(*words)

    assert (answer.status, answer.code) == (2, "usage_error")


@pytest.mark.parametrize("key", ["perms", "required_permissions", "permission_list"])
def test_a_misspelt_permission_never_means_zero_permission(loopx: Loopx, key: str) -> None:
    path = loopx.write_extension("subject", ECHO, manifest=f'{key} = ["net.connect"]')

    answer = loopx.install(path)

    assert answer.code == "manifest_invalid"
    assert [row["nearest"] for row in answer.document["problems"]] == ["permissions"]
