"""Changes modes, owners and times of its own and, by every way there is, of what is not; says what came of it.

Read from standard input: `outside`, a file of the same user's elsewhere, `readable`, one that may be read, and
`granted`, one that may be written, or nothing. Each answer is 0 or the error of the system.
"""

from __future__ import annotations

import ctypes
import errno
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from typing import Any

LIBRARY = ctypes.CDLL(None, use_errno=True)
CHMOD, FCHMODAT, FCHMODAT2, UTIME, UTIMES, FUTIMESAT, UTIMENSAT = 90, 268, 452, 132, 235, 261, 280
HERE, NO_FOLLOW, EMPTY_PATH = -100, 0x100, 0x1000
ROUNDS = 2000


def of(call: Callable[..., object], *arguments: Any, **named: Any) -> int:
    """Return 0, or the error of a call."""
    try:
        call(*arguments, **named)
    except OSError as error:
        return error.errno or -1
    return 0


def raw(number: int, *arguments: Any) -> int:
    """Return 0, or the error of a call by its number."""
    words = [ctypes.c_long(one) if isinstance(one, int) else one for one in arguments]
    return 0 if LIBRARY.syscall(ctypes.c_long(number), *words) == 0 else ctypes.get_errno()


def new(name: str) -> str:
    """Make a file; return its name."""
    with open(name, "w", encoding="ascii") as file:
        file.write("text")
    return name


def own() -> dict[str, Any]:
    """Return what may be done, by name: the error, or what is seen afterwards."""
    os.makedirs("below/deep")
    path, here = os.path.abspath(new("below/file")), os.open("below", os.O_RDONLY)
    opened = os.open(path, os.O_RDWR)
    os.symlink("file", "below/link")
    gone = os.open(new("gone"), os.O_RDWR)
    os.unlink("gone")
    found: dict[str, Any] = {
        "chmod": of(os.chmod, path, 0o640),
        "mode": os.stat(path).st_mode & 0o7777,
        "chmod_relative": of(os.chmod, "below/../below/file", 0o604),
        "chmod_through_link": of(os.chmod, "below/link", 0o444),
        "mode_through_link": os.stat(path).st_mode & 0o7777,
        "fchmod": of(os.fchmod, opened, 0o600),
        "fchmod_of_what_is_gone": of(os.fchmod, gone, 0o400),
        "mode_of_what_is_gone": os.fstat(gone).st_mode & 0o7777,
        "fchmodat": raw(FCHMODAT, here, b"file", 0o700),
        "fchmodat2": raw(FCHMODAT2, here, b"", 0o711, EMPTY_PATH),
        "mode_of_directory": os.stat("below").st_mode & 0o7777,
        "by_own_number": of(os.chmod, f"/proc/self/fd/{opened}", 0o750),
        "mode_by_own_number": os.stat(path).st_mode & 0o7777,
        "utimensat": of(os.utime, path, ns=(11_000_000_022, 33_000_000_044)),
        "times": [os.stat(path).st_atime_ns, os.stat(path).st_mtime_ns],
        "utimensat_of_link": of(os.utime, "below/link", ns=(5, 6), follow_symlinks=False),
        "times_of_link": [os.lstat("below/link").st_mtime_ns, os.stat("below/link").st_mtime_ns],
        "utimensat_of_open_file": of(os.utime, opened, ns=(1, 2)),
        "times_of_open_file": [os.stat(path).st_atime_ns, os.stat(path).st_mtime_ns],
        "utime": raw(UTIME, path.encode(), (ctypes.c_long * 2)(7, 8)),
        "times_by_utime": [os.stat(path).st_atime_ns, os.stat(path).st_mtime_ns],
        "utimes": raw(UTIMES, path.encode(), (ctypes.c_long * 4)(1, 2, 3, 4)),
        "times_by_utimes": [os.stat(path).st_atime_ns, os.stat(path).st_mtime_ns],
        "futimesat": raw(FUTIMESAT, here, b"file", (ctypes.c_long * 4)(5, 6, 7, 8)),
        "times_by_futimesat": [os.stat(path).st_atime_ns, os.stat(path).st_mtime_ns],
        "now": of(os.utime, path),
        "is_now": os.stat(path).st_mtime > 1_000_000_000,
        "owner_that_stays": of(os.chown, path, os.getuid(), os.getgid()),
        "nobody_named": of(os.lchown, "below/link", -1, -1),
        "by_a_child": subprocess.run(["/bin/chmod", "640", path], check=False).returncode,
        "mode_by_a_child": os.stat(path).st_mode & 0o7777,
    }
    found["under_signals"] = under_signals(path)
    thread = threading.Thread(target=lambda: found.update(by_a_thread=of(os.chmod, path, 0o755)))
    thread.start()
    thread.join()
    return found


def under_signals(path: str) -> int:
    """Set modes while signals come, whose handler lets interrupted calls go on; return the last error there was."""
    signal.signal(signal.SIGALRM, lambda *_: None)
    signal.siginterrupt(signal.SIGALRM, False)
    signal.setitimer(signal.ITIMER_REAL, 0.0002, 0.0002)
    errors = [raw(CHMOD, path.encode(), 0o640) for _ in range(ROUNDS)]
    signal.setitimer(signal.ITIMER_REAL, 0)
    return max(errors)


