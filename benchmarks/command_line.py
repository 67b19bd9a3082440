"""What is typed into a shell: start-up, runs, what lies beside, cold byte code, memory, Node."""

from __future__ import annotations

import shutil
import sys
import time
from pathlib import Path

from benchmarks.bench import REQUEST, ROOT, Bench, Environment

LIST = ["extension", "list"]
SETTLED_SECONDS = 0.2  # the index is written once the environment has been still for a moment
CROWDS = (20, 1000)
ADVERTISED = ("loopx.extensions", "loopx.plugins", "loopx.commands", "console_scripts")


def run_words(extension: str, request: Path = REQUEST) -> list[str]:
    """Return the words that run one extension."""
    return ["extension", "run", extension, "--input-json", str(request), "--execute", "--format", "json"]


def startup(bench: Bench) -> None:
    """The smallest commands against a Python that does nothing."""
    env = bench.environment()
    bare = (env, env.bare())
    bench.compare("import loopx_host", (env, [env.python, "-c", "import loopx_host"]), bare)
    bench.compare("--version", (env, [env.loopx, "--version"]), bare)
    bench.compare("--help", (env, [env.loopx, "--help"]), bare)
    bench.compare("leaf --help", (env, [env.loopx, "extension", "install", "--help"]), bare)
    bench.compare("extension list, 10 installed", (env, [env.loopx, *LIST]), bare)


def run(bench: Bench) -> None:
    """A run against its provider, both from the shell."""
    env = bench.environment()
    provider = (env, [str(env.bin / "loopx-text-stats")])
    for name, extension in (("no schemas", "plain0"), ("text-stats with schemas", "loopx-text-stats")):
        bench.compare(f"extension run, {name}", (env, [env.loopx, *run_words(extension)]), provider)


def crowd(bench: Bench) -> None:
    """The same commands with other distributions beside them and without: what is installed costs nothing (B8)."""
    alone, crowded = bench.environment(), bench.environment("crowd")
    commands = {
        "--version": ["--version"],
        "--help": ["--help"],
        "extension list, 10 installed": LIST,
        "extension run, no schemas": run_words("plain0"),
    }
    made = 0
    for count in CROWDS:
        _put_beside(crowded, range(made, count))
        made = count
        time.sleep(SETTLED_SECONDS)
        crowded.must("extension", "discover")
        for name, words in commands.items():
            row = f"{name}: {count} distributions beside, against none"
            bench.compare(row, (crowded, [crowded.loopx, *words]), (alone, [alone.loopx, *words]))


def _put_beside(env: Environment, numbers: range) -> None:
    """Write distributions, each of which says that it brings an extension, a plugin and a command."""
    for number in numbers:
        info = env.site / f"crowd_{number}-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: crowd-{number}\nVersion: 1.0\n")
        lines = [f"[{group}]\ncrowd-{number} = crowd_{number}\n" for group in ADVERTISED]
        (info / "entry_points.txt").write_text("".join(lines))
        (info / "RECORD").write_text("")


def cold(bench: Bench) -> None:
    """Commands right after their byte code was removed, that of the libraries too, against the same with it."""
    env = bench.environment()

    def forget() -> None:
        for folder in env.site.rglob("__pycache__"):
            shutil.rmtree(folder)

    for name, words in (("extension list", LIST), ("extension run, no schemas", run_words("plain0"))):
        command = (env, [env.loopx, *words])
        bench.compare(f"{name}: cold byte code over warm (ms added)", command, command, "ms", before=forget)


def memory(bench: Bench) -> None:
    """The peak of a process against that of a Python that does nothing."""
    env = bench.environment()
    runs = {"list": LIST, "run": run_words("plain0"), "run with schemas": run_words("loopx-text-stats")}
    for name, words in runs.items():
        samples = [
            (env.sample([env.loopx, *words], REQUEST), env.sample(env.bare(), REQUEST))
            for _ in range(bench.pairs + 1)
        ][1:]
        if not samples[0][0].cost:
            return
        mine, theirs = ([float(side.cost["peak_kib"]) for side in column] for column in zip(*samples, strict=True))
        bench.add(f"peak memory: {name}", mine, theirs)


def node(bench: Bench) -> None:
    """What Node costs by itself, and what a run adds to a provider in it."""
    found = shutil.which("node")
    if found is None:
        print("Node: not measured, there is none on PATH", file=sys.stderr)
        return
    env = bench.environment()
    folder = Path(shutil.copytree(ROOT / "examples" / "node-provider", env.place / "node-provider"))
    env.must("extension", "install", "--manifest", str(folder / "extension.toml"), "--execute")
    request = folder / "examples/request.json"
    bench.compare("Node start, against `python -c pass`", (env, [found, "-e", "0"]), (env, env.bare()))
    ours = (env, [env.loopx, *run_words("loopx-node-word-count", request)])
    provider = (env, [found, str(folder / "provider.mjs")])
    bench.compare("extension run, Node provider (ms added)", ours, provider, "ms", stdin=request)
