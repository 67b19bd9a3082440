"""loopx_host/registry/train.py, written from the distributions of the release train in plugins/.

``python -m tests.support.train_catalogue`` writes the module anew; a test compares the two.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import tomli

from loopx_host.adapters.files.manifest_folder import open_manifest
from loopx_host.registry.load import load
from loopx_host.registry.offers import declares

ROOT = Path(__file__).parents[2]
MODULE = ROOT / "loopx_host" / "registry" / "train.py"
_EXTENSIONS, _COMMANDS = "loopx.extensions", "loopx.commands"
_HEAD = '''\
"""The catalogue of the release train: what could be installed beside the core, with its capabilities and commands.

Written by ``python -m tests.support.train_catalogue`` from `plugins/`; do not edit it by hand. It is what lets a
core without packages say what is missing and how to get it (requirement M124).
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

'''


def members() -> list[dict[str, Any]]:
    """Return a row per extension that a distribution of the train carries, by distribution and id."""
    rows = []
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
    """Return the module."""
    rows = "".join(f"    {_literal(row, 1)},\n" for row in members())
    return f"{_HEAD}TRAIN: tuple[dict[str, Any], ...] = (\n{rows})\n"


def _literal(value: object, depth: int) -> str:
    """Return a value as the formatter would write it: one entry a line, double quotes, a comma after the last."""
    inner, outer = "    " * (depth + 1), "    " * depth
    if isinstance(value, dict) and value:
        rows = (f"{inner}{_literal(key, 0)}: {_literal(one, depth + 1)},\n" for key, one in sorted(value.items()))
        return "{\n" + "".join(rows) + outer + "}"
    if isinstance(value, list) and value:
        rows = (f"{inner}{_literal(one, depth + 1)},\n" for one in value)
        return "[\n" + "".join(rows) + outer + "]"
    return json.dumps(value, ensure_ascii=False) if isinstance(value, str) else repr(value)


if __name__ == "__main__":
    MODULE.write_text(text(), encoding="utf-8")
