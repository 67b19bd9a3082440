"""The system call filter, run as the kernel runs it: a program over the number, the machine and the arguments."""

from __future__ import annotations

import errno
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopx_host.adapters.process.seccomp import (
    ALLOW,
    ASK,
    AUDIT_ARCHITECTURES,
    ERRNO,
    KILL_PROCESS,
    REFUSE,
    Instruction,
    program,
)
from loopx_host.adapters.process.system_calls import LAST_KNOWN, NUMBERS

MACHINES = sorted(AUDIT_ARCHITECTURES)
EPERM, ENOSYS = ERRNO | errno.EPERM, ERRNO | errno.ENOSYS
ENOTTY, EINVAL, ENOTSUP = ERRNO | errno.ENOTTY, ERRNO | errno.EINVAL, ERRNO | errno.ENOTSUP
WORDS = st.integers(min_value=0, max_value=2**64 - 1)
ARGUMENTS = st.lists(WORDS, min_size=6, max_size=6)
SOCKETS = ("socket", "connect", "bind", "listen", "accept", "accept4")
OTHERS = ("ptrace", "process_vm_readv", "process_vm_writev", "pidfd_getfd", "kcmp")
ATTRIBUTES = ("fchmod", "fchmodat", "fchmodat2", "fchownat", "utimensat")
EXTENDED = ("setxattr", "fsetxattr", "removexattr", "file_setattr")
NAMESPACES = ("setns", "mount", "umount2", "pivot_root", "chroot", "open_by_handle_at", "keyctl", "bpf")


def answer(instructions: Sequence[Instruction], machine: str, number: int, arguments: Sequence[int] = ()) -> int:
    """Return what the kernel would do (classic BPF over `struct seccomp_data`)."""
    data = number.to_bytes(4, "little") + AUDIT_ARCHITECTURES.get(machine, 0).to_bytes(4, "little") + bytes(8)
    data += b"".join(argument.to_bytes(8, "little") for argument in [*arguments, *[0] * 6][:6])
    register, at = 0, 0
    while True:
        code, true, false, constant = instructions[at]
        at += 1
        if code == 0x06:
            return constant
        if code == 0x20:
            assert constant % 4 == 0
            register = int.from_bytes(data[constant : constant + 4], "little")
        elif code == 0x54:
            register &= constant
        else:
            holds = {0x15: register == constant, 0x35: register >= constant, 0x45: bool(register & constant)}[code]
            at += true if holds else false


def number_of(name: str, machine: str) -> int:
    number = NUMBERS[name][list(AUDIT_ARCHITECTURES).index(machine)]
    assert number is not None
    return number


def zero(machine: str) -> list[Instruction]:
    return program(machine, network=False, attributes=REFUSE, sessions=True)


@pytest.mark.req("B6")
@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("name", [*SOCKETS, *OTHERS, *ATTRIBUTES, *NAMESPACES])
@given(arguments=ARGUMENTS)
def test_without_permissions_a_call_is_refused_whatever_its_arguments(
    machine: str, name: str, arguments: list[int]
) -> None:
    assert answer(zero(machine), machine, number_of(name, machine), arguments) == EPERM


@pytest.mark.parametrize("machine", MACHINES)
@given(number=st.integers(min_value=0, max_value=LAST_KNOWN), arguments=ARGUMENTS)
def test_an_old_call_that_no_rule_is_about_is_let_through(machine: str, number: int, arguments: list[int]) -> None:
    known = {number_of(name, machine) for name in NUMBERS if None not in NUMBERS[name]}
    known |= {numbers[list(AUDIT_ARCHITECTURES).index(machine)] or -1 for numbers in NUMBERS.values()}
    if number not in known:
        assert answer(zero(machine), machine, number, arguments) == ALLOW


@pytest.mark.req("B6")
@pytest.mark.parametrize("machine", MACHINES)
@given(number=st.integers(min_value=LAST_KNOWN + 1, max_value=2**32 - 1), arguments=ARGUMENTS)
def test_a_call_that_came_later_is_not_there(machine: str, number: int, arguments: list[int]) -> None:
    assert answer(zero(machine), machine, number, arguments) == ENOSYS


