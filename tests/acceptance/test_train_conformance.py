"""Every package of the train is held to the rules that strangers' packages are held to, by the testing kit."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from tests.support.cli import Loopx
from tests.support.project_files import ROOT

pytestmark = pytest.mark.timeout(180)

MANIFESTS = sorted((ROOT / "plugins").glob("*/src/*/extension.toml"))
# A sink writes: there is no request that it could be tried with.
WITHOUT_EXAMPLE = {"loopx_sink_directory", "loopx_sink_smtp"}


@pytest.mark.parametrize("manifest", MANIFESTS, ids=[path.parent.name for path in MANIFESTS])
def test_a_package_of_the_train_passes_the_kit(tmp_path: Path, manifest: Path) -> None:
    answer = Loopx(tmp_path / "loopx")("extension", "conformance", str(manifest), "--execute")

    counted = Counter(row["status"] for row in answer.document["rules"])
    assert (answer.status, answer.document["ok"]) == (0, True), answer
    assert set(counted) <= {"passed", "skipped"}
    if manifest.parent.name not in WITHOUT_EXAMPLE:
        assert counted["skipped"] <= 1


def test_every_package_that_offers_an_extension_is_here() -> None:
    offering = [path for path in (ROOT / "plugins").iterdir() if "loopx.extensions" in _project(path)]

    assert len(MANIFESTS) == len(offering) >= 5


def _project(folder: Path) -> str:
    path = folder / "pyproject.toml"
    return path.read_text("utf-8") if path.exists() else ""
