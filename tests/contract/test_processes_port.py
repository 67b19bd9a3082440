"""What the process port promises, for the real runner and for the fake of the tests (lifecycle/ports.py)."""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar

import pytest

from loopx_host.adapters.process.confinement import Level
from loopx_host.adapters.process.interrupts import ASKING_TO_STOP, Interrupts
from loopx_host.adapters.process.runner import ProcessRunner
from loopx_host.adapters.process.warm import WarmSupervisors
from loopx_host.core.errors import Interrupted
from loopx_host.lifecycle.extensions.ports import Processes
from loopx_host.lifecycle.extensions.process import Launch, Limits
from tests.support.fakes import Script, ScriptedProcesses

# Plays a Script as a real process.
PLAYER = """\
import json, os, signal, sys
script = json.load(open(sys.argv[1]))
if script["interrupted_by"]:
    os.kill(script["host"], script["interrupted_by"])
    signal.pause()
for number, text in ((1, script["stdout"]), (2, script["stderr"])):
    data = text.encode("latin-1")
    while data:
        data = data[os.write(number, data):]
if script["echo"]:
    data = sys.stdin.buffer.read()
    while data:
        data = data[os.write(1, data):]
if script["lasts"]:
    while True:
        signal.pause()
if script["signal"]:
    os.kill(os.getpid(), getattr(signal, script["signal"]))
sys.exit(script["exit_code"])
"""


class ProcessesContract:
    """The suite; a subclass says how a script is played."""

    def port(self, script: Script) -> Processes:
        raise NotImplementedError

    def argv(self, script: Script) -> list[str]:
        raise NotImplementedError

    def launch(self, script: Script, *, stdin: bytes = b"", seconds: float = 30, size: int = 1000) -> Launch:
        limits = Limits(seconds, stdout_bytes=size, stderr_bytes=size)
        return Launch(self.argv(script), limits, stdin=stdin)

    def test_an_exit_status_and_both_outputs_are_told(self) -> None:
        script = Script(exit_code=3, stdout=b"out", stderr=b"err")

        ended = self.port(script).run(self.launch(script))

        assert (ended.exit_code, ended.signal, ended.stopped_by, ended.start_error) == (3, None, None, None)
        assert (ended.stdout, ended.stderr) == (b"out", b"err")

    def test_standard_input_arrives_whole(self) -> None:
        script = Script(echo=True)
        request = bytes(range(256)) * 4000

        ended = self.port(script).run(self.launch(script, stdin=request, size=2_000_000))

        assert ended.stdout == request

    def test_an_input_that_nobody_reads_is_no_failure(self) -> None:
        script = Script(stdout=b"done")

        ended = self.port(script).run(self.launch(script, stdin=b"x" * 900_000))

        assert (ended.exit_code, ended.stdout) == (0, b"done")

    def test_the_name_of_an_ending_signal_is_told_instead_of_an_exit_status(self) -> None:
        script = Script(signal="SIGSEGV")

        ended = self.port(script).run(self.launch(script))

        assert (ended.exit_code, ended.signal, ended.stopped_by) == (None, "SIGSEGV", None)

    def test_exactly_the_limit_passes(self) -> None:
        script = Script(stdout=b"o" * 1000, stderr=b"e" * 1000)

        ended = self.port(script).run(self.launch(script))

        assert (ended.stopped_by, len(ended.stdout), len(ended.stderr)) == (None, 1000, 1000)

    @pytest.mark.parametrize("lasts", [False, True], ids=["ends", "goes on"])
    @pytest.mark.parametrize("size", [1001, 500_000])
    def test_one_byte_more_of_standard_output_breaks_the_limit(self, size: int, lasts: bool) -> None:
        script = Script(stdout=b"o" * size, lasts=lasts)

        ended = self.port(script).run(self.launch(script))

        assert (ended.stopped_by, ended.stdout) == ("response_too_large", b"o" * 1000)

    @pytest.mark.parametrize("lasts", [False, True], ids=["ends", "goes on"])
    @pytest.mark.parametrize("size", [1001, 500_000])
    def test_one_byte_more_of_standard_error_breaks_the_limit(self, size: int, lasts: bool) -> None:
        script = Script(stderr=b"e" * size, lasts=lasts)

        ended = self.port(script).run(self.launch(script))

        assert (ended.stopped_by, ended.stderr) == ("stderr_too_large", b"e" * 1000)

    def test_the_timeout_ends_it_and_keeps_what_it_wrote(self) -> None:
        script = Script(stdout=b"early", lasts=True)

        ended = self.port(script).run(self.launch(script, seconds=1.5))

        assert (ended.stopped_by, ended.exit_code, ended.stdout) == ("timeout", None, b"early")

    def test_a_program_that_cannot_start_is_told_and_not_raised(self) -> None:
        script = Script(missing=True)

        ended = self.port(script).run(self.launch(script))

        assert ended.start_error
        assert (ended.exit_code, ended.signal, ended.stopped_by) == (None, None, None)

    def test_a_signal_to_the_host_is_raised_when_it_is_over(self) -> None:
        script = Script(interrupted_by=signal.SIGTERM)

        with pytest.raises(Interrupted) as interrupted:
            self.port(script).run(self.launch(script))

        assert (interrupted.value.signal_number, interrupted.value.signal_name) == (15, "SIGTERM")

    def test_one_port_runs_one_after_another(self) -> None:
        script = Script(echo=True)
        port = self.port(script)

        outputs = [port.run(self.launch(script, stdin=text)).stdout for text in (b"one", b"two")]

        assert outputs == [b"one", b"two"]

    def test_the_containment_names_its_rung(self) -> None:
        script = Script()

        assert self.port(script).run(self.launch(script)).containment["rung"]


