"""A package's command is one process: it ends with the host, asks it by name, and leaves nothing behind."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import loopx_host
from loopx_host.adapters.process.descendants import snapshot
from loopx_host.core.errors import refusal
from tests.support.cli import PATIENCE_SECONDS, Place, await_end
from tests.support.packages import STRACE, needs_strace
from tests.support.plugin_zoo import DAEMON, EXTENSION, MODULE, Zoo, refused

LOAD, SIGNATURE, HOOK, CHANGED = "plugin_load_failed", "plugin_signature", "plugin_hook_failed", "activation_changed"


def hook(body: str) -> str:
    """Return a module whose hook does `body`."""
    return "@hookimpl\ndef loopx_view_schemas():\n" + textwrap.indent(textwrap.dedent(body), "    ")


@pytest.fixture
def zoo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Zoo:
    return Zoo(tmp_path, monkeypatch)


@pytest.fixture
def place(zoo: Zoo) -> Iterator[Place]:
    made = Place(zoo.place)
    yield made
    made.close()


COMMAND = '@hookimpl(specname="loopx_run_command")\ndef roar(arguments, host):\n'


def command(zoo: Zoo, body: str) -> Any:
    return zoo.put(COMMAND + textwrap.indent(textwrap.dedent(body), "    "), commands={"roar": f"{MODULE}:roar"})


class Deaf:
    """A host that refuses everything, in the fullest form a refusal has."""

    @staticmethod
    def invoke(*_: object, **__: object) -> None:
        raise refusal(
            "binding_missing",
            "subject",
            "a sentence",
            hint="a hint",
            next_command=("capability", "list"),
            would_refuse={"code": "x", "next_command": ("extension", "list")},
        )


def test_a_refusal_of_the_host_crosses_as_it_is(zoo: Zoo) -> None:
    activation = command(zoo, "return host.invoke('a', 'b', {})")

    said = refused(lambda: zoo.command(activation, host=Deaf()))

    assert said.document == refused(Deaf.invoke).document
    assert said.exit_status == refused(Deaf.invoke).exit_status


UNKNOWN_CODE = """\
from loopx_host.core.errors import Refused
from loopx_host.core.diagnostics import Diagnostic
raise Refused(Diagnostic('no_such_code', 'x', 'y'))
"""


@pytest.mark.parametrize(
    "body",
    [
        "return None",
        "return []",
        "sys.exit(0)",
        "raise Exception",
        UNKNOWN_CODE,
    ],
)
def test_a_command_that_gives_no_document_is_refused(zoo: Zoo, body: str) -> None:
    activation = command(zoo, body)

    assert refused(lambda: zoo.command(activation)).code == HOOK


DRIVER = """\
import json, os, sys
sys.path.insert(0, {site!r})
from loopx_host.adapters.packages.plugin_loading import load
from loopx_host.adapters.process.interrupts import Interrupts
from loopx_host.adapters.process.plugin_process import ForkedPlugins
from loopx_host.adapters.process.runner import ProcessRunner
from loopx_host.core.errors import Interrupted, Refused
from loopx_host.lifecycle.extensions.activation import Activation
from loopx_host.lifecycle.extensions.process import Launch, Limits

class Host:
    def invoke(self, *_):
        program = {program!r}
        limits = Limits(timeout_seconds=100)
        ended = ProcessRunner(interrupts).run(Launch([program, "run"], limits, stdin={request!r}))
        return {{"ended": ended.stopped_by}}

activation = Activation({extension!r}, {label!r}, {plugins!r}, {commands!r})
interrupts = Interrupts()
interrupts.install()
plugins = ForkedPlugins(interrupts, load)
try:
    if activation.commands:
        said = plugins.command(activation, "roar", [], Host())
    else:
        said = plugins.call(activation, "loopx_view_schemas", {{}})
    print(json.dumps(said))
except Interrupted as caught:
    sys.exit(128 + caught.signal_number)
except Refused as caught:
    print(json.dumps(caught.document))
    sys.exit(2)