# call → (index of its command, what programs need of it, what nobody gets, the answer to that)
COMMANDS = {
    "ioctl": (
        1,
        # TCGETS, TCGETS2, TIOCGWINSZ, FIONREAD, FIONBIO, FIOCLEX, FIONCLEX
        (0x5401, 0x802C542A, 0x5413, 0x541B, 0x5421, 0x5451, 0x5450),
        # EXT4_IOC_SETVERSION, FS_IOC_SETVERSION, FS_IOC_GETVERSION, FS_IOC_SETFLAGS, FICLONE, TIOCSTI, FS_IOC_FIEMAP,
        # PIDFD_GET_INFO, NS_GET_PARENT
        (0x40086604, 0x40087602, 0x80087601, 0x40086602, 0x40049409, 0x5412, 0xC020660B, 0xC040FF0B, 0xB702),
        ENOTTY,
    ),
    "fcntl": (
        1,
        # F_DUPFD … F_SETLKW, the locks of open file descriptions, F_DUPFD_CLOEXEC, F_ADD_SEALS, F_GET_SEALS
        (*range(8), 36, 37, 38, 1030, 1033, 1034),
        # F_SETOWN, F_SETSIG, F_SETOWN_EX, F_SETLEASE, F_GETLEASE, F_NOTIFY, F_SETPIPE_SZ, F_SET_FILE_RW_HINT
        (8, 10, 15, 1024, 1025, 1026, 1031, 1038),
        EINVAL,
    ),
    "prctl": (
        0,
        (15, 16, 38, 39, 0x53564D41),  # PR_SET_NAME, PR_GET_NAME, PR_SET_NO_NEW_PRIVS, its answer, PR_SET_VMA
        # PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_SET_MM, PR_SET_CHILD_SUBREAPER, PR_SCHED_CORE, PR_SET_PTRACER
        (1, 4, 35, 36, 62, 0x59616D61),
        EINVAL,
    ),
}


@pytest.mark.req("B6")
@pytest.mark.parametrize("attributes", [False, True])
@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("name", COMMANDS)
@given(above=st.integers(min_value=0, max_value=2**32 - 1), other=WORDS, unheard_of=st.integers(0x8000, 0xFFFF))
def test_of_a_call_that_takes_commands_only_a_list_is_let_through(
    name: str, machine: str, attributes: bool, above: int, other: int, unheard_of: int
) -> None:
    """The kernel takes a command as 32 bits, whatever stands above them."""
    at, allowed, refused, said = COMMANDS[name]
    filtered = program(machine, network=True, attributes=attributes, sessions=True)

    def asked(command: int) -> int:
        arguments = [other] * 6
        arguments[at] = command | above << 32
        return answer(filtered, machine, number_of(name, machine), arguments)

    assert {command: asked(command) for command in allowed} == dict.fromkeys(allowed, ALLOW)
    assert {command: asked(command) for command in refused} == dict.fromkeys(refused, said)
    assert asked(unheard_of) == said


@pytest.mark.req("B6")
@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("name", ["getxattr", "lgetxattr", "fgetxattr", "getxattrat", "listxattr", "llistxattr"])
@given(arguments=ARGUMENTS)
def test_no_file_tells_its_extended_attributes(name: str, machine: str, arguments: list[int]) -> None:
    filtered = program(machine, network=True, attributes=ALLOW, sessions=True)

    assert answer(filtered, machine, number_of(name, machine), arguments) == ENOTSUP


@pytest.mark.req("B6")
@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize(
    "name", ["statmount", "listmount", "name_to_handle_at", "file_getattr", "pidfd_open", "cachestat", "openat2"]
)
def test_what_tells_of_mounts_handles_and_processes_is_not_there(name: str, machine: str) -> None:
    filtered = program(machine, network=True, attributes=ALLOW, sessions=True)

    assert answer(filtered, machine, number_of(name, machine)) == ENOSYS


# call → (index of the mode, index of the flags, or None)
MODES = {
    "chmod": (1, None),
    "fchmod": (1, None),
    "fchmodat": (2, None),
    "fchmodat2": (2, None),
    "open": (2, 1),
    "openat": (3, 2),
    "creat": (1, None),
    "mknod": (1, None),
    "mknodat": (2, None),
    "mkdir": (1, None),
    "mkdirat": (2, None),
}
O_CREAT, O_TMPFILE_BIT = 0o100, 0o20000000


