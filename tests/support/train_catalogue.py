"""loopx_host/registry/train.json, written from the distributions of the release train in plugins/.

``python -m tests.support.train_catalogue`` writes it anew; a test compares the two. A core without packages says by
it what is missing and how to get it (requirement M124).
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import tomli

from loopx_host.adapters.files.manifest_folder import open_manifest
from loopx_host.registry.load import load
from loopx_host.registry.offers import declares

if TYPE_CHECKING:
    from loopx_host.registry.catalog import TrainMember

ROOT = Path(__file__).parents[2]
CATALOGUE = ROOT / "loopx_host" / "registry" / "train.json"
_EXTENSIONS, _COMMANDS = "loopx.extensions", "loopx.commands"


def members() -> list[TrainMember]:
    """Return a row per extension that a distribution of the train carries, by distribution and id."""
    rows: list[TrainMember] = []
    for project in sorted(ROOT.glob("plugins/*/pyproject.toml")):
        described = tomli.loads(project.read_text(encoding="utf-8"))["project"]
        entry_points = described.get("entry-points", {})
        for extension_id, package in sorted(entry_points.get(_EXTENSIONS, {}).items()):
            path = project.parent / "src" / package.replace(".", "/") / "extension.toml"
            manifest = load(*open_manifest(str(path)))
            rows.append(
                {
                    "distribution": described["name"],
                    "version": manifest.version,
                    "extension_id": extension_id,
                    "commands": sorted(entry_points.get(_COMMANDS, {})),
                    "declares": declares(manifest),
                }
            )
    return rows


def text() -> str:
    """Return the file."""
    return json.dumps(members(), indent=2, ensure_ascii=False, sort_keys=True) + "\n"


if __name__ == "__main__":
    CATALOGUE.write_text(text(), encoding="utf-8")
