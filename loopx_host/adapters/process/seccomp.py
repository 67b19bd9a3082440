"""A system call filter: what a provider may ask of the kernel, as a program the kernel runs for each call.

Landlock knows files; this filter knows the rest of zero permission: sockets, other processes, the modes and owners
of files (which Landlock does not watch), and ways into the kernel that no provider needs. The program is a pure
function of the machine and the permissions, so that a test can run it.
"""

from __future__ import annotations

import errno

from loopx_host.adapters.process import kernel

_MODE_FILTER = 2
ALLOW, KILL_PROCESS, ERRNO = 0x7FFF0000, 0x80000000, 0x00050000
_LOAD, _JUMP_EQUAL, _JUMP_AT_LEAST, _JUMP_BITS, _AND, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x54, 0x06
_NUMBER_AT, _ARCHITECTURE_AT, _ARGUMENTS_AT = 0, 4, 16
_X32_BIT = 0x40000000

AUDIT_ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
_MACHINES = tuple(AUDIT_ARCHITECTURES)

# name → number on (x86_64, aarch64); None where the machine does not have the call
NUMBERS: dict[str, tuple[int | None, int | None]] = {
    "socket": (41, 198),
    "socketpair": (53, 199),
    "connect": (42, 203),
    "bind": (49, 200),
    "listen": (50, 201),
    "accept": (43, 202),
    "accept4": (288, 242),
    "io_uring_setup": (425, 425),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "process_madvise": (440, 440),
    "pidfd_getfd": (438, 438),
    "kcmp": (312, 272),
    "prlimit64": (302, 261),
    "shmget": (29, 194),
    "shmat": (30, 196),
    "msgget": (68, 186),
    "semget": (64, 190),
    "shmdt": (67, 197),
    "shmctl": (31, 195),
    "msgsnd": (69, 189),
    "msgrcv": (70, 188),
    "msgctl": (71, 187),
    "semop": (65, 193),
    "semctl": (66, 191),
    "semtimedop": (220, 192),
    "mq_timedsend": (242, 182),
    "mq_timedreceive": (243, 183),
    "mq_notify": (244, 184),
    "mq_getsetattr": (245, 185),
    "inotify_init": (253, None),
    "inotify_init1": (294, 26),
    "fanotify_init": (300, 262),
    "mq_open": (240, 180),
    "mq_unlink": (241, 181),
    "chmod": (90, None),
    "fchmod": (91, 52),
    "fchmodat": (268, 53),
    "fchmodat2": (452, 452),
    "chown": (92, None),
    "fchown": (93, 55),
    "lchown": (94, None),
    "fchownat": (260, 54),
    "utime": (132, None),
    "utimes": (235, None),
    "futimesat": (261, None),
    "utimensat": (280, 88),
    "setxattr": (188, 5),
    "lsetxattr": (189, 6),
    "fsetxattr": (190, 7),
    "setxattrat": (463, 463),
    "removexattr": (197, 14),
    "lremovexattr": (198, 15),
    "fremovexattr": (199, 16),
    "removexattrat": (466, 466),
    "file_setattr": (469, 469),
    "ioctl": (16, 29),
    "clone": (56, 220),
    "clone3": (435, 435),
    "unshare": (272, 97),
    "setns": (308, 268),
    "mount": (165, 40),
    "umount2": (166, 39),
    "pivot_root": (155, 41),
    "chroot": (161, 51),
    "open_tree": (428, 428),
    "move_mount": (429, 429),
    "fsopen": (430, 430),
    "mount_setattr": (442, 442),
    "open_by_handle_at": (304, 265),
    "add_key": (248, 217),
    "request_key": (249, 218),
    "keyctl": (250, 219),
    "bpf": (321, 280),
    "perf_event_open": (298, 241),
    "userfaultfd": (323, 282),
    "sched_setaffinity": (203, 122),
    "sched_setscheduler": (144, 119),
    "sched_setparam": (142, 118),
    "sched_setattr": (314, 274),
    "setpriority": (141, 140),
    "ioprio_set": (251, 30),
    "setsid": (112, 157),
    "setpgid": (109, 154),
}

