"""Each import contract breaks when its rule is broken, in code or in types alone, seen on a copy of the package."""

from __future__ import annotations

import pytest

from tests.support.import_contracts import RUN_TIME, WITH_TYPES, broken, contracts

LAYERS = "A request travels downward once"
CYCLES = "No cycles, at any depth"
WITHIN_LIFECYCLE = "A goal's call is dispatched to an extension, never the other way"
ROOT_OF_ADAPTERS = "Only the composition root constructs adapters"
COMMANDS = "A command knows nothing of another command"
PACKAGE_ROOT = "Nothing inside imports the package root"
PURE = "Pure layers touch neither files, processes, sockets nor clocks"
ONE_LIBRARY = "Libraries doing the same job twice stay out"
TYPES_DOWN = "Types travel downward too"
TYPES_WITHIN_LIFECYCLE = "Types of a goal's call are not known to the extension it is dispatched to"
TYPE_CYCLES = "No cycles of types, at any depth"
# A contract and what it is called where types count.
TWINS = {LAYERS: TYPES_DOWN, WITHIN_LIFECYCLE: TYPES_WITHIN_LIFECYCLE, CYCLES: TYPE_CYCLES}

# (file of the copy, line added to it, contract that has to break)
VIOLATIONS = {
    "core imports lifecycle": ("core/text.py", "import loopx_host.lifecycle.extensions.state", LAYERS),
    "registry imports cli": ("registry/api.py", "import loopx_host.cli.index", LAYERS),
    "lifecycle imports adapters": ("lifecycle/added.py", "import loopx_host.adapters.clock", LAYERS),
    "adapters import assembly": ("adapters/clock.py", "import loopx_host.assembly.host", LAYERS),
    "a function body imports upward": ("core/text.py", "def up(): import loopx_host.registry.api", LAYERS),
    "a new top-level folder": ("services/__init__.py", '"""A folder nobody decided on."""', LAYERS),
    "a new top-level module": ("services.py", '"""A module nobody decided on."""', LAYERS),
    "two folders import each other": (
        "adapters/files/paths.py",
        "import loopx_host.adapters.packages.launchers",
        CYCLES,
    ),
    "an extension imports dispatch": (
        "lifecycle/extensions/state.py",
        "import loopx_host.lifecycle.dispatch.run",
        WITHIN_LIFECYCLE,
    ),
    "a new folder in lifecycle": ("lifecycle/extra/__init__.py", '"""Undecided."""', WITHIN_LIFECYCLE),
    "a command imports another": (
        "cli/commands/host/doctor.py",
        "import loopx_host.cli.commands.extension.doctor",
        COMMANDS,
    ),
    "cli imports adapters": (
        "cli/commands/extension/run.py",
        "import loopx_host.adapters.files.paths",
        ROOT_OF_ADAPTERS,
    ),
    "the root imports adapters": ("__main__.py", "import loopx_host.adapters.clock", ROOT_OF_ADAPTERS),
    "lifecycle imports the package root": ("lifecycle/added.py", "from loopx_host import __version__", PACKAGE_ROOT),
    "cli imports the package root": ("cli/dispatch.py", "import loopx_host", PACKAGE_ROOT),
    "lifecycle imports os": ("lifecycle/added.py", "import os", PURE),
    "core imports time": ("core/text.py", "import time", PURE),
    "registry imports pathlib": ("registry/load.py", "from pathlib import Path", PURE),
    "registry imports subprocess": ("registry/load.py", "import subprocess", PURE),
    "lifecycle imports socket": ("lifecycle/added.py", "import socket", PURE),
    "authoring imports os": ("authoring/conformance.py", "import os", PURE),
    "authoring makes temporary directories": ("authoring/subject.py", "import tempfile", PURE),
    "adapters import tomllib": ("adapters/clock.py", "import tomllib", ONE_LIBRARY),
    "adapters import filelock": ("adapters/files/lock.py", "import filelock", ONE_LIBRARY),
    "cli imports click": ("cli/dispatch.py", "import click", ONE_LIBRARY),
}
# The same, below TYPE_CHECKING: no other contract notices.
TYPE_VIOLATIONS = {
    "core knows a type of lifecycle": ("core/text.py", "loopx_host.lifecycle.extensions.state", TYPES_DOWN),
    "registry knows a type of adapters": ("registry/api.py", "loopx_host.adapters.clock", TYPES_DOWN),
    "two modules know each other's types": ("core/codes.py", "loopx_host.core.errors", TYPE_CYCLES),
    "an extension knows a type of dispatch": (
        "lifecycle/extensions/state.py",
        "loopx_host.lifecycle.dispatch.run",
        TYPES_WITHIN_LIFECYCLE,
    ),
}
NOTHING = "nothing"

pytestmark = pytest.mark.timeout(300)  # one process judges every change, and a busy machine takes its time


@pytest.fixture(scope="module")
def verdicts(tmp_path_factory: pytest.TempPathFactory) -> dict[str, set[str]]:
    """Return the contracts that each change breaks, and those that no change does."""
    for_types = {
        name: (path, f"TYPE_CHECKING = False\nif TYPE_CHECKING:\n    import {imported}")
        for name, (path, imported, _) in TYPE_VIOLATIONS.items()
    }
    at_run_time = {name: (path, line) for name, (path, line, _) in VIOLATIONS.items()}
    changes = {NOTHING: ("core/text.py", ""), **at_run_time, **for_types}
    return broken(tmp_path_factory.mktemp("copy"), changes)


def test_the_package_keeps_every_contract(verdicts: dict[str, set[str]]) -> None:
    assert verdicts[NOTHING] == set()


@pytest.mark.parametrize("violation", VIOLATIONS)
def test_a_violation_breaks_its_contract(verdicts: dict[str, set[str]], violation: str) -> None:
    contract = VIOLATIONS[violation][-1]

    assert {contract, TWINS.get(contract, contract)} <= verdicts[violation]


@pytest.mark.parametrize("violation", TYPE_VIOLATIONS)
def test_a_violation_by_types_alone_breaks_the_contract_of_types_alone(
    verdicts: dict[str, set[str]], violation: str
) -> None:
    contract = TYPE_VIOLATIONS[violation][-1]

    assert contract in verdicts[violation]
    assert verdicts[violation] <= set(TWINS.values())


def test_every_contract_has_a_violation() -> None:
    broken_by_one = {contract for _, _, contract in (*VIOLATIONS.values(), *TYPE_VIOLATIONS.values())}

    assert broken_by_one == {contract["name"] for config in (RUN_TIME, WITH_TYPES) for contract in contracts(config)}


def test_types_follow_the_layers_of_the_code() -> None:
    at_run_time, with_types = (
        {contract["name"]: contract for contract in contracts(config)} for config in (RUN_TIME, WITH_TYPES)
    )

    assert set(with_types) == set(TWINS.values())
    for name, twin in TWINS.items():
        assert with_types[twin].items() >= {**at_run_time[name], "name": twin}.items()
