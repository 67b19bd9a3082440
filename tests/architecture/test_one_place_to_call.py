"""A provider gets a request from one place in the code; whatever else starts a process has its reason here."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "loopx_host"
# Who runs a launch through the process port, and why it is no second way to call a provider.
STARTERS = {
    "lifecycle/dispatch/call_provider.py": "sends a provider a request",
    "lifecycle/extensions/probe.py": "runs the doctor, which proves and gets no request",
    "authoring/subject.py": "holds a provider that nobody trusted yet to the rules",
    "adapters/packages/programs.py": "asks a prerequisite for its version",
}


def starts(source: str) -> bool:
    """Whether a module calls `run` of something called `processes`."""
    calls = (node.func for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call))
    return any(
        isinstance(function, ast.Attribute)
        and function.attr == "run"
        and ast.unparse(function.value).rpartition(".")[2].strip("_") == "processes"
        for function in calls
    )


def test_a_process_is_started_through_the_port_in_few_places_each_with_a_reason() -> None:
    found = {
        str(path.relative_to(PACKAGE)) for path in PACKAGE.rglob("*.py") if starts(path.read_text(encoding="utf-8"))
    }

    assert found == set(STARTERS)


@pytest.mark.parametrize(
    "planted", ["processes.run(launch)", "ports.processes.run(launch)", "self._processes.run(x)"]
)
def test_a_further_place_would_be_seen(planted: str) -> None:
    assert starts(planted)
