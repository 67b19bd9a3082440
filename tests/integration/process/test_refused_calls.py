"""Each call to the kernel that a run makes, taken away by a filter: the run goes on with less or is refused for it.

Which calls those are is not listed: a run is traced, and what it called is refused one by one.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.cli import Answer, Loopx
from tests.support.levels import NOBODY_ASKS
from tests.support.providers import ECHO

pytestmark = [NOBODY_ASKS, pytest.mark.skipif(sys.platform != "linux", reason="filters of calls are Linux'")]
# Without these no program, or no Python, comes up, whoever wrote it.
FOUNDATION = {
    *("access", "arch_prctl", "brk", "clone", "close", "dup2", "dup3", "execve", "exit", "exit_group", "fcntl"),
    *("fstat", "futex", "getdents64", "ioctl", "lseek", "lstat", "mmap", "mprotect", "munmap", "newfstatat"),
    *("openat", "pipe2", "pread64", "read", "rt_sigaction", "rt_sigprocmask", "rt_sigreturn", "set_robust_list"),
    *("set_tid_address", "stat", "wait4", "write"),
}
OF_THE_PROVIDER = {"vfork"}  # its shell starts a program with it
NAMED = ("no private directory", "its process ended before it was executed")
PERMISSION, NO_SUCH_CALL = 1, 38
# A program that puts itself under a filter which refuses one call, and becomes the command.
REFUSING = """
import ctypes, os, struct, sys
number, error = int(sys.argv[1]), int(sys.argv[2])
lines = [(0x20, 0, 0, 0), (0x15, 0, 1, number), (6, 0, 0, 0x50000 | error), (6, 0, 0, 0x7FFF0000)]
code = b"".join(struct.pack("<HBBI", *line) for line in lines)
held = ctypes.create_string_buffer(code, len(code))
given = struct.pack("@HP", len(lines), ctypes.addressof(held))
library = ctypes.CDLL(None)
assert library.prctl(38, 1, 0, 0, 0) == 0 and library.prctl(22, 2, given, 0, 0) == 0
os.execv(sys.argv[3], sys.argv[3:])
"""
CALL = re.compile(r"^\d+ +\[ *(\d+)\] ([a-z0-9_]+)\(", re.MULTILINE)


@pytest.fixture(scope="module")
def loopx(tmp_path_factory: pytest.TempPathFactory) -> Loopx:
    made = Loopx(tmp_path_factory.mktemp("refused"))
    made.make_extension("echo", ECHO)
    assert made.run("echo", {}).status == 0  # what is remembered is remembered now
    return made


def called(loopx: Loopx, trace: Path) -> dict[str, int]:
    """Return name → number of every call that a run makes, beyond those that no program can do without."""
    words = ["extension", "run", "echo", "--input-json", "-", "--execute"]
    command = ["strace", "-f", "-n", "-o", str(trace), *map(str, loopx.command(*words))]
    subprocess.run(command, env=loopx.env, input=b"{}", stdout=subprocess.DEVNULL, check=True)
    found = {name: int(number) for number, name in CALL.findall(trace.read_text("utf-8", "replace"))}
    return {name: number for name, number in found.items() if name not in FOUNDATION}


class _Refused(Loopx):
    """The command line behind a filter."""

    def __init__(self, loopx: Loopx, number: int, error: int) -> None:
        self.__dict__.update(loopx.__dict__)
        self._through = [sys.executable, "-IS", "-c", REFUSING, str(number), str(error)]

    def command(self, *words: str | bytes, options: bool = True) -> list[str | bytes]:
        return [*self._through, *super().command(*words, options=options)]


def fault(answer: Answer, name: str) -> str | None:
    """Return what is wrong with an answer to a run for which one call was refused, or None."""
    if b"Traceback" in answer.stderr or not answer.stdout:
        return repr(answer)
    document = answer.document
    if answer.status == 0:
        return (
            None if document["status"] == "succeeded" and not document["containment"]["survivors"] else repr(answer)
        )
    if document.get("failure_kind") == "start_failed":
        return None if any(cause in document["error"] for cause in NAMED) else repr(answer)
    if name in OF_THE_PROVIDER:
        return None if document.get("failure_kind") == "exit_nonzero" else repr(answer)
    return None if document.get("code") in ("kernel_refused", "no_processes") else repr(answer)


@pytest.mark.timeout(180)
@pytest.mark.skipif(shutil.which("strace") is None, reason="strace is not there")
@pytest.mark.parametrize("error", [PERMISSION, NO_SUCH_CALL], ids=["not permitted", "no such call"])
def test_a_call_that_is_refused_costs_a_limit_or_is_the_reason(loopx: Loopx, tmp_path: Path, error: int) -> None:
    calls = called(loopx, tmp_path / "trace")

    wrong = {
        name: told
        for name, number in calls.items()
        if (told := fault(_Refused(loopx, number, error).run("echo", {}), name)) is not None
    }

    assert {"landlock_create_ruleset", "pidfd_open", "prctl", "seccomp", "setsid"} <= set(calls)
    assert wrong == {}
    assert loopx.run("echo", {}).status == 0  # and removes what could not be removed
    assert loopx.private_directories() == []
