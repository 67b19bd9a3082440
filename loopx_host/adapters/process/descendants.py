"""Everything a run started, however it tried to get away, and its end (contract section 6).

As the subreaper of its descendants a supervisor becomes the parent of every orphan, a double-forked daemon in its
own session included. The sweep ends them until it has no child left: ``wait`` answering ECHILD is the proof. The
command line is one too, for the case that its supervisor is killed; what came along with its caller is left alone.
"""

from __future__ import annotations

import os
import signal
import time

from loopx_host.adapters.process import descriptors, kernel

_SWEEP_SECONDS = 5.0
_MOMENT_SECONDS = 0.001
_KILLED_SECONDS = 0.1
_EVERYBODY = -1  # every process this one may signal, but itself
_START_TIME_FIELD = 19  # of /proc/<pid>/stat, counted after the parenthesised name

Snapshot = frozenset["tuple[int, int]"]  # (pid, start time): a pid alone may be another process by now
NOBODY: Snapshot = frozenset()


def become_subreaper() -> bool:
    """Make this process the parent of its orphaned descendants; False where the platform cannot."""
    try:
        kernel.prctl(kernel.PR_SET_CHILD_SUBREAPER, 1)
    except (ImportError, OSError, AttributeError):
        return False
    return True


def snapshot() -> Snapshot:
    """Return all present descendants: what came along with the caller and is not ours to end."""
    if has_no_child():
        return NOBODY
    return frozenset((pid, started) for pid in _below(os.getpid()) if (started := _start_time(pid)) is not None)


def has_no_child() -> bool:
    """Whether the kernel says that this process has no child at all, not even an ended one."""
    try:
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return True
    return False


def orphans(leader: int) -> int:
    """Return how many processes of a run are still going when its `leader` has ended: what the sweep has to end."""
    return sum(1 for pid in _children(os.getpid()) if pid != leader and _stat_fields(pid)[:1] not in ([], [b"Z"]))


def sweep(before: Snapshot, *, fenced: bool = False) -> tuple[int | None, str]:
    """End every descendant that is not in `before`; return (survivors, proof).

    With `fenced`, this process can signal nobody but its descendants: then one signal to everybody ends all of
    them at once, even those that fork faster than anyone can list them.

    `survivors` is 0 with the proof ``no_child_left`` or ``only_earlier_children_left``; with ``not_proved`` it is
    the number that could not be ended in time, or None when they cannot be counted.
    """
    deadline = time.monotonic() + _SWEEP_SECONDS
    while not has_no_child():
        if fenced:
            _kill(_EVERYBODY)
        children = _children(os.getpid())
        if not children:  # no /proc to name the child that the kernel says is there, or one that is just ending
            if time.monotonic() >= deadline:
                return None, "not_proved"
            time.sleep(_MOMENT_SECONDS)
        mine = [pid for pid in children if not _was_there(pid, before)]
        if children and not mine:
            return 0, "only_earlier_children_left"
        # Ended ones first and cheaply: a storm of forks leaves thousands of them.
        living = [pid for pid in mine if not _reap(pid)]
        if time.monotonic() >= deadline:
            return len(living) or None, "not_proved"
        if not fenced:
            for doomed in [*living, *(below for pid in living for below in _below(pid))]:
                _kill(doomed)
        if living:
            _await(living[0])
    return 0, "no_child_left"


def reap_all_but(leader: int) -> None:
    """Take the status of every ended child but `leader`'s: orphans that would stay as zombies until the end."""
    for pid in _children(os.getpid()):
        if pid != leader:
            _reap(pid)


def end_all_but(kept: set[int]) -> None:
    """Kill every child that is not in `kept`, and what is below it; each comes back as an ended child."""
    for pid in _children(os.getpid()):
        if pid not in kept:
            for doomed in (pid, *_below(pid)):
                _kill(doomed)


def _was_there(pid: int, before: Snapshot) -> bool:
    return bool(before) and (pid, _start_time(pid)) in before


def _kill(pid: int) -> None:
    try:
        os.kill(pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        pass


def _reap(pid: int) -> bool:
    """Take the status of an own child if it has ended; whether it is gone."""
    try:
        return os.waitpid(pid, os.WNOHANG) != (0, 0)
    except ChildProcessError:
        return True


def _await(pid: int) -> None:
    """Wait a moment for the end of a child that was killed."""
    descriptor = descriptors.of_process(pid)
    if descriptor < 0:
        time.sleep(_MOMENT_SECONDS)
        return
    descriptors.ready((descriptor,), _KILLED_SECONDS)
    os.close(descriptor)


def _below(pid: int) -> list[int]:
    """Return all descendants of `pid`, children before grandchildren."""
    below: list[int] = []
    waiting = [pid]
    while waiting:
        children = _children(waiting.pop())
        below += children
        waiting += children
    return below


def _children(pid: int) -> list[int]:
    """Return the children of `pid`, those of each of its threads."""
    children: list[int] = []
    try:
        for thread in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{thread}/children", "rb") as listed:
                children += [int(child) for child in listed.read().split()]
    except (FileNotFoundError, ProcessLookupError):
        if pid == os.getpid():  # a kernel without CONFIG_PROC_CHILDREN
            return _children_by_scan(pid)
    return children


def _children_by_scan(parent: int) -> list[int]:
    try:
        numbers = [int(name) for name in os.listdir("/proc") if name.isdigit()]
    except FileNotFoundError:
        return []
    return [number for number in numbers if _parent(number) == parent]


def _stat_fields(pid: int) -> list[bytes]:
    try:
        with open(f"/proc/{pid}/stat", "rb") as status:
            return status.read().rpartition(b")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return []


def _parent(pid: int) -> int | None:
    fields = _stat_fields(pid)
    return int(fields[1]) if fields else None


def _start_time(pid: int) -> int | None:
    fields = _stat_fields(pid)
    return int(fields[_START_TIME_FIELD]) if fields else None