_NEW_NAMESPACES = 0x7E020080  # CLONE_NEW{NS,CGROUP,UTS,IPC,USER,PID,NET,TIME}
_NEW_NAMESPACES_OF_CLONE = 0x7E020000  # bit 0x80 means something else there
_AF_INET, _AF_INET6 = 2, 10
_SOCKET_TYPE, _SOCK_STREAM, _SOCK_SEQPACKET = 0xF, 1, 5
# FS_IOC_SETFLAGS, FS_IOC_FSSETXATTR, FS_IOC_SETVERSION; TIOCSTI, TIOCLINUX
_ATTRIBUTE_IOCTLS = (0x40086602, 0x401C5820, 0x40087602)
_TERMINAL_IOCTLS = (0x5412, 0x541C)

_SOCKETS = ("socket", "connect", "bind", "listen", "accept", "accept4")
_LISTENING = ("listen", "accept", "accept4")
_ATTRIBUTES = (
    *("chmod", "fchmod", "fchmodat", "fchmodat2", "chown", "fchown", "lchown", "fchownat"),
    *("utime", "utimes", "futimesat", "utimensat"),
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
    *("setns", "mount", "umount2", "pivot_root", "chroot", "open_tree", "move_mount", "fsopen", "mount_setattr"),
    *("open_by_handle_at", "add_key", "request_key", "keyctl", "bpf", "perf_event_open", "userfaultfd"),
)
# Programs ask whether these are there and have another way when they are not.
_NOT_THERE = ("io_uring_setup", "io_uring_enter", "io_uring_register", "clone3", "inotify_init", "inotify_init1")
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
_encoded: dict[tuple[str, bool, bool, bool], bytes] = {}

Instruction = tuple[int, int, int, int]  # code, jump if true, jump if false, constant


def is_supported(machine: str) -> bool:
    """Whether the numbers of this machine are known here."""
    return machine in AUDIT_ARCHITECTURES


def program(machine: str, *, network: bool, attributes: bool, sessions: bool) -> list[Instruction]:
    """Return the filter of one provider.

    `network` allows IPv4 and IPv6 sockets that reach out; `attributes` allows changing modes, owners and times (a
    mount namespace guards them then); without `sessions`, leaving the session or group is answered with success
    and does not happen.
    """
    eperm = _refusal(errno.EPERM)
    refused = [*_OTHER_PROCESSES, *_SHARED_WITH_OTHERS, *_INTO_THE_KERNEL]
    refused += _LISTENING if network else _SOCKETS
    refused += () if attributes else _ATTRIBUTES
    body: list[Instruction] = []
    for name in refused:
        body += _whenever(machine, name, eperm)
    for name in _NOT_THERE:
        body += _whenever(machine, name, _refusal(errno.ENOSYS))
    for name in () if sessions else _SESSIONS:
        body += _whenever(machine, name, _refusal(0))
    if network:
        body += _unless(machine, "socket", 0, (_AF_INET, _AF_INET6), eperm)
    # A datagram socket of a pair can be turned to any address; the two of a stream cannot.
    body += _unless(machine, "socketpair", 1, (_SOCK_STREAM, _SOCK_SEQPACKET), eperm, mask=_SOCKET_TYPE)
    for name, arguments in _ABOUT_THE_CALLER.items():
        body += _exactly(machine, name, arguments, eperm)
    body += _with_bits(machine, "clone", 0, _NEW_NAMESPACES_OF_CLONE, eperm)
    body += _with_bits(machine, "unshare", 0, _NEW_NAMESPACES, eperm)
    ioctls = _TERMINAL_IOCTLS if attributes else (*_ATTRIBUTE_IOCTLS, *_TERMINAL_IOCTLS)
    body += _among(machine, "ioctl", 1, ioctls, eperm)
    return [*_head(machine), *body, (_RETURN, 0, 0, ALLOW)]


