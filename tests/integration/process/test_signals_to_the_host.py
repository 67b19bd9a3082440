"""Every signal that ends the host ends its provider first, and cuts no document in half."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.cli import PATIENCE_SECONDS, Loopx, Place, finish
from tests.support.providers import PUPPET


@pytest.fixture
def loopx(tmp_path: Path) -> Loopx:
    return Loopx(tmp_path)


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    made = Place(tmp_path / "place")
    yield made
    made.close()


@pytest.mark.parametrize("name", ["SIGQUIT", "SIGALRM", "SIGUSR1", "SIGPROF"])
def test_every_signal_that_ends_the_host_ends_the_provider_first(loopx: Loopx, place: Place, name: str) -> None:
    number = getattr(signal, name)
    loopx.make_extension("subject", PUPPET)
    process = loopx.start_run("subject", place.request("record('leader'); ready(); stay()"))
    place.wait_until_ready()

    process.send_signal(number)
    answer = finish(process)

    assert (answer.status, answer.code) == (128 + number, "interrupted")
    assert place.alive() == []


def test_a_signal_does_not_cut_the_document_in_half(loopx: Loopx) -> None:
    """The reader pauses in the middle of a large document and a signal arrives then."""
    loopx.make_extension("subject", PUPPET)
    process = loopx.start_run("subject", {"code": "answer(text='x' * 900000)"})
    assert process.stdout is not None
    first = os.read(process.stdout.fileno(), 1000)

    process.send_signal(signal.SIGINT)
    rest, _ = process.communicate(timeout=PATIENCE_SECONDS)

    assert json.loads(first + rest)["provider_result"]["text"] == "x" * 900000
