"""Run a program on a kernel that seems to lack something: ``refuse_syscalls.py NAME… -- COMMAND…``.

A system call filter answers for the mechanisms named (`REFUSALS`); everything the command starts is under it. It is a
program of its own, so that nothing has to happen between the fork and the exec of a test's process.
"""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import struct
import sys
from collections.abc import Sequence

_LOAD, _JUMP_EQUAL, _JUMP_BITS, _RETURN = 0x20, 0x15, 0x45, 0x06
_ALLOW, _ERRNO = 0x7FFF0000, 0x00050000
_CLONE_NEWUSER = 0x10000000
_NO_NEW_PRIVS, _SECCOMP, _FILTER = 38, 22, 2

# call → number on (x86_64, aarch64)
_NUMBERS = {
    "landlock_create_ruleset": (444, 444),
    "unshare": (272, 97),
    "clone": (56, 220),
    "clone3": (435, 435),
    "seccomp": (317, 277),
    "prctl": (157, 167),
}
# mechanism → rows (call, index of the argument to look at, its value or bits, errno); no argument: every call
_BITS, _VALUE, _ANY = "bits", "value", "any"
REFUSALS = {
    "landlock": [("landlock_create_ruleset", _ANY, 0, errno.ENOSYS)],
    "user_namespaces": [
        ("unshare", _BITS, _CLONE_NEWUSER, errno.EPERM),
        ("clone", _BITS, _CLONE_NEWUSER, errno.EPERM),
        ("clone3", _ANY, 0, errno.ENOSYS),  # its flags are out of a filter's sight; the C library falls back
    ],
    "seccomp": [("seccomp", _ANY, 0, errno.ENOSYS), ("prctl", _VALUE, _SECCOMP, errno.EINVAL)],
}


def is_supported() -> bool:
    """Whether the numbers of this machine are known here."""
    return sys.platform == "linux" and platform.machine() in ("x86_64", "aarch64")


def without(python: str, *mechanisms: str) -> list[str]:
    """Return the words that, before a command, run it without these mechanisms."""
    return [python, "-IS", __file__, *mechanisms, "--"]


def install(mechanisms: Sequence[str]) -> None:
    """Put this process under the filter for good. Raises OSError."""
    code = b"".join(struct.pack("<HBBI", *one) for one in _program(mechanisms))
    held = ctypes.create_string_buffer(code, len(code))
    given = struct.pack("@HP", len(code) // 8, ctypes.addressof(held))
    library = ctypes.CDLL(None, use_errno=True)
    for arguments in ((_NO_NEW_PRIVS, 1), (_SECCOMP, _FILTER, given)):
        if library.prctl(*arguments, *([0] * (5 - len(arguments)))):
            raise OSError(ctypes.get_errno(), "the filter was refused")


def _program(mechanisms: Sequence[str]) -> list[tuple[int, int, int, int]]:
    machine = ("x86_64", "aarch64").index(platform.machine())
    lines = [(_LOAD, 0, 0, 0)]
    for mechanism in mechanisms:
        for call, how, value, number in REFUSALS[mechanism]:
            refusal = (_RETURN, 0, 0, _ERRNO | number)
            if how == _ANY:
                lines += [(_JUMP_EQUAL, 0, 1, _NUMBERS[call][machine]), refusal]
                continue
            test = _JUMP_BITS if how == _BITS else _JUMP_EQUAL
            lines += [
                (_JUMP_EQUAL, 0, 4, _NUMBERS[call][machine]),
                (_LOAD, 0, 0, 16),  # the low word of the first argument
                (test, 0, 1, value),
                refusal,
                (_LOAD, 0, 0, 0),
            ]
    return [*lines, (_RETURN, 0, 0, _ALLOW)]


def main() -> None:
    split = sys.argv.index("--")
    install(sys.argv[1:split])
    command = sys.argv[split + 1 :]
    os.execvp(command[0], command)


if __name__ == "__main__":
    main()
