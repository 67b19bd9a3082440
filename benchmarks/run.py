"""Measure the rows of the speed table: ratios within one run, paired and alternating, the first pair dropped.

    python benchmarks/run.py [--pairs 30] [--only NAME] [--json FILE]

Makes its own virtual environment (byte code compiled), installs the host and the example as wheels, and prints a
table and the environment it was measured in. Needs no state of the caller's. Memory needs a C compiler for a
small parent; without one that part says so.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
EXAMPLE = ROOT / "examples" / "standalone-extension"
REQUEST = EXAMPLE / "examples" / "request.json"
TARGETS = {
    "import loopx_host": 1.15,
    "--version": 1.15,
    "--help": 1.2,
    "leaf --help": 2.3,
    "extension list, 10 installed": 2.5,
    "extension run, no schemas": 3.0,
    "extension run, text-stats with schemas": 4.0,
    "extension run, small provider: contained over process (ms added)": 6.0,
    "Host.run, small provider, process (ms added)": 1.0,
    "Host.run, small provider, limits (ms added)": None,
    "Host.run, small provider, contained (ms added)": 3.0,
    "Host.run, small provider, namespaced (ms added)": None,
    "Host.run, Python provider, process": 1.1,
    "Host.run, Python provider, limits": None,
    "Host.run, Python provider, contained": 1.35,
    "Host.run, Python provider, namespaced": None,
    "identity, 930 files, warm (ms)": None,
    "identity, 930 files, cold (ms)": None,
    "index rebuild, 1000 distributions": 1.2,
    "capability list, core only": 2.5,
    "capability list, 20 packages": 2.7,
    "capability list, 200 packages": 3.2,
    "a package's command over its own imports (ms added)": 30.0,
    "a hook over 10 implementations, against pluggy alone": 2.0,
    "peak memory: list": 1.4,
    "peak memory: run": 2.2,
    "peak memory: run with schemas": 3.0,
}
PARENT = r"""
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
int main(int argc, char **argv) {
    pid_t child = fork();
    if (child == 0) {
        int null = open("/dev/null", O_RDWR);
        dup2(null, 1); dup2(null, 2);
        execv(argv[1], argv + 1);
        _exit(127);
    }
    int status; struct rusage used;
    wait4(child, &status, 0, &used);
    printf("%ld\n", used.ru_maxrss);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
"""


class Bench:
    """One environment and the rows measured in it."""

    def __init__(self, place: Path, pairs: int) -> None:
        self.place = place
        self.pairs = pairs
        self.bin = place / "venv" / "bin"
        self.python = str(self.bin / "python")
        self.loopx = str(self.bin / "loopx")
        self.rows: list[dict[str, Any]] = []
        self.env = {
            "PATH": f"{self.bin}:/usr/bin:/bin",
            "HOME": str(place / "home"),
            "LANG": "C.UTF-8",
        }

    def set_up(self) -> None:
        (self.place / "home").mkdir()
        make = [sys.executable, "-m", "venv", "--upgrade-deps", str(self.place / "venv")]
        subprocess.run(make, check=True, stdout=subprocess.DEVNULL)
        install = [self.python, "-m", "pip", "install", "--quiet", "--compile", str(ROOT), str(EXAMPLE)]
        subprocess.run(install, check=True)
        self.must("extension", "install", "loopx-text-stats", "--execute")
        source = (EXAMPLE / "src/loopx_text_stats/extension.toml").read_text()
        plain = "".join(line for line in source.splitlines(keepends=True) if "_schema =" not in line)
        for index in range(9):
            folder = self.place / f"plain{index}"
            folder.mkdir()
            manifest = folder / "extension.toml"
            manifest.write_text(plain.replace('id = "loopx-text-stats"', f'id = "plain{index}"'))
            self.must("extension", "install", "--manifest", str(manifest), "--execute")

    def must(self, *words: str) -> None:
        subprocess.run([self.loopx, *words], check=True, env=self.env, stdout=subprocess.DEVNULL)

    def must_say(self, *words: str) -> str:
        """Return what the environment's Python prints."""
        done = subprocess.run([self.python, *words], check=True, env=self.env, capture_output=True, text=True)
        return done.stdout.strip()

    def wall_ms(self, command: list[str]) -> float:
        with REQUEST.open() as request:
            began = time.perf_counter()
            subprocess.run(command, check=True, env=self.env, stdin=request, stdout=subprocess.DEVNULL)
            return (time.perf_counter() - began) * 1000

    def ratio(self, name: str, ours: list[str], base: list[str], unit: str = "×") -> None:
        """Add a row: `ours` against `base`, alternating."""
        mine, theirs = [], []
        for _ in range(self.pairs + 1):
            theirs.append(self.wall_ms(base))
            mine.append(self.wall_ms(ours))
        self.add(name, mine[1:], theirs[1:], unit)

    def add(self, name: str, mine: list[float], theirs: list[float], unit: str = "×") -> None:
        """Add a row of paired samples: their ratio, or with unit ``ms`` their difference."""
        paired = [a / b if unit == "×" else a - b for a, b in zip(mine, theirs, strict=True)]
        self.rows.append(
            {
                "row": name,
                "value": round(statistics.median(paired), 3),
                "unit": unit,
                "target": TARGETS[name],
                "ours_median": round(statistics.median(mine), 2),
                "ours_p95": round(sorted(mine)[int(0.95 * (len(mine) - 1))], 2),
                "base_median": round(statistics.median(theirs), 2),
                "samples": len(mine),
            }
        )


def startup(bench: Bench) -> None:
    bare = [bench.python, "-c", "pass"]
    bench.ratio("import loopx_host", [bench.python, "-c", "import loopx_host"], bare)
    bench.ratio("--version", [bench.loopx, "--version"], bare)
    bench.ratio("--help", [bench.loopx, "--help"], bare)
    bench.ratio("leaf --help", [bench.loopx, "extension", "install", "--help"], bare)
    bench.ratio("extension list, 10 installed", [bench.loopx, "extension", "list"], bare)


def run(bench: Bench) -> None:
    provider = [str(bench.bin / "loopx-text-stats")]
    for name, extension in (
        ("extension run, no schemas", "plain0"),
        ("extension run, text-stats with schemas", "loopx-text-stats"),
    ):
        words = ["extension", "run", extension, "--input-json", str(REQUEST), "--execute", "--format", "json"]
        bench.ratio(name, [bench.loopx, *words], provider)


IN_PROCESS = """
import json, os, subprocess, sys, time
from loopx_host import Host
extension, command, pairs = sys.argv[1], json.loads(sys.argv[2]), int(sys.argv[3])
request = json.load(open(sys.argv[4])); data = json.dumps(request).encode()
host = Host.open(containment=sys.argv[5]); mine, theirs = [], []
for _ in range(pairs + 1):
    began = time.perf_counter()
    subprocess.run(command, input=data, capture_output=True, check=True)
    theirs.append(time.perf_counter() - began)
    began = time.perf_counter()
    receipt = host.run(extension, request)
    mine.append(time.perf_counter() - began)
    assert receipt["ok"], receipt
print(json.dumps([[1000 * value for value in values[1:]] for values in (mine, theirs)]))
"""


def small(program: Path) -> None:
    """Make a provider that takes about a millisecond: compiled where there is a compiler, else a shell script."""
    if shutil.which("cc"):
        source = program.with_suffix(".c")
        source.write_text('#include <stdio.h>\nint main(void) { puts("{\\"ok\\": true}"); return 0; }\n')
        subprocess.run(["cc", "-O1", "-o", str(program), str(source)], check=True)
        return
    program.write_text("#!/bin/sh\necho '{\"ok\": true}'\n")
    program.chmod(0o755)


def embedded(bench: Bench) -> None:
    folder = bench.place / "small"
    folder.mkdir()
    program = folder / "answer"
    small(program)
    (folder / "extension.toml").write_text(
        'schema_version = "loopx_extension_manifest_v0"\nid = "small"\nversion = "1"\nrequires_loopx_api = "1"\n'
        '[runtime]\nprotocol = "small_v0"\nentrypoint = "./answer"\ndoctor_args = ["--doctor"]\n'
    )
    bench.must("extension", "install", "--manifest", str(folder / "extension.toml"), "--execute")
    python_provider = [str(bench.bin / "loopx-text-stats")]
    rows = [
        row
        for rung in ("process", "limits", "contained", "namespaced")
        for row in (
            (f"Host.run, small provider, {rung} (ms added)", "small", [str(program)], "ms", rung),
            (f"Host.run, Python provider, {rung}", "plain0", python_provider, "×", rung),
        )
    ]
    words = [bench.loopx, "extension", "run", "small", "--input-json", str(REQUEST), "--execute", "--containment"]
    name = "extension run, small provider: contained over process (ms added)"
    bench.ratio(name, [*words, "contained"], [*words, "process"], "ms")
    for name, extension, command, unit, rung in rows:
        arguments = [extension, json.dumps(command), str(bench.pairs), str(REQUEST), rung]
        done = subprocess.run(
            [bench.python, "-c", IN_PROCESS, *arguments], check=True, env=bench.env, capture_output=True
        )
        mine, theirs = json.loads(done.stdout)
        bench.add(name, mine, theirs, unit)


IDENTITY = """
import json, shutil, sys, time
from loopx_host.adapters.files.paths import cache_root
from loopx_host.adapters.packages.installed import InstalledPackages
from loopx_host.lifecycle.extensions.identity import Launcher
target = Launcher("entrypoint", sys.argv[1]); pairs = int(sys.argv[2])
def once():
    began = time.perf_counter()
    assert InstalledPackages().identify(target)
    return 1000 * (time.perf_counter() - began)
cold = []
for _ in range(pairs + 1):
    shutil.rmtree(cache_root() + "/fingerprints", ignore_errors=True); cold.append(once())
warm = [once() for _ in range(pairs + 1)]
print(json.dumps([warm[1:], cold[1:]]))
"""


def identity(bench: Bench) -> None:
    package = bench.place / "big"
    module = package / "src" / "acme_big"
    module.mkdir(parents=True)
    for index in range(930):
        (module / f"part{index}.py").write_text(f"# {index}\n" + "x = 1\n" * 1800)
    (module / "__init__.py").write_text("def main():\n    return 0\n")
    (package / "pyproject.toml").write_text(
        '[build-system]\nrequires = ["hatchling"]\nbuild-backend = "hatchling.build"\n'
        '[project]\nname = "acme-big"\nversion = "1"\n[project.scripts]\nacme-big = "acme_big:main"\n'
        '[tool.hatch.build.targets.wheel]\npackages = ["src/acme_big"]\n'
    )
    subprocess.run([bench.python, "-m", "pip", "install", "--quiet", "--no-compile", str(package)], check=True)
    time.sleep(0.2)  # until the fingerprints are old enough to be remembered
    arguments = [str(bench.bin / "acme-big"), str(bench.pairs)]
    done = subprocess.run([bench.python, "-c", IDENTITY, *arguments], check=True, env=bench.env, capture_output=True)
    warm, cold = json.loads(done.stdout)
    bench.add("identity, 930 files, warm (ms)", warm, [0.0] * len(warm), "ms")
    bench.add("identity, 930 files, cold (ms)", cold, [0.0] * len(cold), "ms")


INDEX = """
import importlib.metadata, json, sys, time
from loopx_host.adapters.packages import index
pairs = int(sys.argv[1])
mine, theirs = [], []
for _ in range(pairs + 1):
    began = time.perf_counter(); importlib.metadata.entry_points(); theirs.append(time.perf_counter() - began)
    began = time.perf_counter(); index.read(rebuild=True); mine.append(time.perf_counter() - began)
print(json.dumps([[1000 * value for value in values[1:]] for values in (mine, theirs)]))
"""


def index_rebuild(bench: Bench) -> None:
    site = bench.place / "site"
    for number in range(1000):
        info = site / f"acme_{number}-1.0.dist-info"
        info.mkdir(parents=True)
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: acme-{number}\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text(f"[console_scripts]\nacme-{number} = acme_{number}:main\n")
        (info / "RECORD").write_text(f"acme_{number}/__init__.py,,\n")
    env = {**bench.env, "PYTHONPATH": str(site)}
    done = subprocess.run([bench.python, "-c", INDEX, str(bench.pairs)], check=True, env=env, capture_output=True)
    mine, theirs = json.loads(done.stdout)
    bench.add("index rebuild, 1000 distributions", mine, theirs)


OFFERED = """\
schema_version = "loopx_extension_manifest_v0"
id = "offered-{number}"
version = "1"
requires_loopx_api = "1"
[runtime]
protocol = "offered_v0"
entrypoint = "offered-{number}"
doctor_args = ["--doctor"]
[[provides]]
id = "offered-{number}"
kind = "sample"
title = "Sample {number}"
status = "active"
user_value = "something"
next_real_step = "none"
visibility = "public"
real_world_anchor = "a file"
entry_command = "loopx capability show offered-{number}"
"""


def offer(bench: Bench, number: int) -> None:
    """Put a package that offers an extension with one capability into the environment, as pip would leave it."""
    site = Path(bench.must_say("-c", "import sysconfig; print(sysconfig.get_path('purelib'))"))
    (site / f"offered_{number}").mkdir()
    (site / f"offered_{number}/__init__.py").write_text("")
    (site / f"offered_{number}/extension.toml").write_text(OFFERED.format(number=number))
    info = site / f"offered_{number}-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: offered-{number}\nVersion: 1\n")
    (info / "entry_points.txt").write_text(f"[loopx.extensions]\noffered-{number} = offered_{number}\n")
    (info / "RECORD").write_text("")


