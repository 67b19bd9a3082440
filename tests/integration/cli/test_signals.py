"""INT, TERM and HUP: who is ended, what is said, with which exit status (contract section 4)."""

from __future__ import annotations

import json
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.cli import Answer, Loopx, Place, finish
from tests.support.levels import LEAVES_MARKS
from tests.support.puppets import install_puppets

pytestmark = LEAVES_MARKS

STATUS = {signal.SIGINT: 130, signal.SIGTERM: 143, signal.SIGHUP: 129}


@pytest.fixture(scope="module")
def puppets(tmp_path_factory: pytest.TempPathFactory) -> Loopx:
    return install_puppets(tmp_path_factory.mktemp("puppets"))


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    made = Place(tmp_path / "place")
    yield made
    made.close()


@pytest.mark.parametrize("number", STATUS)
def test_an_interrupted_run_says_so_in_one_document(puppets: Loopx, place: Place, number: int) -> None:
    """run_host_signalled (case 86)."""
    host = puppets.start_run("puppet", place.request("record('leader')\nready()\nstay()"))
    place.wait_until_ready()

    host.send_signal(number)
    answer = finish(host)

    document = answer.document
    assert (answer.status, answer.code, document["status"]) == (
        STATUS[signal.Signals(number)],
        "interrupted",
        "interrupted",
    )
    assert document["next_command"]
    assert answer.stderr == b""
    assert place.alive() == []
    assert puppets.private_directories() == []


@pytest.mark.parametrize("number", STATUS)
def test_an_interrupted_run_in_text_says_so_on_standard_error_only(
    puppets: Loopx, place: Place, tmp_path: Path, number: int
) -> None:
    request = tmp_path / "request.json"
    request.write_text(json.dumps(place.request("ready()\nstay()")), encoding="utf-8")
    words = ("extension", "run", "puppet", "--input-json", str(request), "--execute")
    command = puppets.command("--state-file", str(puppets.state_file), *words, options=False)
    host = subprocess.Popen(command, env=puppets.env, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    place.wait_until_ready()

    host.send_signal(number)
    answer = finish(host)

    assert (answer.status, answer.stdout) == (STATUS[signal.Signals(number)], b"")
    assert b"[interrupted]" in answer.stderr
    assert b"Traceback" not in answer.stderr


def test_the_first_of_several_signals_gives_the_exit_status(puppets: Loopx, place: Place) -> None:
    code = "become('ignores_signals')\nrecord('leader')\nready()\nstay()"
    host = puppets.start_run("puppet", place.request(code))
    place.wait_until_ready()

    host.send_signal(signal.SIGHUP)
    host.send_signal(signal.SIGTERM)
    answer = finish(host)

    assert (answer.status, answer.code) == (129, "interrupted")
    assert place.alive() == []


def test_a_signal_that_arrives_with_the_timeout_still_ends_everything(puppets: Loopx, place: Place) -> None:
    """The provider asks its host to stop when the time-out tells it to stop."""
    code = """
signal.signal(signal.SIGTERM, lambda *_: os.kill(host(), signal.SIGTERM))
record("leader")
descend("stubborn_daemon")
stay()
"""

    answer = puppets.run("brief", place.request(code))

    assert (answer.status, answer.code) == (143, "interrupted")
    assert sorted(place.recorded()) == ["leader", "stubborn_daemon"]
    assert place.alive() == []


def test_a_provider_that_answers_term_in_time_ends_by_itself(puppets: Loopx, place: Place) -> None:
    code = """
def leave(*_):
    for _ in range(30):  # some work, which a kill right after the request would cut short
        os.waitpid(os.fork() or os._exit(0), 0)
    record("goodbye")
    os._exit(0)
signal.signal(signal.SIGTERM, leave)
ready()
stay()
"""
    host = puppets.start_run("puppet", place.request(code))
    place.wait_until_ready()

    host.terminate()
    answer = finish(host)

    assert (answer.status, place.recorded()) == (143, ["goodbye"])


@pytest.mark.parametrize("numbers", [(signal.SIGHUP,), (signal.SIGINT,), (signal.SIGHUP, signal.SIGINT)])
def test_a_signal_ignored_at_the_start_stays_ignored(
    puppets: Loopx, place: Place, numbers: tuple[signal.Signals, ...]
) -> None:
    """As under nohup."""

    def ignore() -> None:
        for number in numbers:
            signal.signal(number, signal.SIG_IGN)

    host = puppets.start_run("puppet", place.request("ready()\nwait_for_go()\nanswer()"), preexec_fn=ignore)
    place.wait_until_ready()

    for number in numbers:
        host.send_signal(number)
    place.go()
    answer = finish(host)

    assert (answer.status, answer.document["status"]) == (0, "succeeded")


def test_a_signal_ignored_at_the_start_leaves_the_others_working(puppets: Loopx, place: Place) -> None:
    host = puppets.start_run(
        "puppet",
        place.request("ready()\nstay()"),
        preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN),
    )
    place.wait_until_ready()

    host.send_signal(signal.SIGHUP)
    host.send_signal(signal.SIGTERM)
    answer = finish(host)

    assert (answer.status, answer.code) == (143, "interrupted")


@pytest.mark.parametrize(
    ("code", "expected"),
    [("sys.exit(3)", ("exit_nonzero", 3, None)), ("os.kill(os.getpid(), 9)", ("signalled", None, "SIGKILL"))],
)
def test_a_caller_that_ignores_sigchld_loses_no_exit_status(
    puppets: Loopx, place: Place, code: str, expected: tuple[object, ...]
) -> None:
    request = place.request(f"descend('daemon')\n{code}")

    answer = puppets.run("puppet", request, preexec_fn=lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN))

    document = answer.document
    assert (document["failure_kind"], document["exit_code"], document["signal"]) == expected
    assert (place.recorded(), place.alive()) == (["daemon"], [])


def test_a_signal_while_the_request_is_awaited_is_told(puppets: Loopx) -> None:
    """Nothing has started yet, but the route is known."""
    command = puppets.command("extension", "run", "puppet", "--input-json", "-", "--execute")
    host = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=puppets.env
    )
    assert host.stdin is not None
    host.stdin.write(b" " * 500_000)  # more than the pipe holds: when it is written, the host is reading
    host.stdin.flush()

    host.terminate()
    answer = finish(host)

    assert (answer.status, answer.code) == (143, "interrupted")


def test_a_blocked_signal_mask_of_the_caller_does_not_save_a_descendant(puppets: Loopx, place: Place) -> None:
    blocked = {signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGCHLD}

    answer = puppets.run(
        "brief",
        place.request("record('leader')\ndescend('daemon')\nstay()"),
        preexec_fn=lambda: signal.pthread_sigmask(signal.SIG_BLOCK, blocked),
    )

    assert (answer.status, answer.document["failure_kind"]) == (1, "timeout")
    assert place.alive() == []


def test_a_signal_between_two_commands_leaves_the_state_whole(puppets: Loopx, place: Place) -> None:
    before = puppets.state_file.read_bytes()
    host = puppets.start_run("puppet", place.request("ready()\nstay()"))
    place.wait_until_ready()

    host.terminate()
    finish(host)

    assert puppets.state_file.read_bytes() == before
    assert isinstance(puppets.run("puppet", place.request("answer()")), Answer)
