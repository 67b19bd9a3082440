"""What packages bring: capabilities in the catalogue, a command, a hook."""

from __future__ import annotations

import json
import time

from benchmarks.bench import Bench, Environment
from benchmarks.command_line import SETTLED_SECONDS

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


def _offer(env: Environment, number: int) -> None:
    """Put a package that offers an extension with one capability into the environment, as pip would leave it."""
    (env.site / f"offered_{number}").mkdir()
    (env.site / f"offered_{number}/__init__.py").write_text("")
    (env.site / f"offered_{number}/extension.toml").write_text(OFFERED.format(number=number))
    info = env.site / f"offered_{number}-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: offered-{number}\nVersion: 1\n")
    (info / "entry_points.txt").write_text(f"[loopx.extensions]\noffered-{number} = offered_{number}\n")
    (info / "RECORD").write_text("")


def capabilities(bench: Bench) -> None:
    """The catalogue of an environment in which packages offer capabilities and nobody installed their extensions."""
    env = bench.environment("offering")
    words = [env.loopx, "capability", "list", "--runtime-root", str(env.place / "nothing-installed")]
    made = 0
    for count, name in ((0, "core only"), (20, "20 packages"), (200, "200 packages")):
        for number in range(made, count):
            _offer(env, number)
        made = count
        time.sleep(SETTLED_SECONDS)
        env.must(*words[1:])
        bench.compare(f"capability list, {name}", (env, words), (env, env.bare()))


OWN_IMPORTS = "import argparse, json, urllib.parse; from loopx_host import hookimpl"
MODULE = (
    OWN_IMPORTS.replace("; ", "\n")
    + """

@hookimpl(specname="loopx_run_command")
def command(arguments, host):
    return {"ok": True, "schema_version": "bench_v0"}

@hookimpl
def loopx_view_schemas():
    return {}
"""
)
# A hook as the host calls it, in children that load the package, and a bare fork that imports and calls the same.
HOOK = """
import json, os, sys, time
from loopx_host.adapters.packages.plugin_loading import load
from loopx_host.adapters.process.interrupts import Interrupts
from loopx_host.adapters.process.plugin_process import ForkedPlugins
from loopx_host.assembly.container import Container
from loopx_host.lifecycle.extensions.activation import Activation
from loopx_host.lifecycle.extensions.state import State

store = Container().store
activation = Activation.of(State.parse(store.read(), store.location).entry("commanding"))
plugins = ForkedPlugins(Interrupts(), load)

def in_its_child():
    assert plugins.call(activation, "loopx_view_schemas", {}) == [{}]

def in_a_bare_fork():
    child = os.fork()
    if child == 0:
        import pluggy
        import commanding.code
        from loopx_host.hookspecs import specs
        manager = pluggy.PluginManager("loopx")
        manager.add_hookspecs(specs)
        manager.register(commanding.code)
        os._exit(manager.hook.loopx_view_schemas() != [{}])
    assert os.waitpid(child, 0)[1] == 0

def timed(call):
    began = time.perf_counter()
    call()
    return 1000 * (time.perf_counter() - began)

rows = [(timed(in_its_child), timed(in_a_bare_fork)) for _ in range(int(sys.argv[1]) + 1)][1:]
print(json.dumps([*zip(*rows)]))
"""


def commands(bench: Bench) -> None:
    """A command of an activated package against a Python that makes the package's own imports and nothing else."""
    env = bench.environment()
    _install_commanding(env)
    ours = (env, [env.loopx, "bench-me"])
    bench.compare(
        "a package's command over its own imports (ms added)", ours, (env, [env.python, "-c", OWN_IMPORTS]), "ms"
    )
    other = (env, [env.loopx, "extension", "show", "commanding"])
    bench.compare("a package's command over a command of the host (ms added)", ours, other, "ms")


def hooks(bench: Bench) -> None:
    """A hook of an activated package, called as the host calls it."""
    env = bench.environment()
    _install_commanding(env)
    mine, theirs = json.loads(env.must_say("-c", HOOK, str(bench.pairs)))
    bench.add("a hook through its child, against a bare fork that loads and calls it", mine, theirs)


def _install_commanding(env: Environment) -> None:
    """Install a package that brings a command and a hook, and its extension."""
    folder = env.place / "commanding"
    package = folder / "src" / "commanding"
    if package.exists():
        return
    package.mkdir(parents=True)
    (folder / "pyproject.toml").write_text(
        '[build-system]\nrequires = ["hatchling"]\nbuild-backend = "hatchling.build"\n'
        '[project]\nname = "commanding"\nversion = "1"\n[project.scripts]\ncommanding = "commanding:main"\n'
        '[project.entry-points."loopx.extensions"]\ncommanding = "commanding"\n'
        '[project.entry-points."loopx.plugins"]\ncommanding = "commanding.code"\n'
        '[project.entry-points."loopx.commands"]\nbench-me = "commanding.code:command"\n'
    )
    (package / "__init__.py").write_text("def main():\n    return 0\n")
    (package / "code.py").write_text(MODULE)
    (package / "extension.toml").write_text(OFFERED.format(number="x").replace("offered-x", "commanding"))
    env.pip("install", "--compile", str(folder))
    env.must("extension", "install", "commanding", "--execute")
