"""Do the fast tests notice small wrong changes? `python -m tests.mutation.run loopx_host/registry --sample 200`.

First the tests run once, unchanged, and each is noted with the functions it runs. Then every mutant is loaded instead
of its module in a process of its own, and only the tests that run its function are run, the most special ones
first, until one fails. No file is changed, so a test that starts another interpreter sees the module as it is. A
survivor that docs/reference/mutation.md lists with its reason is accepted; any other makes the exit status 1.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterable
from pathlib import Path

from tests.mutation.operators import Mutant, mutants
from tests.mutation.processes import Job, load_libraries, run_all
from tests.mutation.recording import Recorded, record, recorded
from tests.support.project_files import ROOT

PAGE = ROOT / "docs/reference/mutation.md"
TESTS = ("tests/unit", "tests/contract", "tests/property")
FIRST = 60  # so many tests, those that run little else, are asked before the others
SECONDS, TIMES = 15.0, 6.0  # what a mutant may take beyond its tests, and how much slower than they were


def accepted(page: str) -> set[tuple[str, str, str]]:
    """Return module, function and change of every survivor that the page gives a reason for."""
    rows = (line.split(" | ") for line in page.splitlines() if line.startswith("| loopx_host/"))
    return {(cells[0].removeprefix("| "), cells[1], cells[2]) for cells in rows if len(cells) > 3}


def chosen(paths: Iterable[str], sample: int, seed: int) -> list[tuple[str, Mutant]]:
    """Return mutants of the modules at or below `paths`: all, or at most `sample` of each module, by `seed`."""
    found: list[tuple[str, Mutant]] = []
    for path in paths:
        place = ROOT / path
        for module in sorted(place.rglob("*.py")) if place.is_dir() else [place]:
            name = module.relative_to(ROOT).as_posix()
            every = list(mutants(module.read_text("utf-8")))
            some = random.Random(f"{seed} {name}").sample(every, sample) if 0 < sample < len(every) else every
            found += [(name, one) for one in sorted(some, key=lambda one: one.line)]
    return found


def jobs(rows: list[tuple[str, Mutant]], found: Recorded) -> Iterable[Job]:
    for name, mutant in rows:
        tests = found.tests_of(name, mutant.function)
        seconds = SECONDS + TIMES * sum(found.seconds[test] for test in tests)
        groups = [group for group in (tests[:FIRST], tests[FIRST:]) if group]
        yield Job((name, mutant), name, mutant.source, groups, seconds)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("paths", nargs="+", help="modules or folders of the package")
    parser.add_argument("--sample", type=int, default=0, help="at most so many mutants of each module; 0 is all")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--tests", nargs="+", default=TESTS)
    parser.add_argument("--recorded", type=Path, help="where the first run is kept, and taken from when it is there")
    parser.add_argument("--results", type=Path, help="a file that gets one JSON line per mutant")
    given = parser.parse_args()
    started = time.monotonic()
    rows = chosen(given.paths, given.sample, given.seed)
    load_libraries()
    with tempfile.TemporaryDirectory(prefix="mutation-") as place:
        kept = given.recorded or Path(place, "recorded.json")
        if not kept.exists():
            record(given.tests, kept)
        found = recorded(kept)
    print(f"{len(rows)} mutants, {len(found.seconds)} tests, {sum(found.seconds.values()):.0f} s of them")
    known, survivors = accepted(PAGE.read_text("utf-8") if PAGE.exists() else ""), 0
    counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for job, verdict in run_all(jobs(rows, found), frozenset(found.seconds), given.jobs):
        name, mutant = job.key
        is_accepted = verdict == "survived" and (name, mutant.function, mutant.change) in known
        said = "accepted" if is_accepted else verdict
        counts[name][said] += 1
        if said == "survived":
            survivors += 1
            print(
                f"{name}:{mutant.line} {mutant.function}: {mutant.change} ({sum(map(len, job.groups))} tests)",
                flush=True,
            )
        if given.results:
            line = {"module": name, "line": mutant.line, "function": mutant.function, "change": mutant.change}
            with given.results.open("a", encoding="utf-8") as opened:
                opened.write(json.dumps({**line, "verdict": said, "tests": sum(map(len, job.groups))}) + "\n")
    print("\n| module | mutants | killed | accepted | survived |\n|---|---|---|---|---|")
    for name, of in sorted(counts.items()):
        killed = of["killed"] + of["timeout"]
        print(f"| {name} | {sum(of.values())} | {killed} | {of['accepted']} | {of['survived']} |")
    print(f"\n{time.monotonic() - started:.0f} s")
    return 1 if survivors else 0


if __name__ == "__main__":
    sys.exit(main())
