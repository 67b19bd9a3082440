"""Landlock: which files a process and all it starts may touch, decided by the process itself and not to be undone.

Rights are those of the kernel's header. A right that a kernel does not know cannot be asked for, so each is taken
with the version of the interface that brought it.
"""

from __future__ import annotations

import errno
import os
import stat

from loopx_host.adapters.process import kernel

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_VERSION_FLAG = 1
_PATH_BENEATH = 1

EXECUTE, WRITE_FILE, READ_FILE, READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
REMOVE_DIR, REMOVE_FILE = 1 << 4, 1 << 5
MAKE_CHAR, MAKE_DIR, MAKE_REG, MAKE_SOCK, MAKE_FIFO, MAKE_BLOCK, MAKE_SYM = (1 << bit for bit in range(6, 13))
REFER, TRUNCATE, IOCTL_DEV = 1 << 13, 1 << 14, 1 << 15
BIND_TCP, CONNECT_TCP = 1 << 0, 1 << 1
SCOPE_ABSTRACT_UNIX_SOCKET, SCOPE_SIGNAL = 1 << 0, 1 << 1

# version of the interface → file rights known since
_FILE_RIGHTS = {1: (1 << 13) - 1, 2: REFER, 3: TRUNCATE, 5: IOCTL_DEV}
_ON_FILES = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | IOCTL_DEV
TRUNCATE_SINCE, NETWORK_SINCE, SCOPES_SINCE = 3, 4, 6

READ = READ_FILE | READ_DIR
RUN = READ | EXECUTE
LIST = READ_DIR
# Everything but device nodes: a block device made in a private directory would be the whole disk.
WRITE = (
    RUN
    | WRITE_FILE
    | REMOVE_DIR
    | REMOVE_FILE
    | MAKE_DIR
    | MAKE_REG
    | MAKE_SOCK
    | MAKE_FIFO
    | MAKE_SYM
    | REFER
    | TRUNCATE
)
DEVICE = READ_FILE | WRITE_FILE | IOCTL_DEV

_opened: dict[str, tuple[int, int]] = {}
_UNKNOWN = -1
_known_version = [_UNKNOWN]


def version() -> int:
    """Return the version of the interface, 0 where Landlock is not there or not switched on."""
    if _known_version[0] == _UNKNOWN:
        try:
            _known_version[0] = kernel.syscall(
                _CREATE_RULESET, None, kernel.unsigned(0), kernel.unsigned(_VERSION_FLAG)
            )
        except (OSError, ImportError, AttributeError):
            _known_version[0] = 0
    return _known_version[0]


def restrict(rules: Iterable[tuple[str, int]], *, refuse_tcp: int) -> None:
    """Restrict this thread, for good, to the files of `rules` (path, rights below it).

    A path that is not there is left out. `refuse_tcp` are rights to TCP ports that nobody gets. Signals to and
    abstract sockets of processes outside are refused where the kernel can. Raises OSError.
    """
    since = version()
    rights = sum(bits for first, bits in _FILE_RIGHTS.items() if since >= first)
    ruleset = _create(rights, refuse_tcp if since >= NETWORK_SINCE else 0, since)
    try:
        for path, wanted in rules:
            _allow(ruleset, path, wanted & rights)
        kernel.syscall(_RESTRICT_SELF, kernel.unsigned(ruleset), kernel.unsigned(0))
    finally:
        os.close(ruleset)


def fence_signals(outsider: int) -> bool:
    """Keep this process, and all it starts, from signalling anyone outside, for good; whether that holds.

    It holds when `outsider`, a process that is none of them, is found out of reach.
    """
    if version() < SCOPES_SINCE:
        return False
    try:
        kernel.prctl(kernel.PR_SET_NO_NEW_PRIVS, 1)
        attributes = b"".join(word.to_bytes(8, "little") for word in (0, 0, SCOPE_SIGNAL))
        ruleset = kernel.syscall(_CREATE_RULESET, attributes, kernel.unsigned(len(attributes)), kernel.unsigned(0))
        try:
            kernel.syscall(_RESTRICT_SELF, kernel.unsigned(ruleset), kernel.unsigned(0))
        finally:
            os.close(ruleset)
        os.kill(outsider, 0)
    except PermissionError:
        return True
    except (OSError, ImportError, AttributeError):
        return False
    return False


def _create(files: int, tcp: int, since: int) -> int:
    scopes = SCOPE_ABSTRACT_UNIX_SOCKET | SCOPE_SIGNAL if since >= SCOPES_SINCE else 0
    words = [files, *([tcp] if since >= NETWORK_SINCE else []), *([scopes] if since >= SCOPES_SINCE else [])]
    attributes = b"".join(word.to_bytes(8, "little") for word in words)
    return kernel.syscall(_CREATE_RULESET, attributes, kernel.unsigned(len(attributes)), kernel.unsigned(0))


def _allow(ruleset: int, path: str, rights: int) -> None:
    if path in _opened:
        _add(ruleset, *_opened[path], rights)
        return
    try:
        place, kind = _open(path)
    except (OSError, ValueError):
        return
    try:
        _add(ruleset, place, kind, rights)
    finally:
        os.close(place)


def open_ahead(paths: Iterable[str]) -> None:
    """Open places that every ruleset names, once, for all that this process forks."""
    for path in paths:
        try:
            _opened[path] = _open(path)
        except OSError:
            continue


def open_pinned(path: str) -> None:
    """Open a path in which no link is left, so that what is granted is what was resolved. Raises OSError."""
    place, kind = _open(path)
    if os.readlink(f"/proc/self/fd/{place}") != path:
        os.close(place)
        raise OSError(errno.ELOOP, f"{path} is not what it was when it was resolved")
    _opened[path] = (place, kind)


def _open(path: str) -> tuple[int, int]:
    """Return a descriptor of a path and the rights that can be given on it."""
    place = os.open(path, os.O_PATH | os.O_CLOEXEC)
    return place, -1 if stat.S_ISDIR(os.fstat(place).st_mode) else _ON_FILES


def _add(ruleset: int, place: int, kind: int, rights: int) -> None:
    if rights & kind:
        beneath = (rights & kind).to_bytes(8, "little") + place.to_bytes(4, "little")
        kernel.syscall(
            _ADD_RULE, kernel.unsigned(ruleset), kernel.unsigned(_PATH_BENEATH), beneath, kernel.unsigned(0)
        )
