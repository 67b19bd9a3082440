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
    """A mutant of the module at `path`, the tests that judge it, in their order, and how long that may take."""

    key: Any
    path: str
    source: str
    tests: Sequence[str]
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
        running: dict[int, tuple[Job, Path, float]] = {}
        for job in jobs:
            if not job.tests:
                yield job, "survived"
                continue
            while not free:
                yield from _ended(running, free)
            slot = free.pop()
            slot.mkdir(exist_ok=True)
            child = in_child(lambda job=job, slot=slot: _judge(job, known, slot), slot / "log")  # type: ignore[misc]
            running[child] = (job, slot, time.monotonic() + job.seconds)
        while running:
            yield from _ended(running, free)


def _judge(job: Job, known: frozenset[str], slot: Path) -> int:
    rewritten(PACKAGE, lambda path, _: job.source if path == job.path else None)
    files = list(dict.fromkeys(test.partition("::")[0] for test in job.tests))
    return run_tests(files, [_Selection(job.tests, known)], "-x", f"--basetemp={slot / 'tmp'}")


def _ended(running: dict[int, tuple[Job, Path, float]], free: list[Path]) -> Iterator[tuple[Job, str]]:
    for child, (job, slot, deadline) in list(running.items()):
        pid, status = os.waitpid(child, os.WNOHANG)
        is_late = pid == 0 and time.monotonic() > deadline
        if is_late:
            os.killpg(child, signal.SIGKILL)
            os.waitpid(child, 0)
        if pid or is_late:
            del running[child]
            free.append(slot)
            yield job, "timeout" if is_late else _verdict(os.waitstatus_to_exitcode(status), slot)
    time.sleep(POLL_SECONDS)


def _verdict(status: int, slot: Path) -> str:
    shutil.rmtree(slot / "tmp", ignore_errors=True)
    if status == PASSED:
        return "survived"
    if status in {FAILED, BROKEN} or status < 0:
        return "killed"
    raise SystemExit((slot / "log").read_text("utf-8", "replace"))
