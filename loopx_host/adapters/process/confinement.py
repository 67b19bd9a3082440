"""The rungs of containment: what a provider's process gives up before it becomes the provider.

All of it happens in the forked child, after which there is no way back. Each function returns rows
``{limit, value, enforced, by}``: what was asked for, whether it holds, and what holds it.
"""

from __future__ import annotations

import os

from loopx_host.adapters.process import kernel, landlock, rlimits, seccomp, system_files
from loopx_host.core.permissions import NET_CONNECT, READ_REFERENCE, WRITE_REFERENCE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from loopx_host.adapters.process.memory_group import MemoryGroup
    from loopx_host.documents.parts import Limit
    from loopx_host.lifecycle.extensions.process import Grants, Limits

PROCESS, LIMITS, CONTAINED, NAMESPACED = RUNGS = ("process", "limits", "contained", "namespaced")
NO_NEW_SESSION = "no-new-session"
_RESOURCE_ROWS = ("core_file_bytes", "open_files", "memory_mb", "cpu_seconds", "file_size_mb")
_CAPABILITY_HEADER = (0x20080522).to_bytes(4, "little") + bytes(4)
_KEPT_CAPABILITIES = (
    1,
    2,
)  # to pass permission bits: files are Landlock's affair, and root's own may be somebody else's
_CAP_SYS_RESOURCE = 24
_NOTHING = "nothing"
_RIGHTS = {landlock.READ: READ_REFERENCE, landlock.WRITE: WRITE_REFERENCE}


class Level:
    """The rung asked for; `is_demanded`: run there or not at all; without `sessions` nobody leaves the group."""

    __slots__ = ("is_demanded", "rung", "sessions")

    def __init__(self, rung: str = CONTAINED, *, is_demanded: bool = False, sessions: bool = True) -> None:
        self.rung = rung
        self.is_demanded = is_demanded
        self.sessions = sessions

    def includes(self, rung: str) -> bool:
        """Whether this level has what `rung` has."""
        return RUNGS.index(self.rung) >= RUNGS.index(rung)


def default_level() -> Level:
    """Return the level of a run that asks for none: what it cannot enforce is said, and no reason not to run."""
    return Level(CONTAINED if kernel.is_linux() else PROCESS)


def level_named(name: str) -> Level:
    """Return the demanded level of a name such as ``contained`` or ``limits+no-new-session``.

    Raises Refused `containment_unknown`.
    """
    rung, _, option = name.partition("+")
    if rung not in RUNGS or option not in ("", NO_NEW_SESSION):
        from loopx_host.core.errors import refusal
        from loopx_host.core.text import visible

        known = ", ".join(f"`{rung}`" for rung in RUNGS)
        summary = f"`{visible(name)}` is not a level of containment"
        raise refusal(
            "containment_unknown", "containment", summary, hint=f"{known}, each also with +{NO_NEW_SESSION}"
        )
    return Level(rung, is_demanded=True, sessions=not option)


class Fence:
    """Everything that decides one confinement: the level, the private directory, grants, bounds, a memory group."""

    __slots__ = ("argv0", "grants", "group", "level", "limits", "private")

    def __init__(
        self,
        level: Level,
        private: str,
        argv0: str,
        grants: Grants,
        limits: Limits,
        group: MemoryGroup | None = None,
    ) -> None:
        self.level = level
        self.private = private
        self.argv0 = argv0
        self.grants = grants
        self.limits = limits
        self.group = group

    @property
    def network(self) -> bool:
        """Whether sockets that reach out are granted."""
        return NET_CONNECT in self.grants.permissions

    @property
    def granted(self) -> list[tuple[str, int]]:
        """(path, rights) of each reference a granted token names; a token without a reference grants nothing."""
        references = self.grants.references
        return [
            (references[name], rights)
            for rights, prefix in _RIGHTS.items()
            for name in self.references_granted(prefix)
        ]

    def references_granted(self, prefix: str) -> list[str]:
        """Return the names of the references that tokens beginning with `prefix` open."""
        names = (token.removeprefix(prefix) for token in self.grants.permissions if token.startswith(prefix))
        return [name for name in names if name in self.grants.references]

    @property
    def writable(self) -> list[str]:
        """The paths that may be written: the private directory and every reference granted for it."""
        return [self.private, *(path for path, rights in self.granted if rights == landlock.WRITE)]


