"""System calls by name: their numbers on each machine, and what is allowed of those that take commands.

A call that takes a command is many calls. Which commands there are differs between kernels, and tomorrow's are not
known today; so each of these has a list of what is allowed, and everything else is answered as if this kernel did
not have it, for which programs have another way.
"""

from __future__ import annotations

MACHINES = ("x86_64", "aarch64")
# name → its number on each of MACHINES; None where the machine does not have the call
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
    "fcntl": (72, 25),
    "prctl": (157, 167),
    "open": (2, None),
    "openat": (257, 56),
    "openat2": (437, 437),
    "creat": (85, None),
    "mknod": (133, None),
    "mknodat": (259, 33),
    "mkdir": (83, None),
    "mkdirat": (258, 34),
    "getxattr": (191, 8),
    "lgetxattr": (192, 9),
    "fgetxattr": (193, 10),
    "getxattrat": (464, 464),
    "listxattr": (194, 11),
    "llistxattr": (195, 12),
    "flistxattr": (196, 13),
    "listxattrat": (465, 465),
    "file_getattr": (468, 468),
    "name_to_handle_at": (303, 264),
    "statmount": (457, 457),
    "listmount": (458, 458),
    "pidfd_open": (434, 434),
    "pidfd_send_signal": (424, 424),
    "process_mrelease": (448, 448),
    "cachestat": (451, 451),
    "memfd_secret": (447, 447),
    "quotactl": (179, 60),
    "quotactl_fd": (443, 443),
    "fsconfig": (431, 431),
    "fsmount": (432, 432),
    "fspick": (433, 433),
    "open_tree_attr": (467, 467),
    "syslog": (103, 116),
    "seccomp": (317, 277),
}

# The last number of a call that is known here. What a newer kernel adds does not exist for a provider.
LAST_KNOWN = 469

# Of a descriptor: its own flags, copies of it, locks that programs agree upon, the size of a pipe, seals of memory.
# Not: leases and notices, which stop or watch others; who gets its signals; hints to the disk.
FCNTL_COMMANDS = (
    *(0, 1, 2, 3, 4),  # F_DUPFD, F_GETFD, F_SETFD, F_GETFL, F_SETFL
    *(5, 6, 7, 36, 37, 38),  # F_GETLK, F_SETLK, F_SETLKW, F_OFD_GETLK, F_OFD_SETLK, F_OFD_SETLKW
    *(9, 11),  # F_GETOWN, F_GETSIG
    *(1027, 1030),  # F_DUPFD_QUERY, F_DUPFD_CLOEXEC
    *(1032, 1033, 1034),  # F_GETPIPE_SZ, F_ADD_SEALS, F_GET_SEALS
)
# Whether a descriptor is a terminal, of what size and whose; how much there is to read; its own flags.
IOCTL_COMMANDS = (
    *(0x5401, 0x802C542A, 0x5413, 0x540F, 0x5429),  # TCGETS, TCGETS2, TIOCGWINSZ, TIOCGPGRP, TIOCGSID
    *(0x541B, 0x5421, 0x5450, 0x5451),  # FIONREAD, FIONBIO, FIONCLEX, FIOCLEX
)
# What a thread is called and how it is run, and what it asks about itself. Not: who ends with whom, who may trace
# it, whether others may look at it, where its memory and its program are.
PRCTL_OPTIONS = (
    *(2, 3, 7, 21),  # PR_GET_{PDEATHSIG,DUMPABLE,KEEPCAPS,SECCOMP}
    *(23, 25, 27),  # PR_CAPBSET_READ, PR_GET_{TSC,SECUREBITS}
    *(15, 16, 22, 29, 30),  # PR_{SET,GET}_NAME, PR_SET_SECCOMP, PR_{SET,GET}_TIMERSLACK
    *(37, 38, 39, 40, 41, 42),  # PR_GET_CHILD_SUBREAPER, PR_{SET,GET}_NO_NEW_PRIVS, PR_GET_TID_ADDRESS, …_THP_DISABLE
    *(50, 51, 52, 53, 54, 55, 56, 60, 61, 63, 64),  # vectors, speculation, pointer keys and tags of its own
    *(65, 66),  # PR_{SET,GET}_MDWE
    *(0x41555856, 0x53564D41),  # PR_GET_AUXV, PR_SET_VMA
)

# name → (index of the mode, index of the flags that say whether it counts, or None)
MODE_ARGUMENTS: dict[str, tuple[int, int | None]] = {
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
CREATING = 0o100 | 0o20000000  # O_CREAT, and the bit that makes O_TMPFILE
SET_ID = 0o6000


def number(name: str, machine: str) -> int | None:
    """Return the number of a call on one of `MACHINES`, None where it has none."""
    return NUMBERS[name][MACHINES.index(machine)]
