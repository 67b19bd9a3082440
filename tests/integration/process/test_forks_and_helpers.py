"""A program that forks or loses its helper can go on running."""

from __future__ import annotations

import json
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest

from tests.support.cli import PATIENCE_SECONDS, Loopx
from tests.support.providers import ECHO

on_linux = pytest.mark.skipif(sys.platform != "linux", reason="the fence is Linux'")


@pytest.fixture
def loopx(tmp_path: Path) -> Loopx:
    return Loopx(tmp_path)


EMBEDDING = """\
import json, os, select, signal, sys, threading
from loopx_host import Host
host = Host.open(state_file={state!r})

def children(pid):
    with open(f"/proc/{{pid}}/task/{{pid}}/children") as listed:
        return [int(one) for one in listed.read().split()]

"""


def embed(loopx: Loopx, program: str) -> Any:
    """Run a program with a host; return what it tells."""
    source = EMBEDDING.format(state=str(loopx.state_file)) + textwrap.dedent(program)
    argv = [sys.executable, "-c", source]
    done = subprocess.run(argv, env=loopx.env, capture_output=True, timeout=PATIENCE_SECONDS, check=False)
    assert done.returncode == 0, done.stderr.decode()
    return json.loads(done.stdout)


@on_linux
def test_a_run_after_the_waiting_supervisor_was_killed_is_run_by_another(loopx: Loopx) -> None:
    loopx.make_extension("echo", ECHO)

    told = embed(
        loopx,
        """
        import ctypes
        assert ctypes.CDLL(None).prctl(36, 1, 0, 0, 0) == 0  # so that the helper, an orphan, is a child of this one
        first = host.run("echo", {"n": 1})["provider_result"]
        (helper,) = children(os.getpid())
        killed = children(helper)
        for pid in killed:
            try:
                process = os.pidfd_open(pid)
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                continue
            waiter = select.poll()
            waiter.register(process, select.POLLIN)
            waiter.poll()
        second = host.run("echo", {"n": 2})["provider_result"]
        print(json.dumps([first, len(killed) > 0, second]))
        """,
    )

    assert told == [{"ok": True, "asked": {"n": 1}}, True, {"ok": True, "asked": {"n": 2}}]


@on_linux
def test_children_forked_while_a_thread_is_inside_a_run_can_run_too(loopx: Loopx) -> None:
    loopx.make_extension("echo", ECHO)

    told = embed(
        loopx,
        """
        host.run("echo", {})
        go_on = True
        def run_again_and_again():
            while go_on:
                host.run("echo", {})

        threads = [threading.Thread(target=run_again_and_again) for _ in range(3)]
        for thread in threads:
            thread.start()
        forked = []
        for _ in range(8):
            pid = os.fork()
            if pid == 0:
                signal.alarm(30)
                os._exit(0 if host.run("echo", {})["ok"] else 3)
            forked.append(pid)
        go_on = False
        for thread in threads:
            thread.join()
        print(json.dumps([os.waitpid(pid, 0)[1] for pid in forked]))
        """,
    )

    assert told == [0] * 8


@on_linux
def test_a_run_imports_nothing_that_opening_the_host_had_not(loopx: Loopx) -> None:
    """A program that forks while a thread imports leaves its child a lock that nobody ever gives back."""
    loopx.make_extension("echo", ECHO)

    told = embed(
        loopx,
        """
        opened = set(sys.modules)
        host.run("echo", {})
        print(json.dumps(sorted(set(sys.modules) - opened)))
        """,
    )

    assert told == []


@on_linux
def test_a_child_forked_while_a_thread_holds_the_helper_does_not_wait_for_that_thread(loopx: Loopx) -> None:
    """The same without luck: the fork falls between the two halves of handing an order over."""
    loopx.make_extension("echo", ECHO)

    told = embed(
        loopx,
        """
        from loopx_host.adapters.process.local_sockets import LocalSocket
        send, inside, go_on = LocalSocket.send_with, threading.Event(), threading.Event()
        def send_slowly(*arguments):
            inside.set()
            go_on.wait()
            return send(*arguments)

        LocalSocket.send_with = send_slowly
        thread = threading.Thread(target=host.run, args=("echo", {}))
        thread.start()
        inside.wait()
        pid = os.fork()
        if pid == 0:
            LocalSocket.send_with = send
            signal.alarm(30)
            os._exit(0 if host.run("echo", {})["ok"] else 3)
        _, status = os.waitpid(pid, 0)
        go_on.set()
        thread.join()
        print(json.dumps(status))
        """,
    )

    assert told == 0
