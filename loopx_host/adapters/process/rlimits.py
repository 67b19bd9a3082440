"""Resource limits of a provider, set by its own process before it becomes the provider."""

from __future__ import annotations

import os
import resource

from loopx_host.core.limits import PROCESSES_ADDED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from loopx_host.documents.parts import Limit
    from loopx_host.lifecycle.extensions.process import Limits


_MIB = 1 << 20
# What no limit of one process counts; and what is not counted where its address space is not bounded.
_UNCOUNTED, _UNCOUNTED_IF_RESERVED = ("memfd", "tmpfs", "other processes of the run"), ("shared",)


def wanted(limits: Limits) -> list[tuple[str, int, list[int], int]]:
    """Return (limit, value in its unit, resources, value for the kernel) of what is set."""
    cpu = _cpu_seconds(limits)
    processes = _processes()
    rows: list[tuple[str, int, list[int], int]] = [
        ("core_file_bytes", 0, [resource.RLIMIT_CORE], 0),
        ("open_files", limits.open_files, [resource.RLIMIT_NOFILE], limits.open_files),
        ("cpu_seconds", cpu, [resource.RLIMIT_CPU], cpu),
        ("file_size_mb", limits.file_size_mb, [resource.RLIMIT_FSIZE], limits.file_size_mb * _MIB),
        ("processes", processes, [resource.RLIMIT_NPROC], processes),
    ]
    if limits.memory_mb is not None:
        # What can be written to counts for every runtime; the address space only for one that does not reserve it.
        held = [resource.RLIMIT_DATA, *([] if limits.reserves_memory else [resource.RLIMIT_AS])]
        rows.append(("memory_mb", limits.memory_mb, held, limits.memory_mb * _MIB))
    return rows


def apply(limits: Limits, *, grouped: bool = False) -> list[Limit]:
    """Set the limits of this process; return a row for each with whether it holds.

    `grouped` says that a control group counts the memory of the whole run; without one the row says what is not
    counted.
    """
    rows = [
        _row(name, value, _holds(name, resources, bound), "rlimit")
        for name, value, resources, bound in wanted(limits)
    ]
    for row in rows:
        if row["limit"] == "memory_mb" and grouped:
            row["enforced"], row["by"] = True, "cgroup"
        elif row["limit"] == "memory_mb" and row["enforced"]:
            row["not_counted"] = [*(_UNCOUNTED_IF_RESERVED if limits.reserves_memory else ()), *_UNCOUNTED]
    return rows


def not_applied(limits: Limits) -> list[Limit]:
    """Return the rows of a rung that sets none."""
    return [_row(name, value, False, "") for name, value, _, _ in wanted(limits)]


def _row(name: str, value: int, enforced: bool, by: str) -> Limit:
    return {"limit": name, "value": value, "enforced": enforced, "by": by if enforced else "nothing"}


def _holds(name: str, resources: list[int], bound: int) -> bool:
    if False in [_set(which, bound) for which in resources]:
        return False
    # The kernel counts the processes of root and lets it have more.
    return name != "processes" or os.getuid() != 0


def _set(which: int, bound: int) -> bool:
    try:
        hard = resource.getrlimit(which)[1]
        lower = bound if hard == resource.RLIM_INFINITY else min(bound, hard)
        resource.setrlimit(which, (lower, lower))
    except (OSError, ValueError):
        return False
    return True


def _cpu_seconds(limits: Limits) -> int:
    """Return what all processors together can spend on one process before its time is over."""
    return int(limits.timeout_seconds + 1) * (os.cpu_count() or 1)


def _processes() -> int:
    """Return how many processes and threads this user may have: those that all have now, and some more."""
    try:
        with open("/proc/loadavg", "rb") as load:
            return int(load.read().split()[3].split(b"/")[1]) + PROCESSES_ADDED
    except (OSError, ValueError, IndexError):
        return 8 * PROCESSES_ADDED
