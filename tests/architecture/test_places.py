"""Whoever makes, moves, removes or changes a name by its path first made sure that nobody else can swap it."""

from __future__ import annotations

import ast

import pytest

from tests.support.project_files import ROOT

CHANGING = {
    "os": {"chmod", "link", "makedirs", "mkdir", "remove", "removedirs", "rename", "renames", "replace", "rmdir"}
    | {"symlink", "truncate", "unlink", "utime", "chown"},
    "shutil": {"copy", "copy2", "copyfile", "copytree", "move", "rmtree"},
}
# Modules that change names, and what keeps somebody else's directory out of it.
KEPT_BY = {
    "adapters/files/atomic.py": "places.directory",
    "adapters/files/new_tree.py": "places.directory",
    "adapters/files/places.py": "it is the walk itself",
    "adapters/files/projections.py": "places.own",
    "adapters/files/state_store.py": "places.own",
    "adapters/packages/bytecode_store.py": "paths.bytecode",  # below the cache, which `places.holds`
    "adapters/process/attribute_broker.py": "an open file, by its descriptor",
    "adapters/process/bytecode.py": "below what bytecode_store made for it; the source by descriptors",
    "adapters/process/memory_group.py": "the kernel's own hierarchy",
    "adapters/process/private_directory.py": "places.temporary",
}


def changing(text: str) -> set[str]:
    """Return the calls of a module that change names."""
    calls = (node.func for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call))
    return {
        f"{call.value.id}.{call.attr}"
        for call in calls
        if isinstance(call, ast.Attribute)
        and isinstance(call.value, ast.Name)
        and call.attr in CHANGING.get(call.value.id, ())
    }


def test_every_module_that_changes_names_says_what_keeps_them() -> None:
    package = ROOT / "loopx_host"
    found = {
        path.relative_to(package).as_posix()
        for path in package.rglob("*.py")
        if "templates" not in path.parts and changing(path.read_text("utf-8"))
    }

    assert found == set(KEPT_BY)


@pytest.mark.parametrize("module", [name for name, by in KEPT_BY.items() if "." in by.split()[0]])
def test_what_keeps_them_is_called(module: str) -> None:
    assert f"{KEPT_BY[module]}(" in (ROOT / "loopx_host" / module).read_text("utf-8")
