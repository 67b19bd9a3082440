"""Print, as JSON, how long what an animal leaves behind lives: ``measure.py [--trials N] [--level LEVEL]…``.

One row per animal, method and level: trials, survivors, and the time from the end of the leader (or from the SIGKILL
of the host) until the last process was gone, median and greatest in milliseconds.
"""

from __future__ import annotations

import argparse
import json
import os
import select
import signal
import statistics
import sys
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.support import zoo
from tests.support.cli import finish
from tests.support.zoo import C, Grounds, Keeper

WAYS = ("port", "command line", "embedded", "command line killed", "embedded killed")
MILLISECONDS = 1000.0


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--trials", type=int, default=5, help="for each animal, method and level")
    options.add_argument("--level", action="append", choices=zoo.RUNGS, help="one or more; default: contained")
    options.add_argument("--animal", action="append", choices=zoo.SURVIVORS, help="one or more; default: all")
    options.add_argument("--table", action="store_true", help="rows of a page, one for each method and level")
    chosen = options.parse_args()
    with zoo.grounds() as grounds:
        rows = [
            measured(grounds, way, level, animal, chosen.trials)
            for level in chosen.level or ["contained"]
            for way in WAYS
            for animal in chosen.animal or zoo.SURVIVORS
        ]
    print(table(rows) if chosen.table else json.dumps({"processors": os.cpu_count(), "rows": rows}, indent=1))
    return 1 if any(row["survivors"] for row in rows) else 0


def table(rows: list[dict[str, Any]]) -> str:
    """Return the rows of the page of containment: over all animals, by level and method."""
    lines = []
    for level, way in dict.fromkeys((row["level"], row["method"]) for row in rows):
        own = [row for row in rows if (row["level"], row["method"]) == (level, way)]
        trials, survivors = (sum(row[key] for row in own) for key in ("trials", "survivors"))
        median, most = statistics.median(row["median_ms"] for row in own), max(row["max_ms"] for row in own)
        lines.append(f"| `{level}` | {way} | {trials} | {survivors} | {median:.1f} | {most:.1f} |")
    return "\n".join(lines)


def measured(grounds: Grounds, way: str, level: str, animal: str, trials: int) -> dict[str, Any]:
    """Return the row of some trials."""
    times, survivors = [], 0
    for _ in range(trials):
        mark = zoo.new_mark()
        milliseconds, left = one_trial(grounds, way, level, animal, mark)
        times.append(milliseconds)
        survivors += left
        zoo.exterminate(mark)
    return {
        "animal": animal,
        "method": way,
        "level": level,
        "trials": trials,
        "survivors": survivors,
        "median_ms": round(statistics.median(times), 1),
        "max_ms": round(max(times), 1),
    }


def one_trial(grounds: Grounds, way: str, level: str, animal: str, mark: str) -> tuple[float, int]:
    """Return the milliseconds until the last process was gone, and how many were left."""
    who = zoo.people()[0]
    request = {"animal": animal, "stay": "yes"}
    if way.startswith("command line"):
        guest = grounds.guest(C, who)
        host = guest.start_run("zoo", request, env={"ZOO_MARK": mark, "LOOPX_CONTAINMENT": level})
        taken = killed(mark, host.pid) if way.endswith("killed") else ended(mark)
        finish(host)
        return taken
    if way.endswith("killed"):
        keeper = Keeper("host", level, grounds.person(who), {**grounds.env("host", C, who), "ZOO_MARK": mark})
        keeper.order(extension="zoo", mark=mark, request=request)
        taken = killed(mark, keeper.process.pid)
        keeper.close()
        return taken
    keeper = grounds.keeper("port" if way == "port" else "host", C, level, who)
    argv = grounds.argv(C, who)
    keeper.order(argv=argv, reads=argv, extension="zoo", mark=mark, request=request)
    taken = ended(mark)
    keeper.result()
    return taken


def ended(mark: str) -> tuple[float, int]:
    """Let the leader end; return how long its descendants outlived it, and how many still do."""
    leader = zoo.ready(mark)
    process = os.pidfd_open(leader)
    os.kill(leader, signal.SIGUSR1)
    waiter = select.poll()
    waiter.register(process, select.POLLIN)
    waiter.poll()
    began = time.perf_counter()
    os.close(process)
    deadline = began + zoo.PATIENCE_SECONDS
    while (left := len(animals(mark))) and time.perf_counter() < deadline:
        pass
    return (time.perf_counter() - began) * MILLISECONDS, left


def killed(mark: str, host: int) -> tuple[float, int]:
    """Kill the host with its leader standing; return how long anything outlived it, and how much still does."""
    zoo.ready(mark)
    began = time.perf_counter()
    os.kill(host, signal.SIGKILL)
    left = len([pid for pid in zoo.left_after(mark) if pid != host])
    return (time.perf_counter() - began) * MILLISECONDS, left


def animals(mark: str) -> list[int]:
    """Return what lives of a trial without its host and supervisor, which are Python."""
    return [pid for pid in zoo.living(mark) if "python" not in program(pid)]


def program(pid: int) -> str:
    try:
        return str(Path(f"/proc/{pid}/exe").readlink().name)
    except OSError:
        return ""


if __name__ == "__main__":
    sys.exit(main())
