"""Environments to measure in, and the rows that were measured: paired, alternating, the first pair dropped."""

from __future__ import annotations

import math
import statistics
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TypedDict

from benchmarks.samples import Sample, Sampler, medians, modules
from benchmarks.targets import TARGETS

ROOT = Path(__file__).resolve().parent.parent
EXAMPLE = ROOT / "examples" / "standalone-extension"
REQUEST = EXAMPLE / "examples" / "request.json"
PLAIN = 9  # extensions without schemas beside the example, which makes ten


class Row(TypedDict):
    """One row: `value` is the median of the paired ratios (unit ``×``) or differences (unit ``ms``)."""

    row: str
    value: float
    unit: str
    target: float | None
    ours_median: float
    ours_p95: float
    base_median: float
    base_p95: float
    samples: int
    ours_cost: dict[str, int]
    base_cost: dict[str, int]


class Environment:
    """A virtual environment with the wheels of host and example, byte code compiled, and ten extensions installed."""

    def __init__(self, place: Path, wheels: list[str]) -> None:
        self.place = place
        self.bin = place / "venv" / "bin"
        self.python = str(self.bin / "python")
        self.loopx = str(self.bin / "loopx")
        self.env = {
            "PATH": f"{self.bin}:/usr/bin:/bin",
            "HOME": str(place / "home"),
            "LANG": "C.UTF-8",
        }
        (place / "home").mkdir(parents=True)
        make = [sys.executable, "-m", "venv", "--upgrade-deps", str(place / "venv")]
        subprocess.run(make, check=True, stdout=subprocess.DEVNULL)
        self.pip("install", "--compile", *wheels)
        self.site = Path(self.must_say("-c", "import sysconfig; print(sysconfig.get_path('purelib'))"))
        self.sample = Sampler(place, self.env)
        self._install_ten()

    def _install_ten(self) -> None:
        self.must("extension", "install", "loopx-text-stats", "--execute")
        source = (EXAMPLE / "src/loopx_text_stats/extension.toml").read_text()
        plain = "".join(line for line in source.splitlines(keepends=True) if "_schema =" not in line)
        for index in range(PLAIN):
            folder = self.place / f"plain{index}"
            folder.mkdir()
            manifest = folder / "extension.toml"
            manifest.write_text(plain.replace('id = "loopx-text-stats"', f'id = "plain{index}"'))
            self.must("extension", "install", "--manifest", str(manifest), "--execute")

    def pip(self, *words: str) -> None:
        """Run the pip of the environment."""
        subprocess.run([self.python, "-m", "pip", "--quiet", *words], check=True)

    def must(self, *words: str) -> None:
        """Run loopx. Raises CalledProcessError when it fails."""
        subprocess.run([self.loopx, *words], check=True, env=self.env, stdout=subprocess.DEVNULL)

    def must_say(self, *words: str) -> str:
        """Return what the environment's Python prints."""
        done = subprocess.run([self.python, *words], check=True, env=self.env, stdout=subprocess.PIPE, text=True)
        return done.stdout.strip()

    def bare(self) -> list[str]:
        """Return the command that nothing can be faster than."""
        return [self.python, "-c", "pass"]

    def modules(self, command: list[str]) -> dict[str, int]:
        """Return the number of modules as a kind of cost."""
        # The first fills caches of its own: a probe has another search path than the launcher.
        modules(command, self.python, REQUEST, self.place, self.env)
        count = modules(command, self.python, REQUEST, self.place, self.env)
        return {} if count is None else {"modules": count}


class Bench:
    """The environments of one measurement and its rows."""

    def __init__(self, place: Path, pairs: int) -> None:
        self.place = place
        self.pairs = pairs
        self.rows: list[Row] = []
        self._made: dict[str, Environment] = {}
        build = [sys.executable, "-m", "pip", "--quiet", "wheel", "--no-deps", "--wheel-dir", str(place / "wheels")]
        subprocess.run([*build, str(ROOT), str(EXAMPLE)], check=True)
        self._wheels = sorted(map(str, (place / "wheels").iterdir()))

    def environment(self, name: str = "main") -> Environment:
        """Return the environment of that name, so that what one part installs is in no other part's way."""
        if name not in self._made:
            self._made[name] = Environment(self.place / name, self._wheels)
        return self._made[name]

    def compare(
        self,
        name: str,
        ours: tuple[Environment, list[str]],
        base: tuple[Environment, list[str]],
        unit: str = "×",
        *,
        stdin: Path = REQUEST,
        before: Callable[[], None] = lambda: None,
    ) -> None:
        """Add a row of two commands, each in its environment; `before` is done each time before ours runs."""
        mine, theirs = [], []
        for _ in range(self.pairs + 1):
            theirs.append(base[0].sample(base[1], stdin))
            before()
            mine.append(ours[0].sample(ours[1], stdin))
        mine, theirs = mine[1:], theirs[1:]
        self.add(name, _times(mine), _times(theirs), unit)
        self.rows[-1]["ours_cost"] = {**medians(mine), **ours[0].modules(ours[1])}
        self.rows[-1]["base_cost"] = {**medians(theirs), **base[0].modules(base[1])}

    def add(self, name: str, mine: list[float], theirs: list[float], unit: str = "×") -> None:
        """Add a row of paired samples: their ratio, or with unit ``ms`` their difference."""
        paired = [a / b if unit == "×" else a - b for a, b in zip(mine, theirs, strict=True)]
        row: Row = {
            "row": name,
            "value": round(statistics.median(paired), 3),
            "unit": unit,
            "target": TARGETS[name],
            "ours_median": round(statistics.median(mine), 2),
            "ours_p95": _p95(mine),
            "base_median": round(statistics.median(theirs), 2),
            "base_p95": _p95(theirs),
            "samples": len(mine),
            "ours_cost": {},
            "base_cost": {},
        }
        self.rows.append(row)


def _times(samples: list[Sample]) -> list[float]:
    return [sample.milliseconds for sample in samples]


def _p95(values: list[float]) -> float:
    return round(sorted(values)[math.ceil(0.95 * len(values)) - 1], 2)