class RealProcesses(ProcessesContract):
    """Real processes; a subclass says how they are supervised."""

    @pytest.fixture(autouse=True)
    def _signals(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
        monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
        self.script = tmp_path / "script.json"
        numbers = (*ASKING_TO_STOP, signal.SIGCHLD)
        handlers = {number: signal.getsignal(number) for number in numbers}
        yield
        for number, handler in handlers.items():
            signal.signal(number, handler)
        signal.set_wakeup_fd(-1)

    def warm(self) -> WarmSupervisors | None:
        raise NotImplementedError

    def port(self, script: Script) -> Processes:
        interrupts = Interrupts()
        if script.interrupted_by:
            interrupts.install()
        # One of the scripts signals its host, which the default level would not let it.
        return ProcessRunner(interrupts, warm=self.warm(), level=Level("limits", is_demanded=True))

    def argv(self, script: Script) -> list[str]:
        if script.missing:
            return ["/nonexistent/program"]
        told = {
            **vars(script),
            "host": os.getpid(),
            "meanwhile": None,
            "stdout": script.stdout.decode("latin-1"),
            "stderr": script.stderr.decode("latin-1"),
        }
        self.script.write_text(json.dumps(told), encoding="ascii")
        return [sys.executable, "-IS", "-c", PLAYER, str(self.script)]


class TestForkedSupervisors(RealProcesses):
    """As the command line runs them."""

    def warm(self) -> None:
        return None


class TestWarmSupervisors(RealProcesses):
    """As an embedding program runs them."""

    helper: ClassVar[WarmSupervisors]

    @pytest.fixture(autouse=True, scope="class")
    @classmethod
    def _helper(cls) -> Iterator[None]:
        cls.helper = WarmSupervisors()
        yield
        cls.helper.close()

    def warm(self) -> WarmSupervisors:
        return self.helper


class TestScriptedProcesses(ProcessesContract):
    """The fake."""

    def port(self, script: Script) -> Processes:
        return ScriptedProcesses(script)

    def argv(self, script: Script) -> list[str]:  # noqa: ARG002 (the suite's)
        return ["/made/up/bin/provider"]
