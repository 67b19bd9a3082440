"""How long this installation takes to start, against a bare interpreter on the same machine, pair by pair.

The route behind ``loopx performance-diagnosis`` (row M096): it needs no state, no registry and no package.
"""

from __future__ import annotations

import os
import platform
import sys
import time

from loopx_host.adapters import interpreter
from loopx_host.core.errors import refusal
from loopx_host.documents.performance_diagnosis import performance_diagnosis

TYPE_CHECKING = False
if TYPE_CHECKING:
    from contextlib import AbstractContextManager
    from typing import Protocol

    from loopx_host.documents.performance_diagnosis import Machine, PerformanceDiagnosis, RouteFigures

    class Waiting(Protocol):
        """Signals, raised at once inside the block: a run takes as long as it takes."""

        def waiting(self) -> AbstractContextManager[None]:
            """Return the block."""
            ...


_BARE = ("-c", "pass")
_MAIN = "from loopx_host.entrypoint import main; main()"  # what the console script does
_ROUTES = {
    "import": ("-c", "import loopx_host"),
    "version": ("-c", _MAIN, "--version"),
    "help": ("-c", _MAIN, "--help"),
}
# {call}: how one of the routes is served in a process that then counts; its answer goes to standard output.
_COUNT = """\
import sys
before = set(sys.modules)
{call}
sys.stderr.write(str(len(set(sys.modules) - before)))
"""
_CALLS = {
    "import": "import loopx_host",
    "version": "from loopx_host.entrypoint import run; run(['--version'])",
    "help": "from loopx_host.entrypoint import run; run(['--help'])",
}


class StartUp:
    """Measures how long this installation takes to start."""

    def __init__(self, interrupts: Waiting) -> None:
        self._interrupts = interrupts

    def diagnose(self, pairs: int) -> PerformanceDiagnosis:
        """Return start-up figures: medians, 95th percentiles and paired ratios of `pairs` alternating runs.

        The first pair warms caches and is dropped. Milliseconds are wall time from fork to exit. Raises Refused
        `start_up_failed`, Interrupted.
        """
        with self._interrupts.waiting():
            rows = [_row(name, words, pairs) for name, words in _ROUTES.items()]
            return performance_diagnosis(
                rows, environment=_environment(), pairs=pairs, own_start_ms=_since_process_start_ms()
            )


def _row(name: str, words: tuple[str, ...], pairs: int) -> RouteFigures:
    bare: list[float] = []
    ours: list[float] = []
    for _ in range(pairs + 1):
        bare.append(_run_ms(_BARE))
        ours.append(_run_ms(words))
    kept = list(zip(ours[1:], bare[1:], strict=True))
    mine = sorted(ours[1:])
    return {
        "route": name,
        "bare_median_ms": round(_median(sorted(bare[1:])), 2),
        "median_ms": round(_median(mine), 2),
        "p95_ms": round(mine[min(len(mine) - 1, int(0.95 * len(mine)))], 2),
        "added_median_ms": round(_median(sorted(one - other for one, other in kept)), 2),
        "ratio_median": round(_median(sorted(one / other for one, other in kept)), 3),
        "modules": _modules(name),
    }


def _median(ordered: list[float]) -> float:
    middle = len(ordered) // 2
    return ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2


def _run_ms(words: tuple[str, ...]) -> float:
    null = os.open(os.devnull, os.O_RDWR)
    try:
        began = time.perf_counter()
        _run(words, null)
        return (time.perf_counter() - began) * 1000
    finally:
        os.close(null)


def _modules(route: str) -> int:
    """Return how many modules a route imports beyond those of a bare interpreter."""
    reading, writing = os.pipe()
    try:
        _run(("-c", _COUNT.format(call=_CALLS[route])), writing)
        return int(os.read(reading, 100))  # a few digits never fill the pipe
    finally:
        os.close(reading)
        os.close(writing)


def _run(words: tuple[str, ...], errors: int) -> None:
    """Run this interpreter to its end with standard error given. Raises Refused `start_up_failed`."""
    program = _interpreter()
    null = os.open(os.devnull, os.O_RDWR)
    try:
        actions = [(os.POSIX_SPAWN_DUP2, given, own) for own, given in ((0, null), (1, null), (2, errors))]
        pid = os.posix_spawn(program, [program, *words], os.environ, file_actions=actions)
    finally:
        os.close(null)
    _, status = os.waitpid(pid, 0)
    if status != 0:
        summary = f"{program} {' '.join(words)} ended with status {status}"
        raise refusal("start_up_failed", program, summary)


def _interpreter() -> str:
    """Return the program whose start is measured. Raises Refused `start_up_failed`."""
    program = interpreter.likeliest()
    if program is None:
        raise refusal("start_up_failed", "sys.executable", f"no interpreter was found: {interpreter.named()}")
    return program


def _since_process_start_ms() -> float | None:
    """Return the time from the start of this process to now, by the clock of the kernel, or None off Linux."""
    try:
        with open("/proc/self/stat", "rb") as file:
            ticks = int(file.read().rpartition(b")")[2].split()[19])
    except OSError:
        return None
    started = ticks / os.sysconf("SC_CLK_TCK")
    return round((time.clock_gettime(time.CLOCK_BOOTTIME) - started) * 1000, 1)


def _environment() -> Machine:
    return {
        "python": platform.python_version(),
        "interpreter": _interpreter(),
        "in_virtual_environment": sys.prefix != sys.base_prefix,
        "bytecode_written": not sys.dont_write_bytecode,
        "system": f"{platform.system()} {platform.release()}",
        "machine": platform.machine(),
        "processors": os.cpu_count(),
        "load_average": [round(value, 2) for value in os.getloadavg()],
    }