"""


def drive(zoo: Zoo, activation: Any, *, program: Path | None = None, request: bytes = b"") -> str:
    """Return the program of a process that has a package do its work, as the command line would."""
    return DRIVER.format(
        site=str(zoo.site),
        program=str(program),
        request=request,
        extension=EXTENSION,
        label=activation.distribution,
        plugins=activation.plugins,
        commands=activation.commands,
    )


def start(program: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-c", program], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)


def wait(process: subprocess.Popen[bytes]) -> int:
    try:
        return process.wait(PATIENCE_SECONDS)
    finally:
        process.kill()
        process.communicate()


READY = "record('worker')\nopen(PLACE + '/ready', 'wb').write(b'!')\n"
SIGNALS = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL]


@pytest.mark.parametrize("number", SIGNALS)
def test_a_signal_to_the_host_ends_a_command_and_all_it_started(zoo: Zoo, place: Place, number: int) -> None:
    activation = zoo.put(
        DAEMON + COMMAND + textwrap.indent("go()\n" + READY + "stay()", "    "), commands={"roar": f"{MODULE}:roar"}
    )
    host = start(drive(zoo, activation))
    place.wait_until_ready()
    host.send_signal(number)

    status = wait(host)

    assert status == (-number if number == signal.SIGKILL else 128 + number)
    assert sorted(place.recorded()) == ["daemon", "worker"]
    assert await_end(place) == []


@pytest.mark.parametrize("number", SIGNALS)
def test_a_signal_to_the_host_ends_the_run_that_a_command_asked_for(
    zoo: Zoo, place: Place, tmp_path: Path, number: int
) -> None:
    from tests.support.providers import PUPPET

    program = tmp_path / "provider"
    program.write_text(PUPPET, "utf-8")
    program.chmod(0o755)
    runtime = tmp_path / "runtime"
    runtime.mkdir()
    request = json.dumps(place.request("record('leader')\ndescend('daemon')\nready()\nstay()")).encode()
    activation = command(zoo, "return host.invoke('a', 'b', {})")
    source = (
        f"import os; os.environ['LOOPX_CONTAINMENT'] = 'limits'; os.environ['XDG_RUNTIME_DIR'] = {str(runtime)!r}\n"
    )
    level = "from loopx_host.adapters.process.confinement import level_named\n"
    driver = drive(zoo, activation, program=program, request=request).replace(
        "ProcessRunner(interrupts)", "ProcessRunner(interrupts, level=level_named('limits'))"
    )
    host = start(source + level + driver)
    place.wait_until_ready()
    host.send_signal(number)

    status = wait(host)

    assert status == (-number if number == signal.SIGKILL else 128 + number)
    assert sorted(place.recorded()) == ["daemon", "leader"]
    assert await_end(place) == []
    assert number == signal.SIGKILL or list(runtime.iterdir()) == []


@needs_strace
@pytest.mark.parametrize("is_stock", [False, True], ids=["ours", "the stock manager"])
def test_loading_writes_nothing_where_stevedore_would_keep_a_cache(zoo: Zoo, is_stock: bool) -> None:
    """Its cache is off for an interpreter below /tmp, so this one is elsewhere; the stock manager does write."""
    assert STRACE is not None
    activation = zoo.put()
    with tempfile.TemporaryDirectory(dir="/var/tmp") as made:
        prefix = Path(made)
        home = prefix / "home"
        (prefix / "bin").mkdir()
        home.mkdir()
        base = Path(sys.executable).resolve()
        python = prefix / "bin/python"
        python.symlink_to(base)
        (prefix / "pyvenv.cfg").write_text(f"home = {base.parent}\ninclude-system-site-packages = false\n", "utf-8")
        import stevedore

        sites = [str(Path(one.__file__ or "").parents[1]) for one in (loopx_host, stevedore)]
        program = drive(zoo, activation)
        if is_stock:
            program = (
                "from stevedore.named import NamedExtensionManager\nNamedExtensionManager('loopx.plugins', [])\n"
            )
        env = {"HOME": str(home), "PATH": "/usr/bin:/bin", "PYTHONPATH": ":".join([*sites, str(zoo.site)])}
        trace = prefix / "trace"
        done = subprocess.run(
            [STRACE, "-f", "-qq", "-y", "-e", "trace=%file", "-o", str(trace), python, "-B", "-c", program],
            env=env,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=PATIENCE_SECONDS,
            check=False,
        )
        written = [
            line
            for line in trace.read_text("utf-8", "replace").splitlines()
            if ("O_WRONLY" in line or "O_RDWR" in line or "O_CREAT" in line or "mkdir" in line or "rename" in line)
            and " = -1 " not in line
            and "/dev/" not in line
            and "/.cache/loopx" not in line  # where the host keeps the byte code of what was activated
            and '/.cache", ' not in line
        ]
        cache = home / ".cache"
        kept = [path for path in home.rglob("*") if path.is_file() and not path.is_relative_to(cache / "loopx")]
        kept += [path for path in cache.rglob("*") if path.is_file() and path.suffix != ".pyc"]

    assert done.returncode == 0, done.stderr
    assert bool(written) == is_stock, written
    assert bool(kept) == is_stock


def test_a_package_writes_no_byte_code_into_its_own_tree(zoo: Zoo) -> None:
    activation = zoo.put()

    zoo.call(activation)

    assert not (zoo.site / "__pycache__").exists()


def test_the_host_is_what_it_was_after_a_package_ran(zoo: Zoo) -> None:
    before = (list(sys.path), set(os.listdir("/proc/self/fd")), MODULE in sys.modules, sys.dont_write_bytecode)
    children = snapshot()
    activation = zoo.put(hook("raise Exception"))

    refused(lambda: zoo.call(activation))

    assert (
        list(sys.path),
        set(os.listdir("/proc/self/fd")),
        MODULE in sys.modules,
        sys.dont_write_bytecode,
    ) == before
    assert snapshot() == children
