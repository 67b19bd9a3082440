"""`loopx COMMAND --help` of each package of the train that brings a command: it is answered, and nothing is started.

Row M050, over the packages as this environment has them and as the train's catalogue lists them.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from loopx_host.adapters.packages.train import members
from tests.support.cli import Loopx
from tests.support.packages import needs_strace, traced
from tests.support.project_files import ROOT

pytestmark = pytest.mark.timeout(300)

COMMANDS = {name: one for one in members() for name in one["commands"]}
PLUGINS = ROOT / "plugins"
MODULE = re.compile(r'"[^"]*?/(loopx_[a-z_]+)/(?:__pycache__/)?([a-z_]+)(?:\.cpython-\d+)?\.pyc?"')
# What the help of each command loads of its own package: the module that parses, and what that needs. Nothing that
# serves its hooks (`plugin`, `hooks`) or its provider (`cli`, `__main__`, `process`).
LOADED = {
    "periodic-report": {"__init__", "command", "notes"},
    "repo-health": {"__init__", "command", "request"},
}


@pytest.fixture(scope="module")
def loopx(tmp_path_factory: pytest.TempPathFactory) -> Loopx:
    """The host that trusts every package of the train that brings a command."""
    made = Loopx(tmp_path_factory.mktemp("train"))
    for one in COMMANDS.values():
        answer = made("extension", "install", one["extension_id"], "--execute")
        assert answer.status == 0, answer
    return made


def package_of(name: str) -> str:
    """Return the import package that brings a command."""
    (init,) = (PLUGINS / COMMANDS[name]["distribution"] / "src").glob("*/__init__.py")
    return init.parent.name


def modules_opened(lines: list[str]) -> dict[str, set[str]]:
    """Return the modules of packages below plugins/ that a trace shows opened, by package."""
    ours = {init.parent.name for init in PLUGINS.glob("*/src/*/__init__.py")}
    found: dict[str, set[str]] = {}
    for package, module in (match.groups() for line in lines for match in MODULE.finditer(line)):
        if package in ours:
            found.setdefault(package, set()).add(module)
    return found


def executed(lines: list[str]) -> list[str]:
    """Return the programs that a trace shows started."""
    return [line for line in lines if "execve(" in line]


@pytest.mark.req("M050")
@pytest.mark.parametrize("name", COMMANDS)
def test_the_help_of_a_command_of_the_train_is_answered_without_a_call(name: str, loopx: Loopx) -> None:
    before = loopx.state_file.read_bytes()

    answer = loopx(name, "--help")

    assert (answer.status, answer.document["ok"]) == (0, True)
    assert f"loopx {name}" in answer.document["text"]
    assert answer.document.get("executed", False) is False
    assert loopx.state_file.read_bytes() == before


@needs_strace
@pytest.mark.req("M050")
@pytest.mark.parametrize("name", COMMANDS)
def test_the_help_of_a_command_of_the_train_starts_no_program(name: str, loopx: Loopx) -> None:
    lines = traced(loopx, name, "--help", calls="execve")

    assert len(executed(lines)) == 1, lines  # the command line itself


@needs_strace
@pytest.mark.req("M050")
@pytest.mark.parametrize("name", COMMANDS)
def test_the_help_of_a_command_of_the_train_loads_its_parser_and_no_hook_or_provider(name: str, loopx: Loopx) -> None:
    loopx(name, "--help")

    opened = modules_opened(traced(loopx, name, "--help", calls="open,openat,execve"))

    assert {package: modules for package, modules in opened.items() if package != package_of(name)} == {}
    assert opened[package_of(name)] == LOADED[name]


@needs_strace
@pytest.mark.req("M050")
@pytest.mark.parametrize("name", COMMANDS)
def test_the_help_of_a_command_that_nobody_trusts_opens_no_module_of_its_package(name: str, tmp_path: Path) -> None:
    lines = traced(Loopx(tmp_path), name, "--help", calls="open,openat,execve", status=2)

    assert modules_opened(lines) == {}
    assert len(executed(lines)) == 1, lines