def capabilities(bench: Bench) -> None:
    bare = [bench.python, "-c", "pass"]
    words = [bench.loopx, "capability", "list", "--runtime-root", str(bench.place / "nothing-installed")]
    made = 0
    for count, name in ((0, "core only"), (20, "20 packages"), (200, "200 packages")):
        for number in range(made, count):
            offer(bench, number)
        made = count
        time.sleep(0.2)  # the index is written once the environment has been still for a moment
        bench.must(*words[1:])
        bench.ratio(f"capability list, {name}", words, bare)
    _command(bench)
    _hook(bench)


COMMAND = """\
import argparse, json, urllib.parse
from loopx_host import hookimpl

@hookimpl(specname="loopx_run_command")
def command(arguments, host):
    return {"ok": True, "schema_version": "bench_v0"}
"""


def _command(bench: Bench) -> None:
    """Measure a command of an activated package against a Python that only makes the package's own imports."""
    folder = bench.place / "commanding"
    package = folder / "src" / "commanding"
    package.mkdir(parents=True)
    (folder / "pyproject.toml").write_text(
        '[build-system]\nrequires = ["hatchling"]\nbuild-backend = "hatchling.build"\n'
        '[project]\nname = "commanding"\nversion = "1"\n[project.scripts]\ncommanding = "commanding:main"\n'
        '[project.entry-points."loopx.extensions"]\ncommanding = "commanding"\n'
        '[project.entry-points."loopx.commands"]\nbench-me = "commanding.command:command"\n'
    )
    (package / "__init__.py").write_text("def main():\n    return 0\n")
    (package / "command.py").write_text(COMMAND)
    (package / "extension.toml").write_text(OFFERED.format(number="x").replace("offered-x", "commanding"))
    subprocess.run([bench.python, "-m", "pip", "install", "--quiet", "--compile", str(folder)], check=True)
    bench.must("extension", "install", "commanding", "--execute")
    imports = "import argparse, json, urllib.parse, pluggy, stevedore.named; from loopx_host import hookimpl"
    mine, theirs = [], []
    for _ in range(bench.pairs + 1):
        # What any command costs here, and what the package's own imports and those of its loading cost by themselves.
        own = bench.wall_ms([bench.python, "-c", imports]) - bench.wall_ms([bench.python, "-c", "pass"])
        theirs.append(bench.wall_ms([bench.loopx, "extension", "show", "commanding"]) + own)
        mine.append(bench.wall_ms([bench.loopx, "bench-me"]))
    bench.add("a package's command over its own imports (ms added)", mine[1:], theirs[1:], "ms")