def open_references(fence: Fence) -> None:
    """Open what references were granted, before anything else. Raises OSError when one was swapped meanwhile."""
    if fence.level.includes(CONTAINED):
        for path, _ in fence.granted:
            landlock.open_pinned(path)


def confine(
    fence: Fence, *, namespaced: bool, grouped: bool = False, hand_over: Callable[[int], bool] | None = None
) -> list[Limit]:
    """Give up everything the level says, in this process, for good; return the rows.

    `namespaced` says that the process is in namespaces of its own already, `grouped` that it is in its memory group.
    `hand_over` gives the supervisor the descriptor of calls that change attributes, and tells whether it has it.
    """
    limited = fence.level.includes(LIMITS)
    rows = rlimits.apply(fence.limits, grouped=grouped) if limited else rlimits.not_applied(fence.limits)
    if limited and not fence.level.includes(CONTAINED):
        _keep_limits()
    if not fence.level.includes(CONTAINED):
        return [*rows, *_not_contained(fence), *_sessions_row(fence, False)]
    privileges = _drop_privileges()
    files = privileges and _restrict_files(fence)
    since = landlock.version() if files else 0
    # Only where nothing from elsewhere can be linked to where this run may write.
    asks = hand_over if since >= landlock.TRUNCATE_SINCE and not namespaced else None
    calls, brokered = (
        (False, False) if not privileges else _filter_calls(fence, namespaced=namespaced, hand_over=asks)
    )
    holders = {
        "network": [("seccomp", calls)],
        "file_writes": [("landlock", since >= landlock.TRUNCATE_SINCE)],
        "file_attributes": [("namespace", namespaced), ("seccomp", calls)],
        "file_reads": [("landlock", files)],
        "signals": [("namespace", namespaced), ("landlock", since >= landlock.SCOPES_SINCE)],
        "tracing": [("seccomp", calls), ("landlock", files)],
        "new_privileges": [("no_new_privs", privileges)],
    }
    allowed = _allowed(fence, attributes=namespaced or brokered)
    return [*rows, *(_row(limit, allowed[limit], holders[limit]) for limit in allowed), *_sessions_row(fence, calls)]


def reached(rows: list[Limit], *, namespaced: bool) -> str:
    """Return the highest rung whose every row holds."""
    holds = {row["limit"]: row["enforced"] for row in rows}
    if not all(holds[name] for name in _RESOURCE_ROWS if name in holds):
        return PROCESS
    if not all(holds[row["limit"]] for row in rows if row["limit"] not in (*_RESOURCE_ROWS, "processes", "sessions")):
        return LIMITS
    return NAMESPACED if namespaced else CONTAINED


def deciding(rows: list[Limit]) -> list[str]:
    """Return the names of what is not enforced and keeps a rung from being reached."""
    return [row["limit"] for row in rows if not row["enforced"] and row["limit"] != "processes"]


def _row(limit: str, value: str, holders: list[tuple[str, bool]]) -> Limit:
    by = [name for name, holds in holders if holds]
    return {"limit": limit, "value": value, "enforced": bool(by), "by": by[0] if by else _NOTHING}


def _allowed(fence: Fence, *, attributes: bool) -> dict[str, str]:
    """Return what a process may do by limit, as it was granted, whether or not anything holds it to that.

    `attributes` says that it may change modes and times of what it may write.
    """
    written = fence.references_granted(WRITE_REFERENCE)
    writes = ", ".join(("private directory", *written))
    reads = ("runtime", *fence.references_granted(READ_REFERENCE), *written)
    return {
        "network": "outbound" if fence.network else "none",
        "file_writes": writes,
        "file_attributes": writes if attributes else "none",
        "file_reads": ", ".join(dict.fromkeys(reads)),
        "signals": "own processes",
        "tracing": "none",
        "new_privileges": "none",
    }