def elsewhere(outside: str, readable: str) -> dict[str, Any]:
    """Return what came of each attempt to reach what is not the provider's."""
    folder, name = os.path.split(outside)
    os.symlink(outside, "to-file")
    os.symlink(folder, "to-folder")
    beyond = "/".join([".."] * 40)
    there, file, read = os.open(folder, os.O_PATH), os.open(outside, os.O_PATH), os.open(readable, os.O_RDONLY)
    mine = new("mine")
    found: dict[str, Any] = {
        "chmod": of(os.chmod, outside, 0o777),
        "chmod_beyond": of(os.chmod, beyond + outside, 0o777),
        "chmod_by_link": of(os.chmod, "to-file", 0o777),
        "chmod_by_linked_folder": of(os.chmod, f"to-folder/{name}", 0o777),
        "chmod_by_working_directory": of(os.chmod, f"/proc/self/cwd/{beyond}{outside}", 0o777),
        "chmod_by_root": of(os.chmod, f"/proc/self/root{outside}", 0o777),
        "chmod_by_number": of(os.chmod, f"/proc/self/fd/{file}", 0o777),
        "chmod_by_process": of(os.chmod, f"/proc/{os.getpid()}/fd/{file}", 0o777),
        "chmod_by_parent": of(os.chmod, f"/proc/{os.getppid()}/root{outside}", 0o777),
        "fchmodat": raw(FCHMODAT, there, name.encode(), 0o777),
        "fchmodat2": raw(FCHMODAT2, file, b"", 0o777, EMPTY_PATH),
        "fchmod_of_what_is_read": of(os.fchmod, read, 0o777),
        "chown": of(os.chown, outside, os.getuid(), os.getgid()),
        "lchown": of(os.lchown, outside, -1, -1),
        "utime": raw(UTIME, outside.encode(), None),
        "utimensat": of(os.utime, outside, ns=(1, 2)),
        "utimensat_of_open_file": raw(UTIMENSAT, read, None, None, 0),
        "folder": of(os.chmod, folder, 0o777),
        "hard_link": of(os.link, outside, "linked"),
        "hard_link_of_what_is_read": of(os.link, readable, "read-linked"),
        "moved_in": of(os.rename, outside, "moved"),
        "setuid": of(os.chmod, mine, 0o4755),
        "setgid": raw(CHMOD, mine.encode(), 0o2755),
        "other_owner": of(os.chown, mine, os.getuid() + 1, -1),
        "other_group": of(os.chown, mine, -1, os.getgid() + 1),
        "extended": of(os.setxattr, mine, "user.name", b"value"),
    }
    found["while_it_is_swapped"] = swapped(outside)
    return found


def swapped(outside: str) -> list[int]:
    """Let a thread turn one name from an own file to an outside one and back, while modes are set through it."""
    new("target")
    os.symlink("target", "swapped")
    is_over = threading.Event()

    def swap() -> None:
        for number in range(ROUNDS):
            os.symlink(outside if number % 2 else "target", "next")
            os.replace("next", "swapped")
        is_over.set()

    thread = threading.Thread(target=swap)
    thread.start()
    done: set[int] = set()
    while not is_over.is_set():
        done.add(of(os.chmod, "swapped", 0o666))
    thread.join()
    return sorted(done)


def wrong() -> dict[str, int]:
    """Return the error of each call that means nothing."""
    page = ctypes.create_string_buffer(b"x" * 9000)
    file = new("wrong")
    os.symlink("loop", "loop")
    return {
        "no_address": raw(CHMOD, 1, 0o600),
        "no_end": raw(CHMOD, page, 0o600),
        "too_long": of(os.chmod, "x" * 4096, 0o600),
        "nothing_there": of(os.chmod, "nothing", 0o600),
        "empty": raw(CHMOD, b"", 0o600),
        "through_a_file": of(os.chmod, "wrong/below", 0o600),
        "loop": of(os.chmod, "loop", 0o600),
        "no_descriptor": of(os.fchmod, 9999, 0o600),
        "negative_descriptor": of(os.fchmod, -1, 0o600),
        "no_directory": raw(FCHMODAT, 9999, b"file", 0o600),
        "mode_of_a_link": raw(FCHMODAT2, HERE, b"loop", 0o600, NO_FOLLOW),
        "no_times": raw(UTIMENSAT, HERE, file.encode(), 1, 0),
        "too_many_nanoseconds": of(os.utime, file, ns=(0, 0))
        or raw(UTIMENSAT, HERE, file.encode(), (ctypes.c_long * 4)(1, 10**9, 1, 0), 0),
        "too_many_microseconds": raw(UTIMES, file.encode(), (ctypes.c_long * 4)(1, 10**6, 1, 0)),
    }


def for_ever() -> None:
    """Set a mode again and again, never to end by itself, and leave one behind that does the same."""
    path = new("busy")
    if os.fork() == 0:
        os.setsid()
    while True:
        os.chmod(path, 0o600)


def main() -> None:
    """Read what is asked, do it, say what came of it."""
    request = json.load(sys.stdin)
    if request.get("for_ever"):
        for_ever()
    granted = request.get("granted")
    print(
        json.dumps(
            {
                "granted": of(os.chmod, granted, 0o640) if granted else None,
                "elsewhere": elsewhere(request["outside"], request["readable"]),
                "wrong": wrong(),
                "own": own(),
                "names": {str(number): name for number, name in errno.errorcode.items()},
            }
        )
    )


main()
