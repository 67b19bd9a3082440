"""Measure the rows of the speed table: ratios within one run, paired and alternating, the first pair dropped.

    python benchmarks/run.py [--pairs 30] [--only NAME] [--json FILE]

Makes virtual environments of its own (byte code compiled), installs the host and the example from wheels, and prints
the table, what each command cost, and the environment it was measured in. Needs no state of the caller's. Memory and
files need a C compiler for a small parent, the rows of Node need Node; without them it says so.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import resource
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))  # started as a script, Python looks beside the script only

from benchmarks import command_line, embedded, packages  # noqa: E402 (needs the line above)
from benchmarks.bench import Bench, Row  # noqa: E402 (the same)

PARTS: dict[str, Callable[[Bench], None]] = {
    "startup": command_line.startup,
    "run": command_line.run,
    "crowd": command_line.crowd,
    "cold": command_line.cold,
    "node": command_line.node,
    "embedded": embedded.embedded,
    "identity": embedded.identity,
    "index": embedded.index_rebuild,
    "capabilities": packages.capabilities,
    "commands": packages.commands,
    "hooks": packages.hooks,
    "memory": command_line.memory,
}
COSTS = ("modules", "peak_kib", "bytes_read", "bytes_written", "reads", "writes")


def environment() -> dict[str, object]:
    """Return what the figures hold for."""
    return {
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        "processors": os.cpu_count(),
        "load_average": [round(value, 2) for value in os.getloadavg()],
        "memory_limit": resource.getrlimit(resource.RLIMIT_AS)[0],
        "launcher": "the environment's bin/loopx, byte code compiled, interpreter without shims",
        "measured": time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime()),
    }


def print_times(rows: list[Row]) -> None:
    """Print what was measured of time and memory at its peak."""
    print(f"{'row':<72}{'value':>9}{'target':>9}{'ours':>10}{'p95':>10}{'base':>10}{'p95':>10}")
    for row in rows:
        target = "" if row["target"] is None else f"≤ {row['target']}"
        print(
            f"{row['row']:<72}{row['value']:>8}{row['unit']:<2}{target:>8}"
            f"{row['ours_median']:>10}{row['ours_p95']:>10}{row['base_median']:>10}{row['base_p95']:>10}"
        )


def print_costs(rows: list[Row]) -> None:
    """Print what else the commands of the rows cost, ours / base; processes that they waited for count too."""
    print(f"\n{'row':<72}" + "".join(f"{name:>20}" for name in COSTS))
    for row in rows:
        if row["ours_cost"]:
            print(f"{row['row']:<72}" + "".join(f"{_both(row, name):>20}" for name in COSTS))


def _both(row: Row, name: str) -> str:
    def shown(cost: Mapping[str, int]) -> str:
        return str(cost.get(name, "–"))

    return f"{shown(row['ours_cost'])} / {shown(row['base_cost'])}"


def main() -> int:
    """Measure what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=30)
    parser.add_argument("--only", choices=sorted(PARTS), action="append")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    os.environ.setdefault("PIP_CONSTRAINT", (ROOT / "constraints.txt").as_uri())
    with tempfile.TemporaryDirectory(prefix="loopx-bench-") as place:
        bench = Bench(Path(place), options.pairs)
        for name in options.only or PARTS:
            PARTS[name](bench)
    print_times(bench.rows)
    print_costs(bench.rows)
    print(json.dumps(environment()))
    if options.json:
        options.json.write_text(json.dumps({"environment": environment(), "rows": bench.rows}, indent=2) + "\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
