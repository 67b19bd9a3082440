"""Inside a program: runs through `Host`, the identity of a large package, the index of a large environment."""

from __future__ import annotations

import json
import shutil
import subprocess
import time
from pathlib import Path

from benchmarks.bench import REQUEST, Bench

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
    """Runs through `Host` at each level, against `subprocess.run` of the provider in the same process."""
    env = bench.environment()
    folder = env.place / "small"
    folder.mkdir()
    program = folder / "answer"
    small(program)
    (folder / "extension.toml").write_text(
        'schema_version = "loopx_extension_manifest_v0"\nid = "small"\nversion = "1"\nrequires_loopx_api = "1"\n'
        '[runtime]\nprotocol = "small_v0"\nentrypoint = "./answer"\ndoctor_args = ["--doctor"]\n'
    )
    env.must("extension", "install", "--manifest", str(folder / "extension.toml"), "--execute")
    python_provider = [str(env.bin / "loopx-text-stats")]
    rows = [
        row
        for rung in ("process", "limits", "contained", "namespaced")
        for row in (
            (f"Host.run, small provider, {rung} (ms added)", "small", [str(program)], "ms", rung),
            (f"Host.run, Python provider, {rung}", "plain0", python_provider, "×", rung),
        )
    ]
    words = [env.loopx, "extension", "run", "small", "--input-json", str(REQUEST), "--execute", "--containment"]
    name = "extension run, small provider: contained over process (ms added)"
    bench.compare(name, (env, [*words, "contained"]), (env, [*words, "process"]), "ms")
    for name, extension, command, unit, rung in rows:
        arguments = [extension, json.dumps(command), str(bench.pairs), str(REQUEST), rung]
        mine, theirs = json.loads(env.must_say("-c", IN_PROCESS, *arguments))
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
    """How long it takes to tell whether a package of 930 files is still the one that was proved."""
    env = bench.environment("identity")
    package = env.place / "big"
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
    env.pip("install", "--no-compile", str(package))
    time.sleep(0.2)  # until the fingerprints are old enough to be remembered
    arguments = [str(env.bin / "acme-big"), str(bench.pairs)]
    warm, cold = json.loads(env.must_say("-c", IDENTITY, *arguments))
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
    """The index of 1000 distributions made anew, against the standard library reading their entry points."""
    env = bench.environment()
    site = env.place / "site"
    for number in range(1000):
        info = site / f"acme_{number}-1.0.dist-info"
        info.mkdir(parents=True)
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: acme-{number}\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text(f"[console_scripts]\nacme-{number} = acme_{number}:main\n")
        (info / "RECORD").write_text(f"acme_{number}/__init__.py,,\n")
    found = {**env.env, "PYTHONPATH": str(site)}
    done = subprocess.run([env.python, "-c", INDEX, str(bench.pairs)], check=True, env=found, capture_output=True)
    mine, theirs = json.loads(done.stdout)
    bench.add("index rebuild, 1000 distributions", mine, theirs)
