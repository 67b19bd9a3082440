"""A control group that counts all memory of one run: every process of it, shared memory, memfd and tmpfs files too.

Resource limits count what one process maps for itself. A group counts what the run holds, where this process may
make one: as root, or where the hierarchy was delegated. It lies below this process's own group (version 1), or
beside it (version 2, where a group with processes has no groups below). Whatever is missing, there is none.
"""

from __future__ import annotations

import os
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_REMOVE_SECONDS = 1.0
_MOMENT_SECONDS = 0.005
_THIS_PROCESS = b"0"


class MemoryGroup:
    """One group with a bound; whoever calls `join` is in it, with all it starts from then on."""

    def __init__(self, path: str, joining: int) -> None:
        self._path = path
        self._joining = joining

    @classmethod
    def create(cls, name: str, size: int) -> MemoryGroup | None:
        """Make the group `name` with a bound in bytes; None where there is none to be had."""
        for parent, bounds in parents():
            path = os.path.join(parent, name)
            try:
                os.mkdir(path)
            except OSError:
                continue
            try:
                _bound(path, bounds, size)
                return cls(path, os.open(os.path.join(path, "cgroup.procs"), os.O_WRONLY | os.O_CLOEXEC))
            except OSError:
                _remove(path)
        return None

    def join(self) -> bool:
        """Put this process into the group; whether it is."""
        try:
            os.write(self._joining, _THIS_PROCESS)
        except OSError:
            return False
        return True

    def remove(self) -> None:
        """Remove the group, of which every process has ended."""
        os.close(self._joining)
        _remove(self._path)


def remove_left(name: str) -> None:
    """Remove a group of this name that a dead supervisor left, when all its processes have ended."""
    for parent, _ in parents():
        path = os.path.join(parent, name)
        if os.path.isdir(path):
            _remove(path)


def _bound(path: str, bounds: tuple[tuple[str, bool], ...], size: int) -> None:
    """Write each bound: memory itself, which must be there, and memory with swap, which need not. Raises OSError."""
    for name, counts_memory in bounds:
        value = size if counts_memory else 0
        try:
            # Never made here: where something else is mounted over the hierarchy, the file is not there.
            bound = os.open(os.path.join(path, name), os.O_WRONLY | os.O_CLOEXEC)
            try:
                os.write(bound, str(value).encode("ascii"))
            finally:
                os.close(bound)
        except OSError:
            if name == bounds[0][0]:
                raise


# (file, whether the size goes there; else 0)
_BOUNDS_1 = (("memory.limit_in_bytes", True), ("memory.memsw.limit_in_bytes", True))
_BOUNDS_2 = (("memory.max", True), ("memory.swap.max", False))


def parents() -> Iterator[tuple[str, tuple[tuple[str, bool], ...]]]:
    """Yield directories of groups in which one can perhaps be made, with the files of its bounds."""
    try:
        with open("/proc/self/cgroup", encoding="utf-8", errors="surrogateescape") as listed:
            groups = [line.rstrip("\n").split(":", 2) for line in listed]
        mounts = _mounts()
    except OSError:
        return
    for _, controllers, group in groups:
        if "memory" in controllers.split(","):
            yield from ((place, _BOUNDS_1) for place in _places(mounts, "cgroup", group))
        elif not controllers:
            for place in _places(mounts, "cgroup2", group):
                yield from ((one, _BOUNDS_2) for one in (place, os.path.dirname(place)) if _gives_memory(one))


def _mounts() -> list[tuple[str, str, str]]:
    """Return (kind, root, mount point) of each hierarchy that can count memory. Raises OSError."""
    found = []
    with open("/proc/self/mountinfo", encoding="utf-8", errors="surrogateescape") as listed:
        for line in listed:
            before, _, after = line.partition(" - ")
            kind, _, options = after.rstrip("\n").split(" ", 2)
            if kind == "cgroup2" or (kind == "cgroup" and "memory" in options.split(",")):
                root, point = before.split(" ")[3:5]
                found.append((kind, root, point))
    return found


def _places(mounts: list[tuple[str, str, str]], wanted: str, group: str) -> list[str]:
    """Return the directories of a group; a container's mount can begin somewhere within the hierarchy."""
    return [
        os.path.normpath(f"{point}/{os.path.relpath(group, root)}" if _is_below(group, root) else point)
        for kind, root, point in mounts
        if kind == wanted
    ]


def _is_below(group: str, root: str) -> bool:
    return group == root or group.startswith(root.rstrip("/") + "/")


def _gives_memory(place: str) -> bool:
    """Whether groups made below a group of version 2 count memory."""
    try:
        with open(os.path.join(place, "cgroup.subtree_control"), encoding="ascii") as given:
            return "memory" in given.read().split()
    except OSError:
        return False


def _remove(path: str) -> None:
    """Remove a group; the kernel may take a moment over the end of its last process."""
    deadline = time.monotonic() + _REMOVE_SECONDS
    while True:
        try:
            os.rmdir(path)
        except FileNotFoundError:
            return
        except OSError:
            if time.monotonic() >= deadline:
                return
            time.sleep(_MOMENT_SECONDS)
        else:
            return