@pytest.mark.req("B6")
@pytest.mark.parametrize("bit", [0o4000, 0o2000])
@pytest.mark.parametrize("attributes", [REFUSE, ASK, ALLOW], ids=["refused", "asked about", "allowed"])
@pytest.mark.parametrize(("name", "machine"), [(name, machine) for name in MODES for machine in MACHINES])
@given(rest=st.integers(0, 0o777), above=st.integers(0, 2**32 - 1), making=st.sampled_from([O_CREAT, O_TMPFILE_BIT]))
def test_nothing_is_made_that_makes_its_user_somebody_else(
    name: str, machine: str, attributes: int, bit: int, rest: int, above: int, making: int
) -> None:
    if NUMBERS[name][list(AUDIT_ARCHITECTURES).index(machine)] is None:
        return
    filtered = program(machine, network=False, attributes=attributes, sessions=True)
    mode, flags = MODES[name]
    arguments = [0] * 6
    arguments[mode] = bit | rest | above << 32
    number = number_of(name, machine)
    if flags is not None:
        assert answer(filtered, machine, number, arguments) == ALLOW  # the mode of what is only opened means nothing
        arguments[flags] = making
    assert answer(filtered, machine, number, arguments) == EPERM
    arguments[mode] = rest
    plain = attributes if name in ("chmod", "fchmod", "fchmodat", "fchmodat2") else ALLOW
    assert answer(filtered, machine, number, arguments) == plain


@given(family=WORDS, arguments=ARGUMENTS)
def test_with_net_connect_only_internet_sockets_are_made(family: int, arguments: list[int]) -> None:
    filtered = program("x86_64", network=True, attributes=REFUSE, sessions=True)

    said = answer(filtered, "x86_64", number_of("socket", "x86_64"), [family, *arguments])

    assert said == (ALLOW if family % 2**32 in (2, 10) else EPERM)


@pytest.mark.parametrize("name", ["listen", "accept", "accept4"])
def test_with_net_connect_nobody_listens(name: str) -> None:
    filtered = program("x86_64", network=True, attributes=REFUSE, sessions=True)

    assert answer(filtered, "x86_64", number_of(name, "x86_64")) == EPERM
    assert answer(filtered, "x86_64", number_of("connect", "x86_64")) == ALLOW


@pytest.mark.parametrize("network", [False, True])
@given(kind=st.integers(min_value=0, max_value=15), flags=st.integers(min_value=0, max_value=2**20))
def test_a_pair_of_sockets_is_a_stream(network: bool, kind: int, flags: int) -> None:
    filtered = program("x86_64", network=network, attributes=REFUSE, sessions=True)

    said = answer(filtered, "x86_64", number_of("socketpair", "x86_64"), [1, kind | flags << 4])

    assert said == (ALLOW if kind in (1, 5) else EPERM)


@pytest.mark.parametrize("network", [False, True])
@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("kind", [1, 5])
@given(family=WORDS)
def test_a_pair_of_sockets_is_of_the_local_family(machine: str, network: bool, kind: int, family: int) -> None:
    """AF_TIPC has pairs too, and every other family is loaded into the kernel before it says that it has none."""
    filtered = program(machine, network=network, attributes=REFUSE, sessions=True)

    said = answer(filtered, machine, number_of("socketpair", machine), [family, kind])

    assert said == (ALLOW if family % 2**32 == 1 else EPERM)


@given(pid=WORDS)
def test_the_limits_of_another_process_are_out_of_reach(pid: int) -> None:
    said = answer(zero("x86_64"), "x86_64", number_of("prlimit64", "x86_64"), [pid])

    assert said == (ALLOW if pid % 2**32 == 0 else EPERM)


@pytest.mark.parametrize("name", ["sched_setaffinity", "sched_setscheduler", "sched_setparam", "sched_setattr"])
@given(pid=WORDS)
def test_the_scheduling_of_another_process_is_out_of_reach(name: str, pid: int) -> None:
    said = answer(zero("x86_64"), "x86_64", number_of(name, "x86_64"), [pid])

    assert said == (ALLOW if pid % 2**32 == 0 else EPERM)


