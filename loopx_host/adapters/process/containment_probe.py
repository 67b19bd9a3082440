"""Which levels of containment this machine reaches, found out by doing it in a process that then ends."""

from __future__ import annotations

import os

from loopx_host.adapters.process import confinement, kernel, landlock, spawn
from loopx_host.adapters.process.confinement import CONTAINED, LIMITS, NAMESPACED, PROCESS, Fence, Level
from loopx_host.lifecycle.extensions.process import Grants, Limits

TYPE_CHECKING = False
if TYPE_CHECKING:
    from loopx_host.documents.host_doctor import Reach
    from loopx_host.documents.parts import Limit

_ANY_DIRECTORY = "/usr"  # nothing is written: the process ends as soon as it is confined
_NEEDS = {
    "file_writes": "Landlock since Linux 6.2",
    "file_reads": "Landlock since Linux 5.13",
    "signals": "Landlock since Linux 6.12",
    "network": "seccomp on x86_64 or aarch64",
    "file_attributes": "seccomp on x86_64 or aarch64",
    "tracing": "seccomp or Landlock",
}


class ForkedContainmentProbe:
    """The port `extensions.ports.ContainmentProbe`, on this machine."""

    def reach(self) -> Reach:
        """Return the default level reached, the highest one, and why it is not more (see the port)."""
        if not kernel.is_linux():
            return {"default": PROCESS, "highest": LIMITS, "reasons": ["anything above is built for Linux only"]}
        default, rows, _ = _try(CONTAINED)
        highest, _, refused = _try(NAMESPACED)
        reasons = [f"{name}: {_why(name)}" for name in confinement.deciding(rows)]
        if highest != NAMESPACED:
            reasons.append(f"namespaces: {refused or 'not every limit holds there'}")
        return {"default": default, "highest": max(default, highest, key=confinement.RUNGS.index), "reasons": reasons}


def _try(rung: str) -> tuple[str, list[Limit], str | None]:
    return spawn.trial(Fence(Level(rung), _ANY_DIRECTORY, os.devnull, Grants(), Limits(1)))


def _why(name: str) -> str:
    if name in ("file_writes", "file_reads", "signals"):
        return f"needs {_NEEDS[name]}; this kernel has version {landlock.version()} of its interface"
    return f"needs {_NEEDS.get(name, 'a limit that this process may set')}"
