"""What a person at a terminal sees: tables and results drawn, hostile text cleaned, a sign of life on long runs."""

from __future__ import annotations

import os
import pty
import re
import select
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.cli import PATIENCE_SECONDS, Loopx, Place, finish
from tests.support.levels import LEAVES_MARKS
from tests.support.providers import PUPPET, PYTHON

ESCAPE = b"\x1b["
HOSTILE = (
    PYTHON
    + r"""
import sys
if sys.argv[1:] == ["--doctor"]:
    raise SystemExit(0)
sys.stdin.read()
sys.stderr.write("\x1b]52;c;cHduZWQ=\x07 \u202e done\n")
print('{"ok": true, "said": "\\u001b[2J\\u202e[bold red]forged[/]"}')
"""
)


@pytest.fixture
def loopx(tmp_path: Path) -> Loopx:
    return Loopx(tmp_path)


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    made = Place(tmp_path / "place")
    yield made
    made.close()


def on_terminal(loopx: Loopx, *words: str, stdin: bytes = b"", env: dict[str, str] | None = None) -> bytes:
    """Run one command with standard output on a terminal; return what the terminal got."""
    ours, theirs = pty.openpty()
    command = [*loopx.command(*words, options=False), "--state-file", str(loopx.state_file)]
    settings = {"TERM": "xterm-256color", "COLUMNS": "100", **(env or {})}
    child = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=theirs, stderr=subprocess.PIPE, env={**loopx.env, **settings}
    )
    os.close(theirs)
    child.communicate(stdin, timeout=PATIENCE_SECONDS)
    return _drain(ours)


def _drain(descriptor: int) -> bytes:
    kept = bytearray()
    try:
        while chunk := os.read(descriptor, 65536):
            kept += chunk
    except OSError:  # how a terminal says that its other side is closed
        pass
    finally:
        os.close(descriptor)
    return bytes(kept)


def test_a_terminal_gets_a_drawn_list_and_a_pipe_a_plain_one(loopx: Loopx) -> None:
    loopx.make_extension("subject")

    drawn = on_terminal(loopx, "extension", "list")
    plain = loopx("extension", "list", "--state-file", str(loopx.state_file), options=False)

    assert ESCAPE in drawn
    assert b"subject" in drawn
    assert ESCAPE not in plain.stdout
    assert b"subject" in plain.stdout


@pytest.mark.parametrize("env", [{"NO_COLOR": "1"}, {"TERM": "dumb"}])
def test_a_terminal_without_colours_gets_plain_text(loopx: Loopx, env: dict[str, str]) -> None:
    loopx.make_extension("subject")

    assert ESCAPE not in on_terminal(loopx, "extension", "list", env=env)


def test_what_a_provider_says_is_neither_obeyed_nor_styled(loopx: Loopx) -> None:
    loopx.make_extension("subject", HOSTILE)

    shown = on_terminal(loopx, "extension", "run", "subject", "--input-json", "-", "--execute", stdin=b"{}")

    assert b"[bold red]forged[/]" in shown
    assert b"\x07" not in shown
    assert "\u202e".encode() not in shown
    # Of escape sequences only those that set a colour, which rich writes itself.
    assert set(re.findall(rb"\x1b(?!\[[0-9;]*m)", shown)) == set()


def test_a_person_sees_the_result_of_a_run(loopx: Loopx) -> None:
    loopx.make_extension("subject", PUPPET)

    shown = on_terminal(
        loopx,
        "extension",
        "run",
        "subject",
        "--input-json",
        "-",
        "--execute",
        stdin=b'{"code": "answer(greeting=1)"}',
    )

    assert b"succeeded" in shown
    assert b'"greeting": 1' in shown


@LEAVES_MARKS
def test_a_long_run_says_on_standard_error_that_it_goes_on(loopx: Loopx, place: Place) -> None:
    loopx.make_extension("subject", PUPPET)
    process = loopx.start_run("subject", place.request("wait_for_go(); answer()"))

    waiter = select.poll()
    waiter.register(process.stderr, select.POLLIN)
    said = bool(waiter.poll(int(PATIENCE_SECONDS * 1000)))
    place.go()
    answer = finish(process)

    assert said
    assert answer.document["status"] == "succeeded"
    assert answer.stderr.count(b"\n") == 1


def test_a_short_run_says_nothing_on_standard_error(loopx: Loopx) -> None:
    loopx.make_extension("subject", PUPPET)

    assert loopx.run("subject", {"code": "answer()"}).stderr == b""
