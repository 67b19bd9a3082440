"""Node from the extra of the host, the real wheel, serves the example in JavaScript where PATH has none (M108)."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.cli import Loopx
from tests.support.lifecycle import ROOT, build_wheel, make_venv, pip

EXIT_UNAVAILABLE = 69
EXAMPLE = "loopx-node-word-count"

pytestmark = [
    pytest.mark.timeout(500),
    pytest.mark.skipif(os.environ.get("CI") != "true", reason="the wheel has 61 MB; CI fetches it once"),
]


class Host(Loopx):
    """The host from its wheel in an environment that is all of PATH, at the default level."""

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        self.scripts = make_venv(root / "venv")
        self.wheel = build_wheel(ROOT, root / "dist")
        self.env["PATH"] = str(self.scripts)

    def command(self, *words: str | bytes, options: bool = True) -> list[str | bytes]:
        return [str(self.scripts / "loopx"), *super().command(*words, options=options)[1:]]

    def pip_install(self, extra: str = "") -> None:
        pip("--python", str(self.scripts / "python"), "install", f"{self.wheel}{extra}")


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Host]:
    made = Host(tmp_path_factory.mktemp("node"))
    yield made
    shutil.rmtree(made.scripts.parent)  # Node unpacked is larger than all else that is kept of the last runs


@pytest.mark.req("B11", "M108")
def test_the_extra_of_the_host_brings_the_node_that_a_provider_needs(host: Host, tmp_path: Path) -> None:
    folder = shutil.copytree(ROOT / "examples/node-provider", tmp_path / "example")
    request = (folder / "examples/request.json").read_bytes()
    host.pip_install()
    without = host.install(folder / "extension.toml")

    host.pip_install("[runtime]")
    installed = host.install(folder / "extension.toml")
    ran = host.run(EXAMPLE, request)

    assert (without.status, without.code) == (EXIT_UNAVAILABLE, "node_unavailable")
    assert installed.status == 0, installed
    assert (ran.status, ran.document["provider_result"]["words"]) == (0, 11), ran
    assert ran.document["containment"]["rung"] == "contained"
