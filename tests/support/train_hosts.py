"""The host in throw-away environments of its own, made of wheels."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from loopx_host.adapters.packages.train import members
from tests.support.cli import Loopx
from tests.support.lifecycle import make_venv, pip

TRAIN = members()


class Host(Loopx):
    """The host in an environment of its own; each test has its own state."""

    def __init__(self, root: Path, wheels: list[Path]) -> None:
        super().__init__(root)
        self.scripts = make_venv(root / "venv")
        python = self.scripts / "python"
        pip("--python", str(python), "install", *map(str, wheels))
        self.site: Path = next((root / "venv/lib").glob("python*/site-packages"))

    def command(self, *words_: str | bytes, options: bool = True) -> list[str | bytes]:
        return [str(self.scripts / "loopx"), *super().command(*words_, options=options)[1:]]

    def listed(self) -> dict[str, dict[str, Any]]:
        """Return the rows of ``capability list`` by id."""
        answer = self("capability", "list")
        assert answer.status == 0, answer
        return {row["id"]: row for row in answer.document["capabilities"]}

    def trust_all(self) -> None:
        for one in TRAIN:
            answer = self("extension", "install", one["extension_id"], "--execute")
            assert answer.status == 0, answer
