"""One run of a command from a small parent: how long it took, the memory at its peak, and what it read and wrote."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path

# A parent of some hundred kilobytes: what a child inherits of a large one would count as its own memory. What the
# kernel knows of a child's files is read after its end and before it is waited for.
_PARENT = r"""
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double now(void) {
    struct timespec read;
    clock_gettime(CLOCK_MONOTONIC, &read);
    return read.tv_sec * 1e3 + read.tv_nsec / 1e6;
}

int main(int argc, char **argv) {
    double began = now();
    pid_t child = fork();
    if (child == 0) {
        dup2(open(argv[1], O_RDONLY), 0);
        int null = open("/dev/null", O_WRONLY);
        dup2(null, 1); dup2(null, 2);
        execv(argv[2], argv + 2);
        _exit(127);
    }
    siginfo_t ended;
    waitid(P_PID, child, &ended, WEXITED | WNOWAIT);
    double took = now() - began;
    char path[64], line[128];
    unsigned long long values[4] = {0};
    snprintf(path, sizeof path, "/proc/%d/io", child);
    FILE *io = fopen(path, "r");
    for (int row = 0; io && row < 4 && fgets(line, sizeof line, io); row++)
        sscanf(line, "%*[^:]: %llu", &values[row]);
    int status; struct rusage used;
    wait4(child, &status, 0, &used);
    printf("%f %ld", took, used.ru_maxrss);
    for (int row = 0; io && row < 4; row++) printf(" %llu", values[row]);
    printf("\n");
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
"""
_KINDS = ("peak_kib", "bytes_read", "bytes_written", "reads", "writes")


class Sample:
    """One run: milliseconds of the wall, and by kind what it cost; a kind that could not be seen is not there."""

    def __init__(self, milliseconds: float, cost: Mapping[str, int]) -> None:
        self.milliseconds = milliseconds
        self.cost = cost


class Sampler:
    """Runs commands; memory and files need a C compiler for the parent."""

    def __init__(self, place: Path, env: Mapping[str, str]) -> None:
        self._env = dict(env)
        self._parent: Path | None = place / "parent"
        (place / "parent.c").write_text(_PARENT)
        try:
            words = ["cc", "-O1", "-o", str(self._parent), str(place / "parent.c")]
            subprocess.run(words, check=True, capture_output=True)
        except (OSError, subprocess.CalledProcessError):
            print("memory and files: not measured, there is no C compiler for a small parent", file=sys.stderr)
            self._parent = None

    def __call__(self, command: list[str], stdin: Path) -> Sample:
        """Run a command once with a file as its standard input. Raises CalledProcessError when it fails."""
        if self._parent is None:
            return Sample(self._timed(command, stdin), {})
        words = [str(self._parent), str(stdin), *command]
        done = subprocess.run(words, check=True, env=self._env, stdin=subprocess.DEVNULL, capture_output=True)
        milliseconds, *cost = done.stdout.split()
        return Sample(float(milliseconds), dict(zip(_KINDS, map(int, cost), strict=False)))

    def _timed(self, command: list[str], stdin: Path) -> float:
        with stdin.open() as given:
            began = time.perf_counter()
            subprocess.run(
                command, check=True, env=self._env, stdin=given, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
            )
            return (time.perf_counter() - began) * 1000


def medians(samples: list[Sample]) -> dict[str, int]:
    """Return the median of each kind of cost."""
    kinds = samples[0].cost if samples else {}
    return {kind: round(statistics.median(sample.cost[kind] for sample in samples)) for kind in kinds}


_MODULES = """\
import os, sys
place, *words = sys.argv[1:]
null = os.open(os.devnull, os.O_RDWR)
os.dup2(null, 1); os.dup2(null, 2)
from loopx_host.entrypoint import run
run(words)
open(place, "w").write(str(len(sys.modules)))
"""


def modules(command: list[str], python: str, stdin: Path, place: Path, env: Mapping[str, str]) -> int | None:
    """Return how many modules a command of loopx or of a bare Python has loaded at its end; None for others."""
    kept = place / "modules"
    if Path(command[0]).name == "loopx":
        words = [python, "-c", _MODULES, str(kept), *command[1:]]
    elif command[:2] == [python, "-c"]:
        words = [
            *command[:2],
            f"{command[2]}\nimport sys\nopen({os.fspath(kept)!r}, 'w').write(str(len(sys.modules)))",
        ]
    else:
        return None
    with stdin.open() as given:
        subprocess.run(words, check=True, env=dict(env), stdin=given, stdout=subprocess.DEVNULL)
    return int(kept.read_text())
