"""The catalogue that core ships is the one its packages declare; no module of core knows a package of the train."""

from __future__ import annotations

import pytest

from loopx_host.adapters.packages import train
from tests.support.train_catalogue import CATALOGUE, ROOT, members, text


@pytest.mark.req("M124")
def test_the_catalogue_is_the_one_the_generator_writes() -> None:
    assert CATALOGUE.read_text(encoding="utf-8") == text()


@pytest.mark.req("M124")
def test_the_host_reads_what_the_generator_found() -> None:
    assert train.members() == members()


@pytest.mark.req("M124")
def test_every_capability_package_of_the_train_is_in_it() -> None:
    listed = {row["distribution"] for row in members()}

    assert {path.parent.name for path in ROOT.glob("plugins/loopx-capability-*/pyproject.toml")} <= listed


def test_a_package_more_edits_no_module_of_core() -> None:
    names = {row["distribution"] for row in members()}
    core = ROOT / "loopx_host"
    sources = {str(path.relative_to(core)): path.read_text(encoding="utf-8") for path in core.rglob("*.py")}

    naming = {path for path, source in sources.items() if any(name in source for name in names)}

    assert {path for path in naming if not path.startswith("cli/")} == set()  # the help has examples