def encoded(machine: str, *, network: bool, attributes: bool, sessions: bool) -> bytes:
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
    import ctypes

    held = ctypes.create_string_buffer(code, len(code))
    # struct sock_fprog: the number of instructions, then, aligned, where they are
    length = (len(code) // _INSTRUCTION_BYTES).to_bytes(8, "little")
    fprog = length + ctypes.addressof(held).to_bytes(8, "little")
    result = kernel.library().prctl(
        kernel.PR_SET_SECCOMP, kernel.unsigned(_MODE_FILTER), fprog, kernel.unsigned(0), kernel.unsigned(0)
    )
    kernel.check(result, "seccomp")


def _number(machine: str, name: str) -> int | None:
    return NUMBERS[name][_MACHINES.index(machine)]


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
    if machine == "x86_64":
        instructions += [(_JUMP_AT_LEAST, 0, 1, _X32_BIT), (_RETURN, 0, 0, _refusal(errno.ENOSYS))]
    return instructions


def _whenever(machine: str, name: str, answer: int) -> list[Instruction]:
    number = _number(machine, name)
    return [] if number is None else [(_JUMP_EQUAL, 0, 1, number), (_RETURN, 0, 0, answer)]


def _unless(
    machine: str, name: str, argument: int, allowed: tuple[int, ...], answer: int, *, mask: int | None = None
) -> list[Instruction]:
    """Answer a call unless its argument, masked, is one of the allowed values."""
    tests: list[Instruction] = [] if mask is None else [(_AND, 0, 0, mask)]
    # Jump over the other tests and the answer.
    tests += [(_JUMP_EQUAL, len(allowed) - index, 0, value) for index, value in enumerate(allowed)]
    return _argument_rule(machine, name, argument, [*tests, (_RETURN, 0, 0, answer)])


def _exactly(machine: str, name: str, wanted: dict[int, int], answer: int) -> list[Instruction]:
    """Answer a call unless each of these arguments has just this value."""
    tests: list[Instruction] = []
    for argument, value in wanted.items():
        tests += [_load(argument), (_JUMP_EQUAL, 1, 0, value), (_RETURN, 0, 0, answer)]
    return _rule(machine, name, tests)


def _among(machine: str, name: str, argument: int, refused: tuple[int, ...], answer: int) -> list[Instruction]:
    """Answer a call whose argument is one of these values."""
    tests: list[Instruction] = []
    for value in refused:
        tests += [(_JUMP_EQUAL, 0, 1, value), (_RETURN, 0, 0, answer)]
    return _argument_rule(machine, name, argument, tests)


def _with_bits(machine: str, name: str, argument: int, bits: int, answer: int) -> list[Instruction]:
    """Answer a call whose argument has any of these bits."""
    return _argument_rule(machine, name, argument, [(_JUMP_BITS, 0, 1, bits), (_RETURN, 0, 0, answer)])


def _argument_rule(machine: str, name: str, argument: int, tests: list[Instruction]) -> list[Instruction]:
    return _rule(machine, name, [_load(argument), *tests])


def _rule(machine: str, name: str, tests: list[Instruction]) -> list[Instruction]:
    """Return what is tested for one call only; a call that passes is allowed."""
    number = _number(machine, name)
    if number is None:
        return []
    inner = [*tests, (_RETURN, 0, 0, ALLOW)]
    return [(_JUMP_EQUAL, 0, len(inner), number), *inner]


def _load(argument: int) -> Instruction:
    # The kernel takes these arguments as 32 bits: the low word, which is the first on a little-endian machine.
    return (_LOAD, 0, 0, _ARGUMENTS_AT + 8 * argument)
