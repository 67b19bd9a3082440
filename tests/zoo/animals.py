"""The animals that need no compiler, in Python: the same requests and the same answers as the C ones.

It is read as the text of a provider, behind a line that names an isolated interpreter.
"""

from __future__ import annotations

import ctypes
import errno
import json
import os
import signal
import socket
import sys
import time
from collections.abc import Callable

LIFE_SECONDS = 60  # whatever escapes ends by itself
CLONE_NEWUSER = 0x10000000

if sys.argv[1:] == ["--doctor"]:
    raise SystemExit(0)
request = json.loads(sys.stdin.buffer.read())
place = request.get("place", "")
secret = request.get("secret", "")
told, tell = os.pipe()
born = time.monotonic()
library = ctypes.CDLL(None, use_errno=True)


def checked(result: int) -> None:
    if result < 0:
        raise OSError(ctypes.get_errno(), "refused")


def linger() -> None:
    signal.alarm(LIFE_SECONDS)
    while True:
        signal.pause()


def be_here() -> None:
    os.write(tell, b"!")


def start(life: Callable[[], None]) -> None:
    if os.fork() == 0:
        try:
            life()
            linger()
        finally:
            os._exit(1)


def leave() -> None:
    os.setsid()
    if os.fork():
        os._exit(0)


def daemoniser() -> None:
    leave()
    os.chdir("/")
    for one in range(3):
        os.close(one)
    be_here()


def branch() -> None:
    os.setpgid(0, 0)
    for _ in range(3):
        start(be_here)
    be_here()


def comet() -> None:
    os.setsid()
    be_here()
    while time.monotonic() - born < LIFE_SECONDS:
        if os.fork():
            os._exit(0)
    os._exit(0)


def swarm() -> None:
    os.setsid()
    be_here()


def deaf() -> None:
    os.setsid()
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1):
        signal.signal(number, signal.SIG_IGN)
    be_here()


def stopped() -> None:
    os.setsid()
    be_here()
    os.kill(os.getpid(), signal.SIGSTOP)


LIVES = {
    "daemoniser": (daemoniser, 1, 1),
    "tree": (branch, 2, 8),
    "comet": (comet, 1, 1),
    "swarm": (swarm, 16, 16),
    "deaf": (deaf, 1, 1),
    "stopped": (stopped, 1, 1),
    "holder": (be_here, 2, 2),
}


def survive() -> dict[str, int]:
    life, starts, left = LIVES[request["animal"]]
    for _ in range(starts):
        start(life)
    heard = 0
    while heard < left:
        heard += len(os.read(told, left))
    return {"left": left}


def attempts(ways: dict[str, Callable[[], object]]) -> dict[str, str]:
    """Do each; the answer is "did" or the number of the refusal."""
    answers = {}
    for name, way in ways.items():
        try:
            way()
        except OSError as error:
            answers[name] = f"errno:{error.errno}"
        else:
            answers[name] = "did"
    return answers


def put(path: str, mode: str = "wb") -> None:
    with open(path, mode) as file:
        file.write(b"zoo")


def own(name: str) -> str:
    with open(name, "wb"):
        return name


def below(name: str) -> str:
    return os.path.join(place, name)


def through(root: str) -> None:
    put(root + below("through"))


def writer() -> dict[str, str]:
    return attempts(
        {
            "write": lambda: put(below("victim"), "r+b"),
            "append": lambda: put(below("victim"), "ab"),
            "create": lambda: put(below("new")),
            "truncate": lambda: os.truncate(below("victim"), 1),
            "rename_in": lambda: os.rename(own("one"), below("renamed-in")),
            "rename_out": lambda: os.rename(below("victim"), "renamed-out"),
            "link_in": lambda: os.link(own("two"), below("linked-in")),
            "link_out": lambda: os.link(below("victim"), "linked-out"),
            "mkdir": lambda: os.mkdir(below("made")),
            "rmdir": lambda: os.rmdir(below("folder")),
            "unlink": lambda: os.unlink(below("link")),
            "mkfifo": lambda: os.mkfifo(below("fifo")),
            "symlink": lambda: os.symlink("victim", below("symlink")),
            "chmod": lambda: os.chmod(below("victim"), 0o777),
            "chown": lambda: os.chown(below("victim"), os.getuid(), os.getgid()),
            "utime": lambda: os.utime(below("victim"), (1, 1)),
            "setxattr": lambda: os.setxattr(below("victim"), "user.zoo", b"1"),
            "proc_self_root": lambda: through("/proc/self/root"),
            "proc_parent_root": lambda: through(f"/proc/{os.getppid()}/root"),
            "proc_parent_cwd": lambda: through(f"/proc/{os.getppid()}/cwd/../../../../../../../../.."),
            "home": lambda: put(os.path.expanduser("~/zoo-was-here")),
            "user_namespace": lambda: checked(library.unshare(CLONE_NEWUSER)),
        }
    )


def take(path: str) -> None:
    with open(path, "rb", buffering=0) as file:
        if not file.read(1):
            raise OSError(errno.ENODATA, "empty")


def take_link() -> None:
    os.link(secret, "linked")
    take("linked")


def reader() -> dict[str, str]:
    return attempts(
        {
            "open": lambda: take(secret),
            "own_root": lambda: take("/proc/self/root" + secret),
            "parent_root": lambda: take(f"/proc/{os.getppid()}/root{secret}"),
            "hard_link": take_link,
            "list": lambda: os.listdir(os.path.dirname(secret)),
        }
    )


def caller() -> dict[str, str]:
    def connect(family: int, kind: int, name: str | tuple[str, int]) -> None:
        with socket.socket(family, kind) as one:
            one.connect(name)
            one.send(b"zoo")

    def from_pair() -> None:
        ends = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
        ends[0].sendto(b"zoo", request["datagram"])

    return attempts(
        {
            "tcp": lambda: connect(socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", int(request["tcp"]))),
            "udp": lambda: connect(socket.AF_INET, socket.SOCK_DGRAM, ("127.0.0.1", int(request["udp"]))),
            "named": lambda: connect(socket.AF_UNIX, socket.SOCK_STREAM, request["named"]),
            "abstract": lambda: connect(socket.AF_UNIX, socket.SOCK_STREAM, "\0" + request["abstract"]),
            "datagram": lambda: connect(socket.AF_UNIX, socket.SOCK_DGRAM, request["datagram"]),
            "pair_datagram": from_pair,
        }
    )


def signaller() -> dict[str, str]:
    other = int(request["bystander"])
    return attempts(
        {
            "kill_bystander": lambda: os.kill(other, signal.SIGURG),
            "kill_parent": lambda: os.kill(os.getppid(), signal.SIGURG),
            "pidfd_bystander": lambda: signal.pidfd_send_signal(os.pidfd_open(other), signal.SIGURG),
        }
    )


CHAPTERS: dict[str, Callable[[], dict[str, str]]] = {
    "writer": writer,
    "reader": reader,
    "caller": caller,
    "signaller": signaller,
}
answer: dict[str, str] | dict[str, int] = CHAPTERS.get(request["animal"], survive)()
os.write(1, json.dumps({"ok": True, "animal": request["animal"], **answer}).encode())
if request.get("stay"):
    library.prctl(15, b"zoo-ready")
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR1})
    signal.alarm(LIFE_SECONDS)
    signal.sigwait({signal.SIGUSR1})
