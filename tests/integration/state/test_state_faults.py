"""Every system call of a state change fails or ends the host once; the state is the old one or the new one.

The host alone is traced, not what it starts. `FAULTS=all` injects at every call of each kind; otherwise at all
calls since the state file was read for the last time before it is replaced, and at a sample of those before.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from tests.support.cli import PATIENCE_SECONDS, Answer, Loopx
from tests.support.lifecycle import Subject, drafts, installed

STRACE = shutil.which("strace")
pytestmark = pytest.mark.skipif(STRACE is None, reason="strace is not installed")

ALL = os.environ.get("FAULTS") == "all"
SAMPLES_BEFORE = 4
# Most calls of this kind are the interpreter looking for modules; every so many is enough for a default run.
STEP = {"newfstatat": 8}
ERRORS = {
    "write": ("ENOSPC", "EIO"),
    "fsync": ("EIO", "ENOSPC"),
    "rename": ("EIO", "ENOSPC"),
    "openat": ("ENOSPC", "EMFILE"),
    "mkdir": ("ENOSPC",),
    "unlink": ("EIO",),
    "rmdir": ("EIO",),
    "fchmod": ("EIO",),
    "chmod": ("EIO",),
    "flock": ("EIO",),
    "close": ("EIO",),
    "read": ("EIO",),
    "newfstatat": ("EIO",),
    "getdents64": ("EIO",),
}
WRITING = {"write", "fsync", "rename"}  # both of their errors are tried in a default run too
TIMES = {"at", "installed_at", "verified_at"}


def traced(loopx: Loopx, words: list[str], *options: str, trace: Path | None = None) -> Answer:
    """Run one command under strace; only the host itself is traced."""
    argv = [str(STRACE), "-o", str(trace or "/dev/null"), *options, *map(str, loopx.command(*words))]
    done = subprocess.run(
        argv,
        input=b"",
        capture_output=True,
        env={**loopx.env, "PYTHONDONTWRITEBYTECODE": "1"},
        timeout=PATIENCE_SECONDS,
        check=False,
    )
    if b"Operation not permitted" in done.stderr and b"ptrace" in done.stderr:
        pytest.skip("tracing is not permitted here")
    return Answer(done.returncode, done.stdout, done.stderr)


class Case:
    """One kind of state change, in a fresh copy of the same place for every point."""

    def __init__(self, loopx: Loopx, words: list[str]) -> None:
        self.loopx = loopx
        self.words = words
        self.before = loopx.state_file.read_bytes()
        self.template = loopx.root / "template"
        self.template.mkdir()
        for path in loopx.root.glob("state.json*"):
            path.rename(self.template / path.name)
        self.number = 0

    def place(self, name: str) -> Loopx:
        """Return the command line with its own copy of the state file."""
        folder = self.loopx.root / name
        shutil.copytree(self.template, folder)
        made = Loopx.__new__(Loopx)
        made.__dict__.update(self.loopx.__dict__)
        made.state_file = folder / "state.json"
        return made

    def rehearse(self) -> tuple[dict[str, tuple[int, int]], Any]:
        """Return, per system call, (calls before the state file is locked, calls in all), and the new state."""
        assert traced(self.place("warming"), self.words).status == 0  # so that the caches are as full as later
        place = self.place("rehearsal")
        trace = self.loopx.root / "trace"
        assert traced(place, self.words, trace=trace).status == 0
        calls: Counter[str] = Counter()
        before: dict[str, int] | None = None
        for line in trace.read_text("utf-8", "replace").splitlines():
            name = line.partition("(")[0]
            if before is None and f'"{place.state_file}.lock"' in line:
                before = dict(calls)
            calls[name] += 1
        assert before is not None
        found = before
        return {name: (found.get(name, 0), calls[name]) for name in ERRORS}, timeless(place)

    def points(self, calls: dict[str, tuple[int, int]]) -> Iterator[tuple[str, str, int]]:
        """Yield (system call, fault, number of the call)."""
        for name, (before, total) in calls.items():
            samples = {1 + before * step // SAMPLES_BEFORE for step in range(SAMPLES_BEFORE)} if before else set()
            numbers = (
                range(1, total + 1) if ALL else sorted({*samples, *range(before + 1, total + 1, STEP.get(name, 1))})
            )
            errors = ERRORS[name] if ALL or name in WRITING else ERRORS[name][:1]
            faults = [*(f"error={error}" for error in errors), "signal=KILL"]
            yield from ((name, fault, number) for fault in faults for number in numbers)

    def try_point(self, point: tuple[str, str, int], new: Any) -> tuple[str, list[str]]:
        """Inject one fault; return what the state is afterwards and what is wrong about it."""
        name, fault, number = point
        place = self.place(f"{name}-{fault}-{number}")
        answer = traced(place, self.words, "-e", f"trace={name}", "-e", f"inject={name}:{fault}:when={number}")
        wrong: list[str] = []
        state = "old" if place.state_file.read_bytes() == self.before else "new"
        if state == "new" and timeless(place) != new:
            wrong.append("the state is neither the old one nor the new one")
        if answer.status == 0 and state != "new":
            wrong.append("success was reported, but the state is the old one")
        following = place("extension", "disable", "bystander", "--execute")
        if following.status != 0:
            wrong.append(f"the next command fails: {following!r}")
        wrong += [f"left over: {one}" for one in left_over(place.state_file)]
        if not wrong:
            shutil.rmtree(place.state_file.parent)
        return state, wrong


def timeless(loopx: Loopx) -> Any:
    """Return the state without what depends on the moment."""

    def strip(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: strip(item) for key, item in value.items() if key not in TIMES}
        return [strip(item) for item in value] if isinstance(value, list) else value

    try:
        return strip(json.loads(loopx.state_file.read_bytes()))
    except (OSError, ValueError) as error:
        return repr(error)


def left_over(state_file: Path) -> list[str]:
    """Return temporary files, and schemas that no revision refers to."""
    found = drafts(state_file.parent)
    schemas = Path(f"{state_file}.d/schemas")
    if schemas.is_dir():
        text = state_file.read_text("utf-8")
        found += [path.name for path in schemas.iterdir() if path.name.removesuffix(".json") not in text]
    return found


def with_schema(subject: Subject, version: str) -> str:
    path = subject.manifest(version, request_schema="request.json")
    (path.parent / "request.json").write_text(json.dumps({"title": version}), encoding="ascii")
    return str(path)


def prepare_disable(loopx: Loopx) -> list[str]:
    return ["extension", "disable", installed(loopx).id, "--execute"]


def prepare_upgrade(loopx: Loopx) -> list[str]:
    subject = installed(loopx)
    return ["extension", "upgrade", "--manifest", with_schema(subject, "2.0"), "--execute"]


def prepare_install(loopx: Loopx) -> list[str]:
    return ["extension", "install", "--manifest", with_schema(Subject(loopx), "1.0"), "--execute"]


CHANGES = {"disable": prepare_disable, "upgrade": prepare_upgrade, "install": prepare_install}


@pytest.mark.timeout(3600 if ALL else 240)
@pytest.mark.parametrize("change", CHANGES)
def test_a_fault_at_any_system_call_leaves_the_old_state_or_the_new_one(tmp_path: Path, change: str) -> None:
    loopx = Loopx(tmp_path)
    installed(loopx, extension_id="bystander")
    case = Case(loopx, CHANGES[change](loopx))
    calls, new = case.rehearse()
    points = list(case.points(calls))

    with ThreadPoolExecutor(2) as workers:
        results = list(workers.map(lambda point: case.try_point(point, new), points))

    rows: dict[tuple[str, str], Counter[str]] = {}
    for (name, fault, _), (state, wrong) in zip(points, results, strict=True):
        rows.setdefault((name, fault), Counter()).update([state, "violation"] if wrong else [state])
    print(f"\n{change}: {len(points)} points injected")
    for (name, fault), counted in rows.items():
        print(
            f"  {name:<11} {fault:<13} old {counted['old']:>4}  new {counted['new']:>4}  bad {counted['violation']}"
        )
    assert len(points) > 50
    assert {point: wrong for point, (_, wrong) in zip(points, results, strict=True) if wrong} == {}
    assert {state for state, _ in results} == {"old", "new"}


def test_a_change_syncs_the_file_then_renames_it_then_syncs_the_directory(tmp_path: Path) -> None:
    """state_durable (case 105)."""
    loopx = Loopx(tmp_path)
    words = prepare_disable(loopx)
    trace = tmp_path / "trace"

    answer = traced(loopx, words, "-y", "-e", "trace=fsync,fdatasync,rename,renameat,renameat2", trace=trace)

    assert answer.status == 0, answer
    draft = re.escape(f"{tmp_path}/.state.json.") + r"[0-9a-f]{16}\.tmp"
    durable = (
        rf"fsync\(\d+<{draft}>\) += 0",
        rf'rename\("{draft}", "{re.escape(str(loopx.state_file))}"\) += 0',
        rf"fsync\(\d+<{re.escape(str(tmp_path))}>\) += 0",
    )
    lines = [line for line in trace.read_text("ascii").splitlines() if not line.startswith("+++")]
    # These three and no other: a change costs two syncs.
    assert [bool(re.fullmatch(one, line)) for one, line in zip(durable, lines, strict=True)] == [True] * 3, lines


def test_schemas_are_durable_before_the_state_that_refers_to_them(tmp_path: Path) -> None:
    loopx = Loopx(tmp_path)
    words = prepare_install(loopx)
    trace = tmp_path / "trace"

    answer = traced(loopx, words, "-y", "-e", "trace=fsync,rename", trace=trace)

    assert answer.status == 0, answer
    lines = trace.read_text("ascii").splitlines()
    places = [
        next(number for number, line in enumerate(lines) if re.search(pattern, line))
        for pattern in (
            r"fsync\(.*/state\.json\.d/schemas/\..*\.tmp>",
            r"rename\(.*/state\.json\.d/schemas/[0-9a-f]{64}\.json",
            r"fsync\(.*/state\.json\.d/schemas>",
            r"rename\(.*/state\.json\"\)",
        )
    ]
    assert places == sorted(places)
