"""A forked child and its pipes: nothing is left open, nobody else's process is touched, nothing waits for ever."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator

import pytest

from loopx_host.adapters.process import child as children
from loopx_host.adapters.process import descriptors
from loopx_host.adapters.process.child import Child, Pipes
from loopx_host.adapters.process.judge import ForkedJudge

PATIENCE_SECONDS = 20.0
MEGABYTE = 1 << 20


def open_descriptors() -> set[str]:
    return {
        f"{name} {os.readlink(f'/proc/self/fd/{name}')}" for name in os.listdir("/proc/self/fd") if is_there(name)
    }


def is_there(name: str) -> bool:
    return os.path.lexists(f"/proc/self/fd/{name}")


def sleeper(*_: int) -> None:
    time.sleep(PATIENCE_SECONDS)


@pytest.fixture
def sleeping() -> Iterator[Child]:
    one = Child.forked(sleeper)
    yield one
    one.end()


@pytest.fixture
def pipe() -> Iterator[Pipes]:
    """One pipe: `theirs` reads what is written to `ours`."""
    pipes = Pipes(reads=1)
    yield pipes
    pipes.close()


def refuse_fork() -> int:
    raise OSError(11, "no process to be had")


def refuse_pidfd(*_: int) -> int:
    raise OSError(24, "no descriptor to be had")


def test_a_child_gets_the_ends_it_reads_before_those_it_writes() -> None:
    def doubled(question: int, answer: int) -> None:
        descriptors.write_all(answer, 2 * (descriptors.read_all(question) or b""))

    child = Child.forked(doubled, reads=1, writes=1)
    question, answer = child.pipes.ours
    descriptors.write_all(question, b"x" * MEGABYTE)
    child.pipes.close_ours(question)

    assert descriptors.read_all(answer) == b"x" * 2 * MEGABYTE
    child.end()


def test_a_child_that_comes_back_or_raises_ends_there(capfd: pytest.CaptureFixture[str]) -> None:
    def raising() -> None:
        raise RuntimeError

    statuses = [Child.forked(become).reap() for become in (raising, lambda: None)]

    assert [os.waitstatus_to_exitcode(status or 0) for status in statuses] == [1, 1]
    assert capfd.readouterr() == ("", "")


def test_a_child_that_ended_leaves_nothing_open() -> None:
    before = open_descriptors()

    child = Child.forked(sleeper, reads=2, writes=2)
    assert child.await_end(0.01) is False  # by its descriptor
    child.end()

    assert open_descriptors() == before


def test_where_no_process_can_be_had_nothing_is_left_open(monkeypatch: pytest.MonkeyPatch) -> None:
    before = open_descriptors()
    monkeypatch.setattr(os, "fork", refuse_fork)

    with pytest.raises(OSError, match="no process"):
        Child.forked(sleeper, reads=1, writes=3)

    assert open_descriptors() == before


@pytest.mark.parametrize("possible", range(4))
def test_where_a_pipe_is_missing_the_others_are_closed(monkeypatch: pytest.MonkeyPatch, possible: int) -> None:
    before, real = open_descriptors(), os.pipe
    made: list[tuple[int, int]] = []

    def pipe() -> tuple[int, int]:
        if len(made) == possible:
            raise OSError(24, "no descriptor to be had")
        made.append(real())
        return made[-1]

    monkeypatch.setattr(os, "pipe", pipe)

    with pytest.raises(OSError, match="no descriptor"):
        Pipes(reads=2, writes=2)

    assert open_descriptors() == before


@pytest.mark.parametrize("pidfd", [os.pidfd_open, refuse_pidfd], ids=["pidfd", "polling"])
def test_the_end_of_a_child_is_waited_for_within_bounds(
    monkeypatch: pytest.MonkeyPatch, pidfd: Callable[[int], int], pipe: Pipes
) -> None:
    monkeypatch.setattr(os, "pidfd_open", pidfd)
    child = Child.forked(sleeper)
    (reading,), (writing,) = pipe.theirs, pipe.ours

    assert child.await_end(0.05, reading) is False
    os.write(writing, b".")
    assert child.await_end(None, reading) is False
    child.kill()
    assert child.await_end(PATIENCE_SECONDS) is True
    assert child.reap() == signal.SIGKILL
    child.close()


def test_a_child_whose_status_somebody_took_is_lost_and_never_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its number may be another process's by now."""
    child = Child.forked(lambda: None)
    os.waitpid(child.pid, 0)
    killed: list[int] = []
    monkeypatch.setattr(os, "kill", lambda pid, _: killed.append(pid))

    child.end()

    assert (child.is_lost, child.reap(), killed) == (True, None, [])


def test_judging_goes_on_where_the_system_takes_the_status_of_children() -> None:
    """A program that embeds the host may ignore SIGCHLD, and the kernel reaps its children then."""
    handler = signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    try:
        answer = ForkedJudge()._in_child(lambda: {"judged": True})
    finally:
        signal.signal(signal.SIGCHLD, handler)

    assert answer == {"judged": True}


def test_all_is_written_however_little_the_reader_takes_at_a_time(pipe: Pipes) -> None:
    (reading,), (writing,) = pipe.theirs, pipe.ours
    read = bytearray()

    def slowly() -> None:
        while len(read) < MEGABYTE:
            read.extend(os.read(reading, 4096))

    reader = threading.Thread(target=slowly)
    reader.start()
    descriptors.write_all(writing, b"y" * MEGABYTE)
    reader.join()

    assert bytes(read) == b"y" * MEGABYTE


def test_a_reader_that_is_gone_is_an_error(pipe: Pipes) -> None:
    pipe.close_theirs()

    with pytest.raises(BrokenPipeError):
        descriptors.write_all(pipe.ours[0], b"nobody")


def test_reading_all_ends_at_the_end_at_the_word_and_at_its_bounds(pipe: Pipes) -> None:
    (reading,), (writing,) = pipe.theirs, pipe.ours

    os.write(writing, b"one.")
    assert descriptors.read_all(reading, until=lambda kept: kept.endswith(b".")) == b"one."
    assert descriptors.read_all(reading, seconds=0.01) is None
    os.write(writing, b"three")
    assert descriptors.read_all(reading, at_most=4) is None
    os.write(writing, b"four")
    pipe.close_ours()
    assert descriptors.read_all(reading, seconds=PATIENCE_SECONDS, at_most=4) == b"four"


def test_what_is_ready_is_what_can_be_read_or_written_or_is_at_its_end() -> None:
    quiet, told, over, blind = (Pipes(reads=1) for _ in range(4))
    os.write(told.ours[0], b".")
    os.write(blind.ours[0], b".")
    over.close_ours()
    try:
        ready = descriptors.ready(
            (quiet.theirs[0], told.theirs[0], over.theirs[0], -1),
            writing=(quiet.ours[0], -1),
            ending=(blind.theirs[0],),
        )

        assert ready == {told.theirs[0], over.theirs[0], quiet.ours[0]}
        assert descriptors.ready((quiet.theirs[0],), 0) == set()
        assert descriptors.ready((), ending=(over.theirs[0],)) == {over.theirs[0]}
    finally:
        for pipes in (quiet, told, over, blind):
            pipes.close()


def test_a_process_that_is_gone_has_no_descriptor(sleeping: Child) -> None:
    gone = Child.forked(lambda: None)
    gone.reap()

    assert descriptors.of_process(gone.pid) == -1
    assert children.end_of(gone.pid, 7) == (7, -1)
    assert sleeping.descriptor >= 0
