"""The calls to the Linux kernel that Python has no name for; numbers from its user-space headers."""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    import ctypes

PR_SET_PDEATHSIG = 1
PR_SET_DUMPABLE = 4
PR_SET_NAME = 15
PR_CAPBSET_DROP = 24
PR_SET_CHILD_SUBREAPER = 36
PR_SET_NO_NEW_PRIVS = 38
PR_SET_SECCOMP = 22

_CLOSE_RANGE, _CLOSE_RANGE_CLOEXEC, _EVERY_DESCRIPTOR = 436, 4, 0xFFFFFFFF

_ARGUMENTS_AT_FIELD = 45  # of /proc/self/stat, counted after the name: where the arguments begin, then where they end

_loaded: list[ctypes.CDLL] = []


def library() -> ctypes.CDLL:
    """Return the C library of this process. Raises OSError or ImportError where there is none to load."""
    if not _loaded:
        import ctypes

        _loaded.append(ctypes.CDLL(None, use_errno=True))
    return _loaded[0]


def is_linux() -> bool:
    """Whether this is Linux; everything else has the `process` rung only."""
    return sys.platform == "linux"


def machine() -> str:
    """Return the machine's name as the kernel tells it, such as ``x86_64``."""
    return os.uname().machine


def prctl(option: int, *arguments: int) -> None:
    """Change something about this process, with up to four numbers. Raises OSError."""
    padded = [*arguments, 0, 0, 0, 0][:4]
    check(library().prctl(option, *(unsigned(number) for number in padded)), f"prctl {option}")


def be_called(name: str) -> None:
    """Give this process a name of its own instead of its parent's, also as its command line, where that can be.

    Both are what people see in a list of processes, and what they end processes by.
    """
    if not is_linux():
        return
    try:
        check(library().prctl(PR_SET_NAME, name.encode("ascii"), unsigned(0), unsigned(0), unsigned(0)), "prctl name")
        with open("/proc/self/stat", "rb") as status:
            fields = status.read().rpartition(b")")[2].split()
        begin, end = (int(fields[index]) for index in (_ARGUMENTS_AT_FIELD, _ARGUMENTS_AT_FIELD + 1))
    except (OSError, ImportError, AttributeError, ValueError, IndexError):
        return
    if size := max(0, end - begin):
        import ctypes

        # The words this process was started with; all that needs them has had them since long.
        ctypes.memmove(begin, name.encode("ascii")[: size - 1].ljust(size, b"\0"), size)


def syscall(number: int, *arguments: object) -> int:
    """Call a system call by its number. Raises OSError."""
    return check(int(library().syscall(_long(number), *arguments)), f"system call {number}")


def close_range_on_exec(first: int) -> None:
    """Mark every descriptor from `first` on to be closed when a program is executed. Raises OSError."""
    syscall(_CLOSE_RANGE, unsigned(first), unsigned(_EVERY_DESCRIPTOR), unsigned(_CLOSE_RANGE_CLOEXEC))


def check(result: int, what: str) -> int:
    """Return the result of a call unless it says that it failed. Raises OSError."""
    if result < 0:
        import ctypes

        number = ctypes.get_errno()
        raise OSError(number, f"{os.strerror(number)} ({what})")
    return result


def unsigned(number: int) -> ctypes.c_ulong:
    """Return a number as the kernel's word."""
    import ctypes

    return ctypes.c_ulong(number)


def _long(number: int) -> ctypes.c_long:
    import ctypes

    return ctypes.c_long(number)
