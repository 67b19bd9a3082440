"""Packages whose code runs inside the host: real metadata and modules on the search path, and what may befall one."""

from __future__ import annotations

import os
import textwrap
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from loopx_host.adapters.packages.plugin_loading import load
from loopx_host.adapters.process.interrupts import Interrupts
from loopx_host.adapters.process.plugin_process import ForkedPlugins
from loopx_host.core.errors import Refused
from loopx_host.lifecycle.extensions.activation import Activation
from loopx_host.lifecycle.extensions.identity import BytecodeKey
from tests.support.packages import distribution

if TYPE_CHECKING:
    from loopx_host.documents.parts import EntryPoint

EXTENSION, NAME, VERSION, MODULE = "beast", "beast-package", "1.0", "beast_hooks"
PRELUDE = """\
import os, signal, sys, threading, time
PIPES = [number for number in range(3, 100) if str(number) not in BEFORE]  # none that the tests run with
from loopx_host.hookspecs.markers import hookimpl

def record(name):
    # One line "name pid start-time", as tests.support.cli.Place reads it.
    with open("/proc/self/stat", "rb") as status:
        started = status.read().rpartition(b")")[2].split()[19].decode()
    with open(PLACE + "/processes", "a") as kept:
        kept.write(f"{name} {os.getpid()} {started}\\n")

def stay():
    while True:
        signal.pause()

"""
DAEMON = """
def go():
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
                signal.signal(number, signal.SIG_IGN)
            record("daemon")
            os.write(told[1], b"!")
            stay()
        os._exit(0)
    os.read(told[0], 1)

told = os.pipe()
"""
VIEWS = """
@hookimpl
def loopx_view_schemas():
    return {"beast_v0": {"type": "object"}}
"""


class Zoo:
    """A directory of the search path with one package in it, and the hooks of that package."""

    def __init__(self, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.site = root / "site"
        self.place = root / "place"
        self.site.mkdir()
        self.place.mkdir()
        self.canary = root / "canary"
        monkeypatch.syspath_prepend(str(self.site))

    def put(
        self, source: str = VIEWS, *, commands: Mapping[str, str] | None = None, plugin: str | None = MODULE
    ) -> Activation:
        """Install the package whose module is `source`; return what an activation of it would have pinned."""
        before = os.listdir("/proc/self/fd")
        text = f"BEFORE = {before!r}\nPLACE = {str(self.place)!r}\n{PRELUDE}{textwrap.dedent(source)}"
        groups: dict[str, Mapping[str, str]] = {}
        if plugin is not None:
            groups["loopx.plugins"] = {EXTENSION: plugin}
        if commands:
            groups["loopx.commands"] = commands
        self.info = distribution(self.site, NAME, VERSION, groups=groups, files={f"{MODULE}.py": text})
        return self.activation(plugin=plugin, commands=commands)

    def activation(
        self,
        *,
        plugin: str | None = MODULE,
        commands: Mapping[str, str] | None = None,
        version: str = VERSION,
    ) -> Activation:
        """Return an activation record of the package."""
        plugins: list[EntryPoint] = [] if plugin is None else [{"name": EXTENSION, "value": plugin}]
        rows: list[EntryPoint] = [{"name": name, "value": value} for name, value in (commands or {}).items()]
        key = BytecodeKey(EXTENSION, "a revision", "an identity")
        return Activation(EXTENSION, {"name": NAME, "version": version}, plugins, rows, key)

    def call(
        self,
        activation: Activation,
        hook: str = "loopx_view_schemas",
        seconds: tuple[float, float] = (30.0, 30.0),
        **arguments: Any,
    ) -> list[Any]:
        """Call a hook; `seconds` are those for loading and for the call, generous on a busy machine."""
        return self._plugins(seconds).call(activation, hook, arguments)

    def command(
        self, activation: Activation, name: str = "roar", *, arguments: tuple[str, ...] = (), host: object = None
    ) -> dict[str, Any]:
        """Run a command."""
        return self._plugins((30.0, 30.0)).command(activation, name, list(arguments), host)

    def _plugins(self, seconds: tuple[float, float]) -> ForkedPlugins:
        return ForkedPlugins(Interrupts(), load, load_seconds=seconds[0], hook_seconds=seconds[1])


def refused(work: Callable[[], object]) -> Refused:
    """Return the refusal of `work`."""
    with pytest.raises(Refused) as caught:
        work()
    return caught.value
