"""Worlds in memory where a goal is bound to the operations of one ready provider."""

from __future__ import annotations

import json
from typing import Any

from tests.support.capabilities import profile, provides, result
from tests.support.fakes import Script, World

PERMISSIONS = 'permissions = ["fs.read:repo", "fs.write:repo", "note.read"]'
PLUGINS = {"plugins": [{"name": "probe-me", "value": "made_up.plugin"}]}


def world(*operations: dict[str, Any], script: Script | None = None, **rest: Any) -> World:
    """Return a world where goal g1 is bound to every operation of one ready provider."""
    made = World(script)
    files = {"profile.json": profile(*operations)}
    made.holding(**{"top": PERMISSIONS, "runtime": provides(), "files": files, "pinned": PLUGINS, **rest})
    made.bind(operations=[one["id"] for one in operations] or ["inspect"])
    made.plugins.called.clear()
    made.plugins.asked.clear()
    return made


def answering(made: World, **fields: Any) -> World:
    """Let the provider answer the next call, with some fields of a clean result replaced."""
    said = made.invoke(execute=False)
    made.processes.script = Script(stdout=json.dumps(result(said["invocation_id"], **fields)).encode())
    return made