@pytest.mark.parametrize(("name", "process"), [("setpriority", 0), ("ioprio_set", 1)])
@given(which=st.integers(min_value=0, max_value=4), who=st.integers(min_value=0, max_value=2**31))
def test_the_priority_of_another_process_or_of_a_whole_user_is_out_of_reach(
    name: str, process: int, which: int, who: int
) -> None:
    said = answer(zero("x86_64"), "x86_64", number_of(name, "x86_64"), [which, who])

    assert said == (ALLOW if (which, who) == (process, 0) else EPERM)


@pytest.mark.parametrize("bit", [0x00020000, 0x02000000, 0x04000000, 0x08000000, 0x10000000, 0x20000000, 0x40000000])
@pytest.mark.parametrize("name", ["clone", "unshare"])
@given(others=st.integers(min_value=0, max_value=2**32 - 1))
def test_nobody_gets_a_new_namespace(name: str, bit: int, others: int) -> None:
    assert answer(zero("x86_64"), "x86_64", number_of(name, "x86_64"), [bit | others]) == EPERM


def test_a_fork_and_a_thread_are_let_through() -> None:
    fork, thread = 0x01200011, 0x003D0F00

    said = [answer(zero("x86_64"), "x86_64", number_of("clone", "x86_64"), [flags]) for flags in (fork, thread)]

    assert said == [ALLOW, ALLOW]


@pytest.mark.parametrize("name", ["io_uring_setup", "io_uring_enter", "io_uring_register", "clone3"])
def test_what_programs_have_another_way_for_is_not_there(name: str) -> None:
    assert answer(zero("x86_64"), "x86_64", number_of(name, "x86_64")) == ENOSYS


@given(number=WORDS.map(lambda word: word % 2**32))
def test_a_call_by_the_rules_of_another_machine_ends_the_process(number: int) -> None:
    assert answer(zero("x86_64"), "i386", number) == KILL_PROCESS


@given(number=st.integers(min_value=0x40000000, max_value=2**32 - 1))
def test_a_call_by_the_x32_numbers_is_not_there(number: int) -> None:
    assert answer(zero("x86_64"), "x86_64", number) == ENOSYS


@pytest.mark.parametrize("name", ["setsid", "setpgid"])
def test_leaving_the_session_is_possible_unless_it_is_asked_away(name: str) -> None:
    kept = program("x86_64", network=False, attributes=REFUSE, sessions=False)

    assert answer(zero("x86_64"), "x86_64", number_of(name, "x86_64")) == ALLOW
    assert answer(kept, "x86_64", number_of(name, "x86_64")) == ERRNO


@pytest.mark.parametrize("name", ["chmod", "chown", "lchown", "utime", "utimes", "futimesat", *ATTRIBUTES])
def test_attributes_can_be_changed_where_mounts_guard_them(name: str) -> None:
    guarded = program("x86_64", network=False, attributes=ALLOW, sessions=True)

    assert answer(guarded, "x86_64", number_of(name, "x86_64")) == ALLOW
    assert answer(zero("x86_64"), "x86_64", number_of(name, "x86_64")) == EPERM


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("name", [*ATTRIBUTES, "chown", "utimes"])
def test_modes_owners_and_times_are_asked_about(name: str, machine: str) -> None:
    asking = program(machine, network=False, attributes=ASK, sessions=True)
    if NUMBERS[name][list(AUDIT_ARCHITECTURES).index(machine)] is None:
        return

    assert answer(asking, machine, number_of(name, machine)) == ASK


@pytest.mark.parametrize("attributes", [REFUSE, ASK], ids=["refused", "asked about"])
@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("name", EXTENDED)
def test_no_file_has_extended_attributes_to_change(name: str, machine: str, attributes: int) -> None:
    filtered = program(machine, network=False, attributes=attributes, sessions=True)

    assert answer(filtered, machine, number_of(name, machine)) == ENOTSUP


@pytest.mark.parametrize("machine", MACHINES)
def test_the_kernel_takes_a_program_of_this_size(machine: str) -> None:
    longest = program(machine, network=False, attributes=REFUSE, sessions=False)

    assert len(longest) <= 4096
    assert all(max(true, false) <= 255 for _, true, false, _ in longest)