HOOK = """
import json, sys, time
import pluggy
from loopx_host.hookspecs.manager import build
from loopx_host.hookspecs.markers import hookimpl
pairs = int(sys.argv[1])
class Plain:
    @pluggy.HookimplMarker("plain")
    def schemas(self): return {}
class Spec:
    @pluggy.HookspecMarker("plain")
    def schemas(self): pass
class Ours:
    @hookimpl
    def loopx_view_schemas(self): return {}
ours, plain = build(), pluggy.PluginManager("plain")
plain.add_hookspecs(Spec)
for _ in range(10):
    ours.register(Ours()); plain.register(Plain())
def timed(call):
    began = time.perf_counter()
    for _ in range(2000): call()
    return 1000 * (time.perf_counter() - began)
rows = [(timed(ours.hook.loopx_view_schemas), timed(plain.hook.schemas)) for _ in range(pairs + 1)][1:]
print(json.dumps([[row[0] for row in rows], [row[1] for row in rows]]))
"""


def _hook(bench: Bench) -> None:
    mine, theirs = json.loads(bench.must_say("-c", HOOK, str(bench.pairs)))
    bench.add("a hook over 10 implementations, against pluggy alone", mine, theirs)


def memory(bench: Bench) -> None:
    parent = bench.place / "parent"
    source = bench.place / "parent.c"
    source.write_text(PARENT)
    try:
        subprocess.run(["cc", "-O1", "-o", str(parent), str(source)], check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        print("peak memory: not measured, there is no C compiler for a small parent", file=sys.stderr)
        return

    def peak(*words: str) -> float:
        with REQUEST.open() as request:
            done = subprocess.run(
                [str(parent), *words], check=True, env=bench.env, stdin=request, capture_output=True
            )
        return float(done.stdout)

    runs = {
        "peak memory: list": ["extension", "list"],
        "peak memory: run": ["extension", "run", "plain0", "--input-json", str(REQUEST), "--execute"],
        "peak memory: run with schemas": [
            "extension", "run", "loopx-text-stats", "--input-json", str(REQUEST), "--execute",
        ],
    }  # fmt: skip
    for name, words in runs.items():
        pairs = [(peak(bench.loopx, *words), peak(bench.python, "-c", "pass")) for _ in range(6)][1:]
        bench.add(name, [mine for mine, _ in pairs], [theirs for _, theirs in pairs])


PARTS: dict[str, Callable[[Bench], None]] = {
    "startup": startup,
    "run": run,
    "embedded": embedded,
    "identity": identity,
    "index": index_rebuild,
    "capabilities": capabilities,
    "memory": memory,
}


def environment() -> dict[str, Any]:
    return {
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        "processors": os.cpu_count(),
        "load_average": [round(value, 2) for value in os.getloadavg()],
        "memory_limit": resource.getrlimit(resource.RLIMIT_AS)[0],
        "launcher": "the environment's bin/loopx, byte code compiled, interpreter without shims",
        "measured": time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime()),
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=30)
    parser.add_argument("--only", choices=sorted(PARTS), action="append")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    os.environ.setdefault("PIP_CONSTRAINT", (ROOT / "constraints.txt").as_uri())
    with tempfile.TemporaryDirectory(prefix="loopx-bench-") as place:
        bench = Bench(Path(place), options.pairs)
        bench.set_up()
        for name in options.only or PARTS:
            PARTS[name](bench)
    print(f"{'row':<42}{'value':>9}{'target':>9}{'ours':>10}{'p95':>10}{'base':>10}")
    for row in bench.rows:
        target = "" if row["target"] is None else f"≤ {row['target']}"
        print(
            f"{row['row']:<42}{row['value']:>8}{row['unit']:<2}{target:>8}"
            f"{row['ours_median']:>10}{row['ours_p95']:>10}{row['base_median']:>10}"
        )
    print(json.dumps(environment()))
    if options.json:
        options.json.write_text(json.dumps({"environment": environment(), "rows": bench.rows}, indent=2) + "\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
