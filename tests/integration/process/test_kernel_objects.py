"""What the kernel keeps for all processes of a user, and what it tells about others, is beyond a provider."""

from __future__ import annotations

import ctypes
import errno
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.cli import Loopx
from tests.support.providers import PYTHON

on_linux = pytest.mark.skipif(sys.platform != "linux", reason="the fence is Linux'")
SECRET = b"the user's key"
CONTAINED = {"LOOPX_CONTAINMENT": "contained"}


@pytest.fixture
def loopx(tmp_path: Path) -> Loopx:
    return Loopx(tmp_path)


CALLS = """\
import ctypes, json, sys
if sys.argv[1:] == ["--doctor"]:
    raise SystemExit(0)
asked = json.loads(sys.stdin.buffer.read())
libc = ctypes.CDLL(None, use_errno=True)
buffer = ctypes.create_string_buffer(4096)

def tried(name, *arguments):
    ctypes.set_errno(0)
    return ctypes.get_errno() if getattr(libc, name)(*arguments) == -1 else 0

def opened(path):
    try:
        with open(path, "rb") as file:
            return bool(file.read(1))
    except OSError:
        return False

calls = {call[0] + str(call[2]): tried(call[0], *(buffer if x is None else x for x in call[1:]))
         for call in asked["calls"]}
print(json.dumps({"ok": True, "calls": calls, "opened": {path: opened(path) for path in asked["paths"]}}))
"""
REMOVE, STATUS, PRIVATE, NO_WAIT = 0, 2, 0, 0o4000


class Shared:
    """A message queue with one message, a shared memory segment and a set of semaphores of this user."""

    def __init__(self) -> None:
        self._libc = ctypes.CDLL(None, use_errno=True)
        self.queue = self._libc.msgget(PRIVATE, 0o600)
        self.memory = self._libc.shmget(PRIVATE, ctypes.c_size_t(4096), 0o600)
        self.semaphores = self._libc.semget(PRIVATE, 1, 0o600)
        assert min(self.queue, self.memory, self.semaphores) >= 0
        message = (ctypes.c_char * 16).from_buffer_copy((1).to_bytes(8, sys.byteorder) + SECRET[:8])
        assert self._libc.msgsnd(self.queue, message, ctypes.c_size_t(8), NO_WAIT) == 0

    def are_there(self) -> bool:
        """Whether all of them are, the message included."""
        buffer = ctypes.create_string_buffer(4096)
        calls = [
            self._libc.msgctl(self.queue, STATUS, buffer),
            self._libc.shmctl(self.memory, STATUS, buffer),
            self._libc.semctl(self.semaphores, 0, STATUS, buffer),
        ]
        received = self._libc.msgrcv(self.queue, buffer, ctypes.c_size_t(8), ctypes.c_long(0), NO_WAIT)
        return calls == [0, 0, 0] and received == 8

    def remove(self) -> None:
        self._libc.msgctl(self.queue, REMOVE, None)
        self._libc.shmctl(self.memory, REMOVE, None)
        self._libc.semctl(self.semaphores, 0, REMOVE)


@pytest.fixture
def shared() -> Iterator[Shared]:
    made = Shared()
    yield made
    made.remove()


def asked_inside(loopx: Loopx, calls: list[list[object]], paths: list[str]) -> dict[str, Any]:
    """Return what a contained provider got from calls (errno, 0: it worked) and from opening paths."""
    loopx.env.update(CONTAINED)
    loopx.make_extension("calling", PYTHON + CALLS)
    answer = loopx.run("calling", {"calls": calls, "paths": paths})
    assert answer.status == 0, answer
    result = answer.document["provider_result"]
    assert isinstance(result, dict)
    return result


@on_linux
@pytest.mark.req("B6")
def test_a_contained_provider_reaches_no_queue_memory_or_semaphore_by_its_number(
    loopx: Loopx, shared: Shared
) -> None:
    calls: list[list[object]] = [
        ["msgctl", shared.queue, STATUS, None],
        ["msgctl", shared.queue, REMOVE, 0],
        ["msgrcv", shared.queue, None, 8, 0, NO_WAIT],
        ["msgsnd", shared.queue, None, 8, NO_WAIT],
        ["shmctl", shared.memory, STATUS, None],
        ["shmctl", shared.memory, REMOVE, 0],
        ["semctl", shared.semaphores, 0, STATUS, None],
        ["semctl", shared.semaphores, 1, REMOVE],
        ["semop", shared.semaphores, None, 1],
    ]

    result = asked_inside(loopx, calls, [])

    assert len(result["calls"]) == len(calls)
    assert set(result["calls"].values()) == {errno.EPERM}
    assert shared.are_there()


@on_linux
@pytest.mark.req("B6")
def test_for_a_contained_provider_there_is_no_inotify(loopx: Loopx) -> None:
    result = asked_inside(loopx, [["inotify_init1", 0, 0]], [])

    assert set(result["calls"].values()) == {errno.ENOSYS}


@on_linux
@pytest.mark.req("B6")
def test_a_contained_provider_reads_of_itself_neither_the_machines_connections_nor_its_mounts(loopx: Loopx) -> None:
    secrets = ["/proc/self/net/tcp", "/proc/self/mounts"]

    result = asked_inside(loopx, [], [*secrets, "/proc/self/status"])

    assert result["opened"] == {**dict.fromkeys(secrets, False), "/proc/self/status": True}
