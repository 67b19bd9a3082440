"""A system call filter: what a provider may ask of the kernel, as a program the kernel runs for each call.

Landlock knows files; this filter knows the rest of zero permission: sockets, other processes, the modes and owners
of files (which Landlock does not watch), and ways into the kernel that no provider needs. Of calls that take
commands it allows a list (`system_calls`). The program is a pure function of the machine and the permissions, so
that a test can run it.
"""

from __future__ import annotations

import errno

from loopx_host.adapters.process import kernel, system_calls
from loopx_host.adapters.process.system_calls import number as _number

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

_MODE_FILTER = 2
_SET_FILTER, _LISTEN = 1, 1 << 3 | 1 << 5  # SECCOMP_FILTER_FLAG_{NEW_LISTENER, WAIT_KILLABLE_RECV}
ALLOW, KILL_PROCESS, ERRNO, ASK = 0x7FFF0000, 0x80000000, 0x00050000, 0x7FC00000  # ASK: SECCOMP_RET_USER_NOTIF
_LOAD, _JUMP_EQUAL, _JUMP_AT_LEAST, _JUMP_BITS, _AND, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x54, 0x06
_NUMBER_AT, _ARCHITECTURE_AT, _ARGUMENTS_AT = 0, 4, 16

AUDIT_ARCHITECTURES = dict(zip(system_calls.MACHINES, (0xC000003E, 0xC00000B7), strict=True))
REFUSE = ERRNO | errno.EPERM

_NEW_NAMESPACES = 0x7E020080  # CLONE_NEW{NS,CGROUP,UTS,IPC,USER,PID,NET,TIME}
_NEW_NAMESPACES_OF_CLONE = 0x7E020000  # bit 0x80 means something else there
_AF_UNIX, _AF_INET, _AF_INET6 = 1, 2, 10
_SOCKET_TYPE, _SOCK_STREAM, _SOCK_SEQPACKET = 0xF, 1, 5

_SOCKETS = ("socket", "connect", "bind", "listen", "accept", "accept4")
_LISTENING = ("listen", "accept", "accept4")
# Modes, owners and times; then extended ones, which nobody is asked about.
_ATTRIBUTES = (
    *("chmod", "fchmod", "fchmodat", "fchmodat2", "chown", "fchown", "lchown", "fchownat"),
    *("utime", "utimes", "futimesat", "utimensat"),
)
_EXTENDED_ATTRIBUTES = (
    *("setxattr", "lsetxattr", "fsetxattr", "setxattrat", "removexattr", "lremovexattr", "fremovexattr"),
    *("removexattrat", "file_setattr"),
)
_OTHER_PROCESSES = ("ptrace", "process_vm_readv", "process_vm_writev", "process_madvise", "pidfd_getfd", "kcmp")
_SHARED_WITH_OTHERS = (
    *("shmget", "shmat", "shmdt", "shmctl", "msgget", "msgsnd", "msgrcv", "msgctl"),
    *("semget", "semop", "semctl", "semtimedop"),
    *("mq_open", "mq_unlink", "mq_timedsend", "mq_timedreceive", "mq_notify", "mq_getsetattr", "fanotify_init"),
)
_INTO_THE_KERNEL = (
    *("setns", "mount", "umount2", "pivot_root", "chroot", "open_tree", "open_tree_attr", "move_mount"),
    *("fsopen", "fsconfig", "fsmount", "fspick", "mount_setattr", "open_by_handle_at"),
    *("add_key", "request_key", "keyctl", "bpf", "perf_event_open", "userfaultfd", "syslog"),
)
# Programs ask whether these are there and have another way when they are not.
_NOT_THERE = (
    *("io_uring_setup", "io_uring_enter", "io_uring_register", "clone3", "inotify_init", "inotify_init1"),
    # Their arguments lie in memory, which no filter sees: a mode among them.
    "openat2",
    # What is known about files, mounts, caches and processes that nobody granted.
    *("file_getattr", "name_to_handle_at", "statmount", "listmount", "quotactl", "quotactl_fd", "cachestat"),
    *("pidfd_open", "pidfd_send_signal", "process_mrelease", "memfd_secret"),
)
# Extended attributes of every file whose name is known; programs take a file system that has none for granted.
_ATTRIBUTES_ASKED = (
    *("getxattr", "lgetxattr", "fgetxattr", "getxattrat"),
    *("listxattr", "llistxattr", "flistxattr", "listxattrat"),
)
# name → (index of the command, what is allowed, the answer to everything else)
_COMMANDS = {
    "ioctl": (1, system_calls.IOCTL_COMMANDS, errno.ENOTTY),
    "fcntl": (1, system_calls.FCNTL_COMMANDS, errno.EINVAL),
    "prctl": (0, system_calls.PRCTL_OPTIONS, errno.EINVAL),
}
# name → what its arguments must be: the caller itself, and neither another process nor all of its user.
_ABOUT_THE_CALLER = {
    "prlimit64": {0: 0},
    "sched_setaffinity": {0: 0},
    "sched_setscheduler": {0: 0},
    "sched_setparam": {0: 0},
    "sched_setattr": {0: 0},
    "setpriority": {0: 0, 1: 0},  # PRIO_PROCESS, the caller
    "ioprio_set": {0: 1, 1: 0},  # IOPRIO_WHO_PROCESS, the caller
}
_SESSIONS = ("setsid", "setpgid")