def _not_contained(fence: Fence) -> list[Limit]:
    return [_row(limit, value, []) for limit, value in _allowed(fence, attributes=False).items()]


def _sessions_row(fence: Fence, calls: bool) -> list[Limit]:
    return [] if fence.level.sessions else [_row("sessions", "one", [("seccomp", calls)])]


def _drop_privileges() -> bool:
    """Gain nothing from what is executed from here on, and give up every capability but two.

    With no_new_privs even a program of root's gets no more than what is left here.
    """
    try:
        kernel.prctl(kernel.PR_SET_NO_NEW_PRIVS, 1)
        permitted = _permitted_capabilities()
        kept = permitted & sum(1 << capability for capability in _KEPT_CAPABILITIES) if os.geteuid() == 0 else 0
        if permitted != kept:
            words = [kept, kept, 0, 0, 0, 0]  # effective, permitted, inheritable: low halves, high halves
            data = b"".join(word.to_bytes(4, "little") for word in words)
            kernel.check(kernel.library().capset(_CAPABILITY_HEADER, data), "capset")
    except (OSError, ImportError, AttributeError, ValueError):
        return False
    return True


def _keep_limits() -> None:
    """Take from root what raises limits again; for anyone else there is nothing to take."""
    try:
        kernel.prctl(kernel.PR_CAPBSET_DROP, _CAP_SYS_RESOURCE)
    except (OSError, ImportError, AttributeError):
        pass


def _permitted_capabilities() -> int:
    """Return the capabilities this process has; all of them where there is no /proc to say so."""
    try:
        with open("/proc/self/status", "rb") as status:
            return next(int(line.split()[1], 16) for line in status if line.startswith(b"CapPrm:"))
    except OSError:
        return -1


def _restrict_files(fence: Fence) -> bool:
    if not landlock.version():
        return False
    tcp = landlock.BIND_TCP if fence.network else landlock.BIND_TCP | landlock.CONNECT_TCP
    try:
        landlock.restrict(_rules(fence), refuse_tcp=tcp)
    except (OSError, ImportError, AttributeError):
        return False
    return True


def _rules(fence: Fence) -> list[tuple[str, int]]:
    """Return (path, rights) of everything that may be touched."""
    grants = fence.grants
    rules = [(path, landlock.RUN) for path in (*system_files.PROGRAMS, fence.argv0, *grants.reads)]
    rules += [(path, landlock.LIST) for path in grants.lists]
    own = (f"/proc/{os.getpid()}/{name}" for name in system_files.OWN_PROCESS)
    rules += [(path, landlock.READ) for path in (*system_files.DATA, *own)]
    rules += [(path, landlock.DEVICE) for path in system_files.DEVICES]
    if fence.network:
        rules += [(path, landlock.READ) for path in system_files.NETWORK_DATA]
    return [*rules, *fence.granted, (fence.private, landlock.WRITE)]


def _filter_calls(fence: Fence, *, namespaced: bool, hand_over: Callable[[int], bool] | None) -> tuple[bool, bool]:
    """Put this process under its filter; return whether it is, and whether a supervisor answers for attributes."""
    machine = kernel.machine()
    if not seccomp.is_supported(machine):
        return False, False

    def code(attributes: int) -> bytes:
        return seccomp.encoded(machine, network=fence.network, attributes=attributes, sessions=fence.level.sessions)

    if hand_over is not None:
        try:
            listener = seccomp.install_asking(code(seccomp.ASK))
        except (OSError, ImportError, AttributeError):
            pass  # an older kernel: refused without asking
        else:
            return True, hand_over(listener)
    try:
        seccomp.install(code(seccomp.ALLOW if namespaced else seccomp.REFUSE))
    except (OSError, ImportError, AttributeError):
        return False, False
    return True, False
