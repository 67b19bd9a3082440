"""Processes of a run whose host and supervisor were both killed: found by the run's private directory, and ended.

Each process of a run was started with that directory as its TMPDIR, a name that nothing else has, and where the
memory of the run was bounded, it is in a control group of the same name. A number that was
read from /proc can be another process's a moment later; so a process is pinned by a descriptor first, looked at
once more, and signalled through that.
"""

from __future__ import annotations

import os
import signal

from loopx_host.adapters.process import descriptors
from loopx_host.adapters.process.memory_group import remove_left

_PASSES = 8  # what forks meanwhile is found in the next one


def end_all_of(private: str) -> None:
    """End what a dead supervisor's run left running; without process descriptors, nothing is."""
    name = os.path.basename(os.path.dirname(private))
    marks = (b"TMPDIR=" + os.fsencode(private), b"/" + os.fsencode(name))
    for _ in range(_PASSES):
        found = [pid for pid in _own_processes() if _carries(pid, marks)]
        if not [pid for pid in found if _end(pid, marks)]:
            break
    remove_left(name)


def _own_processes() -> list[int]:
    """Return the processes of this user, but this one."""
    user, this = os.geteuid(), str(os.getpid())
    try:
        with os.scandir("/proc") as entries:
            names = [one.name for one in entries if one.name.isdigit() and one.name != this and _is_of(one, user)]
    except OSError:
        return []
    return [int(name) for name in names]


def _is_of(entry: os.DirEntry[str], user: int) -> bool:
    try:
        return entry.stat().st_uid == user
    except OSError:  # it has ended
        return False


def _carries(pid: int, marks: tuple[bytes, bytes]) -> bool:
    """Whether a process was started with the first mark among its variables, or is in a group named by the other.

    A process can put other variables in the place of its own, and cannot leave its group.
    """
    try:
        with open(f"/proc/{pid}/cgroup", "rb") as groups:
            if any(line.rstrip(b"\n").endswith(marks[1]) for line in groups):
                return True
        with open(f"/proc/{pid}/environ", "rb") as environment:
            return marks[0] in environment.read().split(b"\0")
    except OSError:
        return False


def _end(pid: int, marks: tuple[bytes, bytes]) -> bool:
    """Kill a process that still carries the mark once its number is pinned; whether it was."""
    pinned = descriptors.of_process(pid)
    if pinned < 0:
        return False
    try:
        # Not ended after it was looked at: then it was this process that was looked at.
        if not _carries(pid, marks) or descriptors.ready((pinned,), 0):
            return False
        signal.pidfd_send_signal(pinned, signal.SIGKILL)
        descriptors.ready((pinned,), 1)
    except OSError:
        return False
    finally:
        os.close(pinned)
    return True