_INSTRUCTION_BYTES = 8
_encoded: dict[tuple[str, bool, int, bool], bytes] = {}

Instruction = tuple[int, int, int, int]  # code, jump if true, jump if false, constant


def is_supported(machine: str) -> bool:
    """Whether the numbers of this machine are known here."""
    return machine in AUDIT_ARCHITECTURES


def program(machine: str, *, network: bool, attributes: int, sessions: bool) -> list[Instruction]:
    """Return the filter of one provider.

    `network` allows IPv4 and IPv6 sockets that reach out; `attributes` is the answer to calls that change modes,
    owners and times: REFUSE, ASK (the listener) or ALLOW (a mount namespace guards them then); without `sessions`,
    leaving the session or group is answered with success and does not happen.
    """
    body = _answered(machine, (*_OTHER_PROCESSES, *_SHARED_WITH_OTHERS, *_INTO_THE_KERNEL), REFUSE)
    body += _answered(machine, _LISTENING if network else _SOCKETS, REFUSE)
    body += _about_attributes(machine, attributes)
    body += _answered(machine, _NOT_THERE, _refusal(errno.ENOSYS))
    body += _answered(machine, _ATTRIBUTES_ASKED, _refusal(errno.ENOTSUP))
    body += _answered(machine, () if sessions else _SESSIONS, _refusal(0))
    if network:
        body += _unless(machine, "socket", 0, (_AF_INET, _AF_INET6), REFUSE)
    body += _stream_pairs_only(machine, REFUSE)
    for name, arguments in _ABOUT_THE_CALLER.items():
        body += _exactly(machine, name, arguments, REFUSE)
    body += _with_bits(machine, "clone", 0, _NEW_NAMESPACES_OF_CLONE, REFUSE)
    body += _with_bits(machine, "unshare", 0, _NEW_NAMESPACES, REFUSE)
    for name, (argument, commands, answer) in _COMMANDS.items():
        body += _unless(machine, name, argument, commands, _refusal(answer))
    for name, (mode, flags) in system_calls.MODE_ARGUMENTS.items():
        body += _without_set_id(machine, name, mode, flags)
    return [*_head(machine), *body, (_RETURN, 0, 0, ALLOW)]


def encoded(machine: str, *, network: bool, attributes: int, sessions: bool) -> bytes:
    """Return a filter as the kernel takes it; remembered, so that a process can have it before it forks."""
    key = (machine, network, attributes, sessions)
    if key not in _encoded:
        instructions = program(machine, network=network, attributes=attributes, sessions=sessions)
        _encoded[key] = b"".join(
            word.to_bytes(2, "little") + bytes((true, false)) + constant.to_bytes(4, "little")
            for word, true, false, constant in instructions
        )
    return _encoded[key]


def install(code: bytes) -> None:
    """Put this thread, and all it starts, under a filter for good; needs no_new_privs. Raises OSError."""
    fprog, _held = _program_of(code)
    result = kernel.library().prctl(
        kernel.PR_SET_SECCOMP, kernel.unsigned(_MODE_FILTER), fprog, kernel.unsigned(0), kernel.unsigned(0)
    )
    kernel.check(result, "seccomp")


def install_asking(code: bytes) -> int:
    """Do the same with a filter that asks; return the listener by which it does, closed when a program is executed.

    A caller that waits for an answer can be killed and nothing else. Raises OSError, also before Linux 5.19.
    """
    fprog, _held = _program_of(code)
    call = _number("seccomp", kernel.machine())
    return kernel.syscall(call or 0, kernel.unsigned(_SET_FILTER), kernel.unsigned(_LISTEN), fprog)


