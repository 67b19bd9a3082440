"""Provider programs for tests; each answers ``--doctor`` with success unless it says otherwise."""

from __future__ import annotations

import sys

# Isolated and without site: it starts in a few milliseconds and reads no variable of the test environment.
PYTHON = f"#!{sys.executable} -IS\n"
SHELL = "#!/bin/sh\n"

ECHO = (
    PYTHON
    + """\
import json, sys
if sys.argv[1:] == ["--doctor"]:
    raise SystemExit(0)
print(json.dumps({"ok": True, "asked": json.loads(sys.stdin.buffer.read())}))
"""
)

# Leaves a file behind when it is started for anything but its doctor and another for its doctor.
CANARY = (
    SHELL
    + """\
if [ "$1" = --doctor ]; then
    echo >>"{canary}.doctor"
    exit 0
fi
echo >>"{canary}"
echo '{{"ok": true}}'
"""
)

# Ignores its request; its doctor exits with the status in a file, 0 if there is none.
FLAGGED = (
    SHELL
    + """\
if [ "$1" = --doctor ]; then
    echo "the doctor was here" >&2
    exit "$(cat "{flag}" 2>/dev/null || echo 0)"
fi
echo '{{"ok": true}}'
"""
)

# Does what the request's `code` says, with a few words at hand. What it starts is recorded in `place`, one
# line "name pid start-time" per process, before `descend` returns.
PUPPET = (
    PYTHON
    + """\
import json, os, signal, sys, time

if sys.argv[1:] == ["--doctor"]:
    raise SystemExit(0)
request = json.loads(sys.stdin.buffer.read())
place = request.get("place", "/nonexistent")


def answer(**fields):
    os.write(1, json.dumps({"ok": True, **fields}).encode())


def record(name):
    with open("/proc/self/stat", "rb") as status:
        started = status.read().rpartition(b")")[2].split()[19].decode()
    line = f"{name} {os.getpid()} {started}\\n".encode()
    descriptor = os.open(os.path.join(place, "processes"), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    os.write(descriptor, line)
    os.close(descriptor)


def parent_of(pid):
    with open(f"/proc/{pid}/stat", "rb") as status:
        return int(status.read().rpartition(b")")[2].split()[1])


def host():
    # Between host and provider stands the supervisor.
    return parent_of(os.getppid())


def stay():
    while True:
        signal.pause()


def ready():
    with open(os.path.join(place, "ready"), "wb") as signpost:
        signpost.write(b"!")


def wait_for_go():
    with open(os.path.join(place, "go"), "rb") as signpost:
        signpost.read(1)


def become(kind):
    if kind in ("session", "daemon", "stubborn_daemon"):
        os.setsid()
    if kind in ("daemon", "stubborn_daemon") and os.fork():
        os._exit(0)
    if kind == "own_group":
        os.setpgid(0, 0)
    if kind in ("ignores_signals", "stubborn_daemon"):
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT):
            signal.signal(number, signal.SIG_IGN)


def descend(kind, then=stay):
    told, tell = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            become(kind)
            record(kind)
            os.write(tell, b"!")
            os.close(tell)
            if kind == "stopped":
                os.kill(os.getpid(), signal.SIGSTOP)
            then()
        finally:
            os._exit(0)
    os.close(tell)
    os.read(told, 1)
    if kind == "stopped":
        os.waitpid(child, os.WUNTRACED)
    return child


exec(request["code"])
"""
)
