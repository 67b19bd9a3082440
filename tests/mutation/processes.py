"""One process per mutant, forked from one that has the libraries and nothing of the package: quick to start."""

from __future__ import annotations

import importlib
import os
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.mutation.loading import rewritten
from tests.support.project_files import ROOT

PACKAGE = "loopx_host"
# Loaded once, for every process that is forked; nothing of the package is among them.
LIBRARIES = (
    *("hypothesis.stateful", "hypothesis.strategies", "jsonschema", "jsonschema_rs", "importlib_metadata"),
    *("packaging.requirements", "pluggy", "stevedore", "tomli"),
)
PLUGINS = ("pytest_timeout", "_hypothesis_pytestplugin")
# Of a session of pytest: nothing failed, something did, collecting broke, pytest itself broke, nothing was collected.
PASSED, FAILED, BROKEN, INTERNAL, EMPTY = 0, 1, 2, 3, 5
POLL_SECONDS = 0.02


@dataclass(frozen=True)
class Job:
    """A mutant of the module at `path`, and the tests that judge it: in groups, each in a process, until one fails.

    `seconds` is how long a group may take.
    """

    key: Any
    path: str
    source: str
    groups: Sequence[Sequence[str]]
    seconds: float


class _Selection:
    """Keep the tests that were asked for, in their order. Those whose names the mutant made are kept too."""

    def __init__(self, tests: Sequence[str], known: frozenset[str]) -> None:
        self.order, self.known = {test: number for number, test in enumerate(tests)}, known

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        wanted = [item for item in items if item.nodeid in self.order or item.nodeid not in self.known]
        items[:] = sorted(wanted, key=lambda item: self.order.get(item.nodeid, -1))


def load_libraries() -> None:
    """Import what every process needs, before the first is forked."""
    for name in (*PLUGINS, *LIBRARIES):
        importlib.import_module(name)


def run_tests(tests: Sequence[str], plugins: Sequence[object], *flags: str) -> int:
    """Run tests in this process; return the exit status of pytest."""
    os.environ.update({"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "HYPOTHESIS_PROFILE": "mutation"})
    libraries = [importlib.import_module(name) for name in PLUGINS]
    return int(pytest.main(["-q", "-p", "no:cacheprovider", *flags, *tests], plugins=[*libraries, *plugins]))


def in_child(work: Callable[[], int], log: Path) -> int:
    """Do `work` in a forked process group of its own, its output in a file; return the id of the process."""
    sys.stdout.flush()
    child = os.fork()
    if child:
        return child
    status = INTERNAL
    try:
        os.setsid()
        os.chdir(ROOT)
        written = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(written, 1)
        os.dup2(written, 2)
        status = work()
    except BaseException:  # noqa: BLE001 - whatever it is, the parent shows it and this process ends here
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


def run_all(jobs: Iterable[Job], known: frozenset[str], at_once: int) -> Iterator[tuple[Job, str]]:
    """Yield each job with its verdict as it is known: `killed`, `timeout` or `survived`."""
    with tempfile.TemporaryDirectory(prefix="mutation-") as place:
        free = [Path(place) / str(number) for number in range(at_once)]
        running: dict[int, _Run] = {}
        for job in jobs:
            if not job.groups:
                yield job, "survived"
                continue
            while not free:
                yield from _ended(running, free, known)
            _start(running, _Run(job, 0, free.pop()), known)
        while running:
            yield from _ended(running, free, known)


@dataclass
class _Run:
    """A group of a job's tests being run, its output and scratch files in `slot`."""

    job: Job
    group: int
    slot: Path
    deadline: float = 0.0


def _start(running: dict[int, _Run], run: _Run, known: frozenset[str]) -> None:
    run.slot.mkdir(exist_ok=True)
    run.deadline = time.monotonic() + run.job.seconds
    running[in_child(lambda: _judge(run, known), run.slot / "log")] = run


def _judge(run: _Run, known: frozenset[str]) -> int:
    job, tests = run.job, run.job.groups[run.group]
    rewritten(PACKAGE, lambda path, _: job.source if path == job.path else None)
    files = list(dict.fromkeys(test.partition("::")[0] for test in tests))
    return run_tests(files, [_Selection(tests, known)], "-x", f"--basetemp={run.slot / 'tmp'}")


def _ended(running: dict[int, _Run], free: list[Path], known: frozenset[str]) -> Iterator[tuple[Job, str]]:
    for child, run in list(running.items()):
        pid, status = os.waitpid(child, os.WNOHANG)
        is_late = pid == 0 and time.monotonic() > run.deadline
        if is_late:
            os.killpg(child, signal.SIGKILL)
            os.waitpid(child, 0)
        if not pid and not is_late:
            continue
        del running[child]
        verdict = "timeout" if is_late else _verdict(os.waitstatus_to_exitcode(status), run.slot)
        if verdict == "survived" and run.group + 1 < len(run.job.groups):
            _start(running, _Run(run.job, run.group + 1, run.slot), known)
        else:
            free.append(run.slot)
            yield run.job, verdict
    time.sleep(POLL_SECONDS)


def _verdict(status: int, slot: Path) -> str:
    shutil.rmtree(slot / "tmp", ignore_errors=True)
    if status == PASSED:
        return "survived"
    if status in {FAILED, BROKEN} or status < 0:
        return "killed"
    raise SystemExit((slot / "log").read_text("utf-8", "replace"))
