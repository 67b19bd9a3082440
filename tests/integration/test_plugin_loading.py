"""What a package may do inside the host: be loaded as pinned, answer in time, and take nothing down with it."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import textwrap
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import loopx_host
from loopx_host.adapters.packages.plugin_loading import advertised
from loopx_host.adapters.process.descendants import snapshot
from loopx_host.core.errors import refuse
from loopx_host.core.limits import PLUGIN_ANSWER_BYTES, STDERR_TAIL_BYTES
from tests.support.cli import PATIENCE_SECONDS, Place, await_end
from tests.support.packages import STRACE, distribution, needs_strace, write_entry_points
from tests.support.plugin_zoo import EXTENSION, MODULE, NAME, VERSION, VIEWS, Zoo, refused

LOAD, SIGNATURE, HOOK, CHANGED = "plugin_load_failed", "plugin_signature", "plugin_hook_failed", "activation_changed"
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


def hook(body: str) -> str:
    """Return a module whose hook does `body`."""
    return "@hookimpl\ndef loopx_view_schemas():\n" + textwrap.indent(textwrap.dedent(body), "    ")


# name: (source of the module, code of the refusal). Everything here befalls the package while it is loaded or called.
ZOO = {
    "raises on import": ("raise ValueError('no')", LOAD),
    "fails an assertion on import": ("assert False", LOAD),
    "exits on import": ("sys.exit(0)", LOAD),
    "interrupts on import": ("raise KeyboardInterrupt", LOAD),
    "is a syntax error": ("def", LOAD),
    "needs what is not there": ("import no_such_module_anywhere", LOAD),
    "leaves at once on import": ("os._exit(0)", LOAD),
    "raises a refusal on import": (
        "from loopx_host.core.errors import refuse\nraise refuse('usage_error', 'x', 'y')",
        LOAD,
    ),
    "crashes on import": ("import faulthandler; faulthandler.disable(); os.kill(os.getpid(), signal.SIGSEGV)", LOAD),
    "closes its descriptors on import": ("os.closerange(3, 1024)", LOAD),
    "closes its descriptors on import and stays": ("os.closerange(3, 1024)\nstay()", LOAD),
    "kills its parent": ("os.kill(os.getppid(), signal.SIGKILL)\nstay()", LOAD),
    "takes an unknown argument": ("@hookimpl\ndef loopx_view_schemas(weather): return {}", SIGNATURE),
    "implements an unknown hook": ("@hookimpl\ndef loopx_make_coffee(): return {}", SIGNATURE),
    "gives an argument a default": ("@hookimpl\ndef loopx_check_invocation(request=None): return None", SIGNATURE),
    "takes an argument by keyword": ("@hookimpl\ndef loopx_view_schemas(*, weather): return {}", SIGNATURE),
    "raises": (hook("raise ValueError('no')"), HOOK),
    "raises what cannot be shown": (
        "class Bad(Exception):\n    def __str__(self): raise RuntimeError\n" + hook("raise Bad"),
        HOOK,
    ),
    "raises a refusal": (
        hook("from loopx_host.core.errors import refuse\nraise refuse('usage_error', 'x', 'y')"),
        HOOK,
    ),
    "exits": (hook("sys.exit(3)"), HOOK),
    "interrupts": (hook("raise KeyboardInterrupt"), HOOK),
    "leaves at once": (hook("os._exit(0)"), HOOK),
    "crashes": (hook("import faulthandler; faulthandler.disable(); os.kill(os.getpid(), signal.SIGSEGV)"), HOOK),
    "never stops calling itself": ("def f(): return f()\n" + hook("return f()"), HOOK),
    "closes its descriptors": (hook("os.closerange(0, 1024)\nreturn {}"), HOOK),
    "closes its descriptors and stays": (hook("os.closerange(0, 1024)\nstay()"), HOOK),
    "answers a set": (hook("return {1, 2}"), HOOK),
    "answers a tuple": (hook("return {'x': (1, 2)}"), HOOK),
    "answers NaN": (hook("return {'x': float('nan')}"), HOOK),
    "answers a number as key": (hook("return {1: 2}"), HOOK),
    "answers a lone surrogate": (hook("return {'x': chr(0xD800)}"), HOOK),
    "answers itself": (hook("x = {}\nx['x'] = x\nreturn x"), HOOK),
    "answers a coroutine": ("@hookimpl\nasync def loopx_view_schemas(): return {}", HOOK),
    "answers too much": (hook(f"return {{'x': 'x' * {PLUGIN_ANSWER_BYTES}}}"), HOOK),
    "leaves a thread": (hook("threading.Thread(target=stay).start()\nreturn {}"), HOOK),
    "floods the pipe": (
        hook("while True:\n    for number in PIPES:\n        try: os.write(number, b'x' * 65536)\n"
             "        except OSError: pass"),
        HOOK,
    ),
}  # fmt: skip


@pytest.fixture
def zoo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Zoo:
    return Zoo(tmp_path, monkeypatch)


@pytest.fixture
def place(zoo: Zoo) -> Iterator[Place]:
    made = Place(zoo.place)
    yield made
    made.close()


@pytest.mark.req("B16")
def test_an_implementation_answers_and_without_it_the_hook_has_none(zoo: Zoo) -> None:
    activation = zoo.put()
    answers = zoo.call(activation)
    shutil.rmtree(zoo.info)
    (zoo.site / f"{MODULE}.py").unlink()
    without = zoo.put(VIEWS.replace("@hookimpl", ""))

    assert answers == [{"beast_v0": {"type": "object"}}]
    assert zoo.call(without) == []


@pytest.mark.req("B16")
def test_a_command_answers_and_without_its_mark_it_is_refused(zoo: Zoo) -> None:
    source = '@hookimpl(specname="loopx_run_command")\ndef roar(arguments, host):\n    return {"said": arguments}\n'
    commands = {"roar": f"{MODULE}:roar"}
    activation = zoo.put(source, commands=commands)
    answer = zoo.command(activation, arguments=("loud", "twice"))
    (zoo.site / f"{MODULE}.py").write_text("def roar(arguments, host):\n    return {}\n", "utf-8")

    assert answer == {"said": ["loud", "twice"]}
    assert refused(lambda: zoo.command(activation)).code == SIGNATURE


@pytest.mark.req("B16")
@pytest.mark.parametrize("library", ["stevedore.named", "pluggy", "importlib_metadata"])
def test_without_the_library_nothing_is_loaded(zoo: Zoo, monkeypatch: pytest.MonkeyPatch, library: str) -> None:
    activation = zoo.put()
    for name in [one for one in sys.modules if one == library or one.startswith(f"{library}.")]:
        monkeypatch.delitem(sys.modules, name)
    for name in ("loopx_host.hookspecs.markers", "loopx_host.hookspecs.specs"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    monkeypatch.setitem(sys.modules, library, None)

    assert refused(lambda: zoo.call(activation)).code in (LOAD, CHANGED)


@pytest.mark.req("X15")
@pytest.mark.parametrize("case", ZOO)
def test_a_package_takes_its_own_row_down_and_nothing_else(zoo: Zoo, case: str) -> None:
    source, code = ZOO[case]
    activation = zoo.put(source)

    said = refused(lambda: zoo.call(activation))

    assert said.code == code
    assert said.diagnostic.subject == EXTENSION
    assert said.diagnostic.next_command == ("extension", "disable", EXTENSION, "--execute")
    assert said.blocks["distribution"] == {"name": NAME, "version": VERSION}
    assert said.blocks["entry_point"] == {"group": "loopx.plugins", "name": EXTENSION, "value": MODULE}


@pytest.mark.parametrize(
    ("source", "seconds"),
    [("stay()", (1.0, 30.0)), ("while True: pass", (1.0, 30.0)), (hook("stay()"), (30.0, 0.5))],
    ids=["waits on import", "runs on import", "waits when called"],
)
def test_what_never_ends_is_ended_in_time(zoo: Zoo, source: str, seconds: tuple[float, float]) -> None:
    activation = zoo.put(source)
    began = time.monotonic()

    said = refused(lambda: zoo.call(activation, seconds=seconds))

    assert said.code == (HOOK if "def loopx" in source else LOAD)
    assert time.monotonic() - began < 25


@pytest.mark.parametrize("at", ["import", "call"])
def test_a_daemon_does_not_outlive_the_package_that_left_it(zoo: Zoo, place: Place, at: str) -> None:
    activation = zoo.put(DAEMON + ("go()\n" + VIEWS if at == "import" else hook("go()\nreturn {}")))

    said = refused(lambda: zoo.call(activation))

    assert said.code == HOOK
    assert place.recorded() == ["daemon"]
    assert await_end(place) == []


def test_a_daemon_does_not_outlive_a_package_that_ran_out_of_time(zoo: Zoo, place: Place) -> None:
    activation = zoo.put(DAEMON + hook("go()\nstay()"))

    said = refused(lambda: zoo.call(activation, seconds=(30.0, 1.5)))

    assert said.code == HOOK
    assert place.recorded() == ["daemon"]
    assert await_end(place) == []


def test_a_copy_of_the_package_that_comes_back_answers_nothing(zoo: Zoo) -> None:
    activation = zoo.put(hook("child = os.fork()\nif child: os.waitpid(child, 0)\nreturn {'copy': child == 0}"))

    assert zoo.call(activation) == [{"copy": False}]


def test_a_daemon_thread_is_no_offence(zoo: Zoo) -> None:
    activation = zoo.put(hook("threading.Thread(target=stay, daemon=True).start()\nreturn {}"))

    assert zoo.call(activation) == [{}]


def test_printed_text_goes_nowhere_when_all_is_well(zoo: Zoo, capfd: pytest.CaptureFixture[str]) -> None:
    flood = "print('y' * 1_000_000)\nos.write(1, b'raw')\nos.write(2, b'raw')\nreturn {}"
    activation = zoo.put("print('x' * 1_000_000)\n" + hook(flood))

    answers = zoo.call(activation)

    assert answers == [{}]
    assert capfd.readouterr() == ("", "")


def test_the_end_of_printed_text_is_shown_cleaned_with_a_refusal(zoo: Zoo) -> None:
    said = "print('x' * 1_000_000)\nos.write(2, b'\\x1b[31mtoken=abcdef123456\\xff\\n')\nraise ValueError('\\x1b]0;')"
    activation = zoo.put(hook(said))

    document = refused(lambda: zoo.call(activation)).document

    output = str(document["output"])
    assert len(output.encode()) <= STDERR_TAIL_BYTES
    assert output.startswith("x")
    assert "abcdef123456" not in output
    assert "\x1b" not in json.dumps(document, ensure_ascii=False)


def test_a_package_reads_nothing_from_standard_input(zoo: Zoo) -> None:
    activation = zoo.put(hook("return {'read': sys.stdin.read(), 'raw': len(os.read(0, 10))}"))

    assert zoo.call(activation) == [{"read": "", "raw": 0}]


def test_arguments_arrive_and_none_is_left_out(zoo: Zoo) -> None:
    source = "@hookimpl\ndef loopx_check_invocation(request):\n    return request.pop('answer')\n"
    activation = zoo.put(source)
    request: dict[str, Any] = {"answer": {"deny": "no"}}

    answers = zoo.call(activation, "loopx_check_invocation", request=request)

    assert answers == [{"deny": "no"}]
    assert request == {"answer": {"deny": "no"}}
    assert zoo.call(activation, "loopx_check_invocation", request={"answer": None}) == []


@pytest.mark.req("X15")
def test_a_package_that_is_installed_only_never_runs(zoo: Zoo) -> None:
    zoo.put(f"open({str(zoo.canary)!r}, 'w').close()\n" + VIEWS, commands={"roar": f"{MODULE}:roar"})
    nothing = zoo.activation(plugin=None)

    answers = zoo.call(nothing)
    said = refused(lambda: zoo.command(nothing))

    assert answers == []
    assert said.code == CHANGED
    assert not zoo.canary.exists()


@pytest.mark.req("X15")
def test_a_package_runs_once_it_is_activated(zoo: Zoo) -> None:
    activation = zoo.put(f"open({str(zoo.canary)!r}, 'w').close()\n" + VIEWS)

    zoo.call(activation)

    assert zoo.canary.exists()


def swap(zoo: Zoo) -> None:
    (zoo.site / "other_hooks.py").write_text((zoo.site / f"{MODULE}.py").read_text("utf-8"), "utf-8")
    write_entry_points(zoo.info, {"loopx.plugins": {EXTENSION: "other_hooks"}})


def add_command(zoo: Zoo) -> None:
    write_entry_points(zoo.info, {"loopx.plugins": {EXTENSION: MODULE}, "loopx.commands": {"roar": f"{MODULE}:f"}})


def take_metadata(zoo: Zoo) -> None:
    shutil.rmtree(zoo.info)


def change_version(zoo: Zoo) -> None:
    metadata = zoo.info / "METADATA"
    metadata.write_text(metadata.read_text("utf-8").replace("Version: 1.0", "Version: 1.1"), "utf-8")


def damage(zoo: Zoo) -> None:
    (zoo.info / "METADATA").unlink()


def garble(zoo: Zoo) -> None:
    with (zoo.info / "entry_points.txt").open("a") as opened:
        opened.write("no equals sign\n")


def put_before(zoo: Zoo) -> None:
    """Put another version of the package on the path before the activated one."""
    earlier = zoo.site.parent / "earlier"
    earlier.mkdir()
    distribution(earlier, NAME, "2.0", groups={"loopx.plugins": {EXTENSION: MODULE}})
    sys.path.insert(0, str(earlier))  # taken back with the fixture's own change


CHANGES = (swap, add_command, take_metadata, change_version, damage, garble, put_before)


@pytest.mark.req("X15")
@pytest.mark.parametrize("change", CHANGES, ids=lambda one: one.__name__)
def test_what_is_not_what_was_activated_never_runs(zoo: Zoo, change: Any) -> None:
    activation = zoo.put(f"open({str(zoo.canary)!r}, 'w').close()\n" + VIEWS)
    change(zoo)

    said = refused(lambda: zoo.call(activation))

    assert (said.code, said.diagnostic.subject) == (CHANGED, EXTENSION)
    assert said.diagnostic.next_command == ("extension", "upgrade", EXTENSION)
    assert not zoo.canary.exists()


def test_metadata_without_the_module_is_a_failed_load(zoo: Zoo) -> None:
    activation = zoo.put()
    (zoo.site / f"{MODULE}.py").unlink()

    assert refused(lambda: zoo.call(activation)).code == LOAD


def test_a_command_without_its_function_is_a_failed_load(zoo: Zoo) -> None:
    activation = zoo.put(commands={"roar": f"{MODULE}:no_such_function"})

    said = refused(lambda: zoo.command(activation))

    assert said.code == LOAD
    assert said.blocks["entry_point"] == {
        "group": "loopx.commands",
        "name": "roar",
        "value": f"{MODULE}:no_such_function",
    }


def test_an_unknown_command_is_refused_before_anything_is_loaded(zoo: Zoo) -> None:
    activation = zoo.put(f"open({str(zoo.canary)!r}, 'w').close()\n", commands={"roar": f"{MODULE}:roar"})

    said = refused(lambda: zoo.command(activation, "purr"))

    assert said.code == "command_not_activated"
    assert not zoo.canary.exists()


def test_the_callers_directory_is_no_place_to_load_from(
    zoo: Zoo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    activation = zoo.put()
    here = tmp_path / "here"
    here.mkdir()
    (here / f"{MODULE}.py").write_text(f"open({str(zoo.canary)!r}, 'w').close()", "utf-8")
    monkeypatch.chdir(here)
    monkeypatch.setattr(sys, "path", ["", *sys.path])

    answers = zoo.call(activation)

    assert answers == [{"beast_v0": {"type": "object"}}]
    assert not zoo.canary.exists()


COMMAND = '@hookimpl(specname="loopx_run_command")\ndef roar(arguments, host):\n'


def command(zoo: Zoo, body: str) -> Any:
    return zoo.put(COMMAND + textwrap.indent(textwrap.dedent(body), "    "), commands={"roar": f"{MODULE}:roar"})


class Deaf:
    """A host that refuses everything, in the fullest form a refusal has."""

    @staticmethod
    def invoke(*_: object, **__: object) -> None:
        raise refuse(
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


ROWS = {
    "a plugin that names an attribute": ({EXTENSION: f"{MODULE}:hooks"}, {}),
    "a plugin that is no module": ({EXTENSION: "not a module"}, {}),
    "a plugin of another extension": ({"other": MODULE}, {}),
    "a command without a function": ({}, {"roar": MODULE}),
    "a command with an attribute path": ({}, {"roar": f"{MODULE}:a.b"}),
    "a command that is no name": ({}, {"Roar!": f"{MODULE}:roar"}),
    "a command that looks like an option": ({}, {"--help": f"{MODULE}:roar"}),
}


@pytest.mark.parametrize("row", ROWS)
def test_a_malformed_entry_point_is_left_out(zoo: Zoo, row: str) -> None:
    plugins, commands = ROWS[row]
    zoo.put()
    write_entry_points(zoo.info, {"loopx.plugins": plugins, "loopx.commands": {**commands, "purr": f"{MODULE}:purr"}})

    found = advertised({"name": NAME, "version": VERSION}, EXTENSION)

    assert found == {"plugins": [], "commands": [{"name": "purr", "value": f"{MODULE}:purr"}]}


@pytest.mark.parametrize(
    "change", [take_metadata, change_version, damage, garble, put_before], ids=lambda one: one.__name__
)
def test_a_distribution_that_is_not_the_owner_here_advertises_nothing(zoo: Zoo, change: Any) -> None:
    zoo.put()
    change(zoo)

    assert advertised({"name": NAME, "version": VERSION}, EXTENSION) == {"plugins": [], "commands": []}


def test_reading_the_entry_points_of_a_package_runs_none_of_it(zoo: Zoo) -> None:
    zoo.put(f"open({str(zoo.canary)!r}, 'w').close()\n" + VIEWS)

    found = advertised({"name": NAME, "version": VERSION}, EXTENSION)

    assert found["plugins"] == [{"name": EXTENSION, "value": MODULE}]
    assert not zoo.canary.exists()
