"""What a package may do inside the host: be loaded as pinned, answer in time, and take nothing down with it."""

from __future__ import annotations

import json
import shutil
import sys
import textwrap
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from loopx_host.core.limits import PLUGIN_ANSWER_BYTES, STDERR_TAIL_BYTES
from tests.support.cli import Place, await_end
from tests.support.plugin_zoo import DAEMON, EXTENSION, MODULE, NAME, VERSION, VIEWS, Zoo, refused

LOAD, SIGNATURE, HOOK, CHANGED = "plugin_load_failed", "plugin_signature", "plugin_hook_failed", "activation_changed"


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
        "from loopx_host.core.errors import refusal\nraise refusal('usage_error', 'x', 'y')",
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
        hook("from loopx_host.core.errors import refusal\nraise refusal('usage_error', 'x', 'y')"),
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
