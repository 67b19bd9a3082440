"""Providers that do what a request says, installed once for many runs, and the code they are asked to do."""

from __future__ import annotations

from pathlib import Path

from tests.support.cli import Loopx
from tests.support.providers import ECHO, SHELL

SURROUNDINGS = """
def is_open(number):
    try: os.fstat(number)
    except OSError: return False
    return True
with open("written", "w") as made: made.write("x")
answer(
    env=dict(os.environ), argv=sys.argv[1:], cwd=os.getcwd(), mode=oct(os.stat(".").st_mode & 0o7777),
    descriptors=[number for number in range(256) if is_open(number)], session=os.getsid(0) == os.getpid(),
)
"""

# How a run can end: the code of its provider, the exit status, the kind of failure.
BOUNDED = {
    "success": ("answer()", 0, None),
    "failure": ("answer(); sys.exit(3)", 1, "exit_nonzero"),
    "crash": ("os.kill(os.getpid(), signal.SIGSEGV)", 1, "signalled"),
    "timeout": ("stay()", 1, "timeout"),
    "stdout_overflow": ("os.write(1, b'x' * 65536)\nwhile True: os.write(1, b'x' * 65536)", 1, "response_too_large"),
    "stderr_overflow": ("while True: os.write(2, b'x' * 65536)", 1, "stderr_too_large"),
}


def install_puppets(root: Path) -> Loopx:
    """Install `puppet`, `brief` with the shortest time-out there is, `echo`, `deaf`, and one declaring variables."""
    made = Loopx(root)
    made.make_extension("puppet")
    made.make_extension("brief", timeout_seconds=1)
    made.make_extension("declares", env=["DECLARED", "DECLARED_BUT_NOT_SET"])
    made.make_extension("echo", ECHO)
    made.make_extension("deaf", SHELL + "[ $1 = --doctor ] || echo '{\"ok\": true}'\n")
    return made
