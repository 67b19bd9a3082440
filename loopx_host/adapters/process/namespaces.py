"""The rung `namespaced`: users, processes, network, IPC and mounts of its own, none of which needs root.

Three processes stand in for one: the outer (this one, seen from outside), the first of the new process namespace,
whose end is the end of everything in it, and the provider. The outer ends the way the provider did.
"""

from __future__ import annotations

import os
import signal

from loopx_host.adapters.process import kernel
from loopx_host.adapters.process.child import Child, fork
from loopx_host.adapters.process.descriptors import read_all, write_all

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

_NEW = 0x00020000 | 0x08000000 | 0x10000000 | 0x20000000  # NEWNS NEWIPC NEWUSER NEWPID
_NEW_NETWORK = 0x40000000
_MS_NOSUID, _MS_NODEV, _MS_NOEXEC, _MS_BIND, _MS_REC, _MS_PRIVATE = 2, 4, 8, 4096, 16384, 1 << 18
_MOUNT_SETATTR = 442
_AT_FDCWD, _AT_RECURSIVE = -100, 0x8000
_ATTRIBUTE_READ_ONLY, _ATTRIBUTE_NO_SET_ID = 1, 2


def enter(*, network: bool) -> None:
    """Enter new namespaces, as the same user; with `network` that one stays. Raises OSError where refused."""
    user, group = os.geteuid(), os.getegid()
    wanted = _NEW if network else _NEW | _NEW_NETWORK
    if hasattr(os, "unshare"):
        os.unshare(wanted)
    else:
        kernel.check(kernel.library().unshare(wanted), "unshare")
    _write("/proc/self/setgroups", "deny")
    _write("/proc/self/uid_map", f"{user} {user} 1")
    _write("/proc/self/gid_map", f"{group} {group} 1")


def arrange(writable: list[str]) -> None:
    """Give this process, the first of its namespace, a /proc of its own and mounts that only read and give no rights.

    `writable` are the directories that stay as they are. Raises OSError.
    """
    _mount(None, "/", _MS_REC | _MS_PRIVATE)
    for path in writable:
        _mount(path, path, _MS_BIND | _MS_REC)
    _set_attributes("/", set_bits=_ATTRIBUTE_READ_ONLY | _ATTRIBUTE_NO_SET_ID, clear_bits=0)
    for path in writable:
        _set_attributes(path, set_bits=0, clear_bits=_ATTRIBUTE_READ_ONLY)
    _mount("proc", "/proc", _MS_NOSUID | _MS_NODEV | _MS_NOEXEC, kind="proc")


def stand_in(start: Callable[[], None], say_failed: Callable[[OSError], None], let_go: Callable[[int], None]) -> None:
    """Run `start` as a child of the first process of the new namespace, and end as that child ends.

    `start` becomes the provider and does not return. `say_failed` hears why it could not be arranged; `let_go`
    drops every descriptor but one, which a stand-in must not hold. Never returns.
    """
    first = Child.forked(lambda ended: _first(ended, start, say_failed, let_go), writes=1)
    for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP, signal.SIGCHLD}:
        signal.signal(number, signal.SIG_IGN)  # a request to end is for the provider; this one ends with it
    (ended,) = first.pipes.ours
    let_go(ended)
    status = read_all(ended)
    first.reap()
    _end_like(int(status or b"9"))


def _first(
    ended: int, start: Callable[[], None], say_failed: Callable[[OSError], None], let_go: Callable[[int], None]
) -> None:
    try:
        kernel.prctl(kernel.PR_SET_PDEATHSIG, signal.SIGKILL)
        provider = fork(start)
        let_go(ended)
        while True:  # the first process of a namespace is the parent of all that nobody else waits for
            pid, status = os.wait()
            if pid == provider:
                write_all(ended, str(status).encode("ascii"))
                break
    except OSError as error:
        say_failed(error)


def _end_like(status: int) -> None:
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        if number != signal.SIGKILL:
            signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [number])
        os.kill(os.getpid(), number)
    os._exit(os.WEXITSTATUS(status))


def _mount(source: str | None, target: str, flags: int, kind: str | None = None) -> None:
    words = [None if word is None else os.fsencode(word) for word in (source, target, kind)]
    result = kernel.library().mount(words[0], words[1], words[2], kernel.unsigned(flags), None)
    kernel.check(result, f"mount {target}")


def _set_attributes(path: str, *, set_bits: int, clear_bits: int) -> None:
    attributes = b"".join(word.to_bytes(8, "little") for word in (set_bits, clear_bits, 0, 0))
    kernel.syscall(
        _MOUNT_SETATTR,
        kernel.unsigned(_AT_FDCWD),
        os.fsencode(path),
        kernel.unsigned(_AT_RECURSIVE),
        attributes,
        kernel.unsigned(len(attributes)),
    )


def _write(path: str, text: str) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CLOEXEC)
    try:
        write_all(descriptor, text.encode("ascii"))
    finally:
        os.close(descriptor)
