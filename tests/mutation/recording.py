"""Which functions each test runs: noted by a call that stands at the beginning of every function of the package."""

from __future__ import annotations

import ast
import builtins
import json
import os
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import pytest

from tests.mutation.loading import rewritten
from tests.mutation.operators import is_body
from tests.mutation.processes import PACKAGE, PASSED, in_child, run_tests
from tests.support.project_files import ROOT, syntax

RAN, LOADING = "__mutation_ran__", "__mutation_loading__"


@dataclass(frozen=True)
class Recorded:
    """What ran unchanged: the seconds of each test, the tests of each function, what ran while loading."""

    seconds: dict[str, float]
    tests: dict[str, frozenset[str]]  # "path:function" → tests
    at_import: frozenset[str]

    def tests_of(self, path: str, function: str) -> list[str]:
        """Return the tests that a change in a function can fail, those first that run little else.

        What runs while a module is loaded can fail every test that runs anything of the module, or of one that
        imports it.
        """
        name = f"{path}:{function}"
        if is_body(function) or name in self.at_import:
            paths = {path, *self._importers[path]}
            found = {test for ran, tests in self.tests.items() if ran.partition(":")[0] in paths for test in tests}
        else:
            found = set(self.tests.get(name, ()))
        return sorted(found, key=lambda test: (self._breadth[test], self.seconds[test], test))

    @cached_property
    def _breadth(self) -> Counter[str]:
        """How many functions each test runs."""
        return Counter(test for tests in self.tests.values() for test in tests)

    @cached_property
    def _importers(self) -> defaultdict[str, set[str]]:
        found: defaultdict[str, set[str]] = defaultdict(set)
        for source in (ROOT / PACKAGE).rglob("*.py"):
            for node in ast.walk(syntax(source)):
                if isinstance(node, ast.ImportFrom) and node.module:
                    for name in (node.module, *(f"{node.module}.{one.name}" for one in node.names)):
                        found[f"{name.replace('.', '/')}.py"].add(source.relative_to(ROOT).as_posix())
        return found


def instrumented(path: str, source: str) -> str:
    """Return the source with a note at the beginning of each function, and notes around the whole."""
    tree = ast.parse(source)
    for node in tree.body:
        for inner in node.body if isinstance(node, ast.ClassDef) else [node]:
            if isinstance(inner, (ast.FunctionDef, ast.AsyncFunctionDef)):
                prefix = f"{node.name}." if isinstance(node, ast.ClassDef) else ""
                place = _start(inner.body)
                inner.body[place:place] = ast.parse(f"{RAN}({f'{path}:{prefix}{inner.name}'!r})").body
    start = _start(tree.body)
    tree.body[start:start] = ast.parse(f"{LOADING}(1)").body
    tree.body += ast.parse(f"{LOADING}(-1)").body
    return ast.unparse(tree)


def _start(body: list[ast.stmt]) -> int:
    """Return the place after the documentation and the imports from the future."""
    place = 0
    if isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant):
        place = 1
    while place < len(body) and ast.unparse(body[place]).startswith("from __future__"):
        place += 1
    return place


class _Notes:
    """What ran since the set was last taken away, and what runs while a module is loaded."""

    def __init__(self) -> None:
        self.ran: set[str] = set()
        self.at_import: set[str] = set()
        self.loading = 0

    def run(self, name: str) -> None:
        (self.at_import if self.loading else self.ran).add(name)

    def load(self, change: int) -> None:
        self.loading += change

    def taken(self) -> set[str]:
        ran, self.ran = self.ran, set()
        return ran


class _Plugin:
    """Collecting, and fixtures that several tests share, are counted to every test of their file."""

    def __init__(self, notes: _Notes, result: Path) -> None:
        self.notes, self.result = notes, result
        self.of_file: defaultdict[str, set[str]] = defaultdict(set)
        self.of_test: dict[str, set[str]] = {}
        self.seconds: dict[str, float] = {}

    @pytest.hookimpl(wrapper=True)
    def pytest_make_collect_report(self, collector: pytest.Collector) -> Generator[None, object, object]:
        made = yield
        self.of_file[_file(collector.nodeid)] |= self.notes.taken()
        return made

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(
        self, fixturedef: pytest.FixtureDef[object], request: pytest.FixtureRequest
    ) -> Generator[None, object, object]:
        before = self.notes.taken()
        made = yield
        if fixturedef.scope != "function":
            self.of_file[_file(request.node.nodeid)] |= self.notes.ran
        self.notes.ran |= before
        return made

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        self.notes.taken()
        started = time.monotonic()
        done = yield
        self.seconds[item.nodeid] = time.monotonic() - started
        self.of_test[item.nodeid] = self.notes.taken()
        return done

    def pytest_sessionfinish(self) -> None:
        tests: defaultdict[str, list[str]] = defaultdict(list)
        for test, ran in self.of_test.items():
            for name in ran | self.of_file[_file(test)]:
                tests[name].append(test)
        told = {"seconds": self.seconds, "tests": tests, "at_import": sorted(self.notes.at_import)}
        self.result.write_text(json.dumps(told), "utf-8")


def _file(nodeid: str) -> str:
    return nodeid.partition("::")[0]


def record(tests: Sequence[str], result: Path) -> None:
    """Run the tests on the package as it is, write what ran. Raises SystemExit with their output when one fails."""
    with tempfile.TemporaryDirectory(prefix="mutation-") as place:
        log = Path(place, "log")
        child = in_child(lambda: _recording(tests, result, Path(place, "tmp")), log)
        if os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) != PASSED:
            raise SystemExit(log.read_text("utf-8", "replace"))


def recorded(result: Path) -> Recorded:
    """Return what `record` wrote."""
    told = json.loads(result.read_text("utf-8"))
    by_name = {name: frozenset(names) for name, names in told["tests"].items()}
    return Recorded(told["seconds"], by_name, frozenset(told["at_import"]))


def _recording(tests: Sequence[str], result: Path, scratch: Path) -> int:
    notes = _Notes()
    setattr(builtins, RAN, notes.run)
    setattr(builtins, LOADING, notes.load)
    rewritten(PACKAGE, instrumented)
    return run_tests(tests, [_Plugin(notes, result)], f"--basetemp={scratch}", "-o", "timeout=0")