def _program_of(code: bytes) -> tuple[bytes, object]:
    """Return a struct sock_fprog, how many instructions and, aligned, where they are; and what keeps them there."""
    import ctypes

    held = ctypes.create_string_buffer(code, len(code))
    length = (len(code) // _INSTRUCTION_BYTES).to_bytes(8, "little")
    return length + ctypes.addressof(held).to_bytes(8, "little"), held


def _refusal(number: int) -> int:
    return ERRNO | number


def _head(machine: str) -> list[Instruction]:
    """Load the number of the call; a call by the rules of another machine ends the process."""
    instructions = [
        (_LOAD, 0, 0, _ARCHITECTURE_AT),
        (_JUMP_EQUAL, 1, 0, AUDIT_ARCHITECTURES[machine]),
        (_RETURN, 0, 0, KILL_PROCESS),
        (_LOAD, 0, 0, _NUMBER_AT),
    ]
    # Numbers of newer calls, and on x86_64 those of its x32 variant, which lie above them.
    unknown = system_calls.LAST_KNOWN + 1
    return [*instructions, (_JUMP_AT_LEAST, 0, 1, unknown), (_RETURN, 0, 0, _refusal(errno.ENOSYS))]


def _about_attributes(machine: str, answer: int) -> list[Instruction]:
    """Return what is answered to calls that change attributes (see `program`); set-ID bits are not asked about."""
    if answer == ALLOW:
        return []
    body = _answered(machine, _EXTENDED_ATTRIBUTES, _refusal(errno.ENOTSUP))
    if answer == REFUSE:
        return body + _answered(machine, _ATTRIBUTES, REFUSE)
    for name in _ATTRIBUTES:
        mode = system_calls.MODE_ARGUMENTS.get(name)
        body += _rule(machine, name, _no_set_id(mode[0]) if mode else [], ASK)
    return body


def _answered(machine: str, names: Iterable[str], answer: int) -> list[Instruction]:
    return [instruction for name in names for instruction in _whenever(machine, name, answer)]


def _whenever(machine: str, name: str, answer: int) -> list[Instruction]:
    number = _number(name, machine)
    return [] if number is None else [(_JUMP_EQUAL, 0, 1, number), (_RETURN, 0, 0, answer)]


def _unless(machine: str, name: str, argument: int, allowed: tuple[int, ...], answer: int) -> list[Instruction]:
    """Answer a call unless its argument is one of the allowed values."""
    return _argument_rule(machine, name, argument, _any_of(allowed, answer))


def _any_of(allowed: tuple[int, ...], answer: int) -> list[Instruction]:
    """Answer unless what was loaded is one of the allowed values: jump over the other tests and the answer."""
    tests = [(_JUMP_EQUAL, len(allowed) - index, 0, value) for index, value in enumerate(allowed)]
    return [*tests, (_RETURN, 0, 0, answer)]


def _stream_pairs_only(machine: str, answer: int) -> list[Instruction]:
    """Answer a pair of sockets unless it is a stream of the local family.

    A datagram socket of a pair can be turned to any address; the two of a stream cannot. Of another family the
    kernel makes the sockets before it asks whether there are pairs of them, and loads the module that has them.
    """
    family = [_load(0), *_any_of((_AF_UNIX,), answer)]
    kind = [_load(1), (_AND, 0, 0, _SOCKET_TYPE), *_any_of((_SOCK_STREAM, _SOCK_SEQPACKET), answer)]
    return _rule(machine, "socketpair", [*family, *kind])


def _exactly(machine: str, name: str, wanted: dict[int, int], answer: int) -> list[Instruction]:
    """Answer a call unless each of these arguments has just this value."""
    tests: list[Instruction] = []
    for argument, value in wanted.items():
        tests += [_load(argument), (_JUMP_EQUAL, 1, 0, value), (_RETURN, 0, 0, answer)]
    return _rule(machine, name, tests)


def _with_bits(machine: str, name: str, argument: int, bits: int, answer: int) -> list[Instruction]:
    """Answer a call whose argument has any of these bits."""
    return _argument_rule(machine, name, argument, [(_JUMP_BITS, 0, 1, bits), (_RETURN, 0, 0, answer)])


def _without_set_id(machine: str, name: str, mode: int, flags: int | None) -> list[Instruction]:
    """Refuse a mode that makes whoever executes the file somebody else; a mode counts where `flags` make a file."""
    tests = _no_set_id(mode)
    if flags is not None:
        tests = [_load(flags), (_JUMP_BITS, 0, len(tests), system_calls.CREATING), *tests]
    return _rule(machine, name, tests)


def _no_set_id(mode: int) -> list[Instruction]:
    return [_load(mode), (_JUMP_BITS, 0, 1, system_calls.SET_ID), (_RETURN, 0, 0, REFUSE)]


def _argument_rule(machine: str, name: str, argument: int, tests: list[Instruction]) -> list[Instruction]:
    return _rule(machine, name, [_load(argument), *tests])


def _rule(machine: str, name: str, tests: list[Instruction], passes: int = ALLOW) -> list[Instruction]:
    """Return what is tested for one call only; one that passes is allowed, or answered with `passes`."""
    number = _number(name, machine)
    if number is None:
        return []
    inner = [*tests, (_RETURN, 0, 0, passes)]
    return [(_JUMP_EQUAL, 0, len(inner), number), *inner]


def _load(argument: int) -> Instruction:
    # The kernel takes these arguments as 32 bits: the low word, which is the first on a little-endian machine.
    return (_LOAD, 0, 0, _ARGUMENTS_AT + 8 * argument)
