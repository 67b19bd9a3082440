"""Faults that attacks on the fence, the helper and the byte-code cache found, each as the kind it was."""

from __future__ import annotations

import ctypes
import errno
import json
import os
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from loopx_host.adapters.process.bytecode import harvest
from loopx_host.adapters.process.private_directory import sweep
from tests.support.capabilities import Station
from tests.support.cli import PATIENCE_SECONDS, Answer, Loopx, Place
from tests.support.packages import Vane
from tests.support.providers import ECHO, PYTHON

on_linux = pytest.mark.skipif(sys.platform != "linux", reason="the fence is Linux'")
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a directory away")
NOBODY = 65534
SECRET = b"the user's key"
CONTAINED = {"LOOPX_CONTAINMENT": "contained"}
EXIT_INTERNAL = 70


@pytest.fixture
def loopx(tmp_path: Path) -> Loopx:
    return Loopx(tmp_path)


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    made = Place(tmp_path / "place")
    yield made
    made.close()


# --- byte code that a doctor left is taken from the private directory only, and never too much of it ------------

# What a doctor does to the directory `cache`; `elsewhere` holds what is not its to give.
LINKED = "os.symlink(elsewhere, cache)"
HOLDS_LINKS = """
os.mkdir(cache)
os.symlink(elsewhere, cache + "/folder")
os.symlink(elsewhere + "/secret.pyc", cache + "/secret.pyc")
"""
TOO_MANY = """
os.mkdir(cache)
for number in range(25_000):
    os.close(os.open(f"{cache}/{number}.pyc", os.O_CREAT | os.O_WRONLY))
"""
TOO_DEEP = """
os.makedirs(cache + "/d" * 99)
open(cache + "/d" * 99 + "/deep.pyc", "wb").close()
"""
TOO_LARGE = """
os.mkdir(cache)
with open(cache + "/small.pyc", "wb") as small, open(cache + "/large.pyc", "wb") as large:
    small.write(b"small")
    large.truncate(9 << 20)
"""
BEYOND_A_BOUND = {"25,000 files": TOO_MANY, "100 levels": TOO_DEEP, "a file of 9 MB": TOO_LARGE}
HOSTILE = {"a link itself": LINKED, "holds links": HOLDS_LINKS, **BEYOND_A_BOUND}


def arranged(code: str, root: Path) -> Path:
    """Do what a doctor would do to a directory of byte code; return the directory."""
    elsewhere = root / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "secret.pyc").write_bytes(SECRET)
    cache = root / "bytecode"
    exec(code, {"os": os, "cache": str(cache), "elsewhere": str(elsewhere)})
    return cache


def byte_code_below(folder: Path) -> list[str]:
    """Return every link and every byte-code file below a directory."""
    found = [Path(here, name) for here, folders, files in os.walk(folder) for name in (*folders, *files)]
    return sorted(str(path.relative_to(folder)) for path in found if path.is_symlink() or path.suffix == ".pyc")


@pytest.mark.parametrize("code", [LINKED, *BEYOND_A_BOUND.values()], ids=["a link itself", *BEYOND_A_BOUND])
def test_a_hostile_directory_of_byte_code_is_taken_not_even_in_part(tmp_path: Path, code: str) -> None:
    source = arranged(code, tmp_path)

    taken = harvest(str(source), str(tmp_path / "new"))

    assert taken is False
    assert not os.path.lexists(tmp_path / "new")


def test_links_among_byte_code_are_left_and_the_rest_is_taken(tmp_path: Path) -> None:
    source = arranged(HOLDS_LINKS, tmp_path)
    (source / "own.pyc").write_bytes(b"own")
    (source / "package").mkdir()
    (source / "package/module.pyc").write_bytes(b"module")

    harvest(str(source), str(tmp_path / "new"))

    assert byte_code_below(tmp_path / "new") == ["own.pyc", "package/module.pyc"]
    assert (tmp_path / "new/package/module.pyc").read_bytes() == b"module"


@on_linux
@pytest.mark.parametrize("code", HOSTILE.values(), ids=HOSTILE)
def test_an_extension_whose_doctor_arranges_byte_code_is_installed_and_brings_none(loopx: Loopx, code: str) -> None:
    elsewhere = loopx.root / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "secret.pyc").write_bytes(SECRET)
    doctor = f"cache, elsewhere = os.environ['TMPDIR'] + '/bytecode', {str(elsewhere)!r}\n{code}"
    body = f"import os, sys\nif sys.argv[1:] == ['--doctor']:\n{textwrap.indent(doctor, '    ')}\n"
    loopx.env.update(CONTAINED)

    answer = loopx.install(loopx.write_extension("arranging", PYTHON + body))

    assert answer.status == 0, answer
    assert loopx.rows()[0]["ready"] is True
    assert byte_code_below(loopx.root / "home") == []


# --- what the kernel keeps for all processes of a user, and what it tells about others ---------------------------

CALLS = """\
import ctypes, json, sys
if sys.argv[1:] == ["--doctor"]:
    raise SystemExit(0)
asked = json.loads(sys.stdin.buffer.read())
libc = ctypes.CDLL(None, use_errno=True)
buffer = ctypes.create_string_buffer(4096)

def tried(name, *arguments):
    ctypes.set_errno(0)
    return ctypes.get_errno() if getattr(libc, name)(*arguments) == -1 else 0

def opened(path):
    try:
        with open(path, "rb") as file:
            return bool(file.read(1))
    except OSError:
        return False

calls = {call[0] + str(call[2]): tried(call[0], *(buffer if x is None else x for x in call[1:]))
         for call in asked["calls"]}
print(json.dumps({"ok": True, "calls": calls, "opened": {path: opened(path) for path in asked["paths"]}}))
"""
REMOVE, STATUS, PRIVATE, NO_WAIT = 0, 2, 0, 0o4000


class Shared:
    """A message queue with one message, a shared memory segment and a set of semaphores of this user."""

    def __init__(self) -> None:
        self._libc = ctypes.CDLL(None, use_errno=True)
        self.queue = self._libc.msgget(PRIVATE, 0o600)
        self.memory = self._libc.shmget(PRIVATE, ctypes.c_size_t(4096), 0o600)
        self.semaphores = self._libc.semget(PRIVATE, 1, 0o600)
        assert min(self.queue, self.memory, self.semaphores) >= 0
        message = (ctypes.c_char * 16).from_buffer_copy((1).to_bytes(8, sys.byteorder) + SECRET[:8])
        assert self._libc.msgsnd(self.queue, message, ctypes.c_size_t(8), NO_WAIT) == 0

    def are_there(self) -> bool:
        """Whether all of them are, the message included."""
        buffer = ctypes.create_string_buffer(4096)
        calls = [
            self._libc.msgctl(self.queue, STATUS, buffer),
            self._libc.shmctl(self.memory, STATUS, buffer),
            self._libc.semctl(self.semaphores, 0, STATUS, buffer),
        ]
        received = self._libc.msgrcv(self.queue, buffer, ctypes.c_size_t(8), ctypes.c_long(0), NO_WAIT)
        return calls == [0, 0, 0] and received == 8

    def remove(self) -> None:
        self._libc.msgctl(self.queue, REMOVE, None)
        self._libc.shmctl(self.memory, REMOVE, None)
        self._libc.semctl(self.semaphores, 0, REMOVE)


@pytest.fixture
def shared() -> Iterator[Shared]:
    made = Shared()
    yield made
    made.remove()


def asked_inside(loopx: Loopx, calls: list[list[object]], paths: list[str]) -> dict[str, Any]:
    """Return what a contained provider got from calls (errno, 0: it worked) and from opening paths."""
    loopx.env.update(CONTAINED)
    loopx.make_extension("calling", PYTHON + CALLS)
    answer = loopx.run("calling", {"calls": calls, "paths": paths})
    assert answer.status == 0, answer
    result = answer.document["provider_result"]
    assert isinstance(result, dict)
    return result


@on_linux
@pytest.mark.req("B6")
def test_a_contained_provider_reaches_no_queue_memory_or_semaphore_by_its_number(
    loopx: Loopx, shared: Shared
) -> None:
    calls: list[list[object]] = [
        ["msgctl", shared.queue, STATUS, None],
        ["msgctl", shared.queue, REMOVE, 0],
        ["msgrcv", shared.queue, None, 8, 0, NO_WAIT],
        ["msgsnd", shared.queue, None, 8, NO_WAIT],
        ["shmctl", shared.memory, STATUS, None],
        ["shmctl", shared.memory, REMOVE, 0],
        ["semctl", shared.semaphores, 0, STATUS, None],
        ["semctl", shared.semaphores, 1, REMOVE],
        ["semop", shared.semaphores, None, 1],
    ]

    result = asked_inside(loopx, calls, [])

    assert len(result["calls"]) == len(calls)
    assert set(result["calls"].values()) == {errno.EPERM}
    assert shared.are_there()


@on_linux
@pytest.mark.req("B6")
def test_for_a_contained_provider_there_is_no_inotify(loopx: Loopx) -> None:
    result = asked_inside(loopx, [["inotify_init1", 0, 0]], [])

    assert set(result["calls"].values()) == {errno.ENOSYS}


@on_linux
@pytest.mark.req("B6")
def test_a_contained_provider_reads_of_itself_neither_the_machines_connections_nor_its_mounts(loopx: Loopx) -> None:
    secrets = ["/proc/self/net/tcp", "/proc/self/mounts"]

    result = asked_inside(loopx, [], [*secrets, "/proc/self/status"])

    assert result["opened"] == {**dict.fromkeys(secrets, False), "/proc/self/status": True}


# --- a reference is what it was when its path was resolved -------------------------------------------------------

PORT = """\
import json, sys
from loopx_host.adapters.process.confinement import Level
from loopx_host.adapters.process.interrupts import Interrupts
from loopx_host.adapters.process.runner import ProcessRunner
from loopx_host.lifecycle.extensions.process import Grants, Launch, Limits

token, path = sys.argv[1:]
runner = ProcessRunner(Interrupts(), level=Level("contained", is_demanded=True, sessions=True))
grants = Grants(permissions=[token], references={"r": path})
ended = runner.run(Launch(["/bin/sh", "-c", "echo ran"], Limits(30), grants=grants))
print(json.dumps([ended.start_error, ended.exit_code, ended.stdout.decode()]))
"""


def started_with(loopx: Loopx, token: str, path: Path) -> tuple[str | None, int | None, str]:
    """Start a canary through the process port; return (why it did not start, exit status, what it said)."""
    done = subprocess.run(
        [sys.executable, "-c", PORT, token, str(path)],
        env=loopx.env,
        capture_output=True,
        timeout=PATIENCE_SECONDS,
        check=True,
    )
    start_error, exit_code, said = json.loads(done.stdout)
    return start_error, exit_code, said


@on_linux
@pytest.mark.req("B6")
@pytest.mark.parametrize("token", ["fs.read:r", "fs.write:r"])
@pytest.mark.parametrize("swapped", ["folder/given", "folder"])
def test_a_reference_swapped_for_a_link_after_it_was_resolved_starts_nothing(
    loopx: Loopx, token: str, swapped: str
) -> None:
    root = loopx.root.resolve()
    given = root / "folder/given"
    given.mkdir(parents=True)
    before = started_with(loopx, token, given)
    (root / swapped).rename(root / "moved")
    (root / swapped).symlink_to(root / "moved")

    after = started_with(loopx, token, given)

    assert before == (None, 0, "ran\n")
    assert after[0]
    assert after[1:] == (None, "")


# --- a program that embeds the host --------------------------------------------------------------------------------

EMBEDDING = """\
import json, os, select, signal, sys, threading
from loopx_host import Host
host = Host.open(state_file={state!r})

def children(pid):
    with open(f"/proc/{{pid}}/task/{{pid}}/children") as listed:
        return [int(one) for one in listed.read().split()]

"""


def embed(loopx: Loopx, program: str) -> Any:
    """Run a program with a host; return what it tells."""
    source = EMBEDDING.format(state=str(loopx.state_file)) + textwrap.dedent(program)
    argv = [sys.executable, "-c", source]
    done = subprocess.run(argv, env=loopx.env, capture_output=True, timeout=PATIENCE_SECONDS, check=False)
    assert done.returncode == 0, done.stderr.decode()
    return json.loads(done.stdout)


@on_linux
def test_a_run_after_the_waiting_supervisor_was_killed_is_run_by_another(loopx: Loopx) -> None:
    loopx.make_extension("echo", ECHO)

    told = embed(
        loopx,
        """
        first = host.run("echo", {"n": 1})["provider_result"]
        (helper,) = children(os.getpid())
        killed = children(helper)
        for pid in killed:
            try:
                process = os.pidfd_open(pid)
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                continue
            waiter = select.poll()
            waiter.register(process, select.POLLIN)
            waiter.poll()
        second = host.run("echo", {"n": 2})["provider_result"]
        print(json.dumps([first, len(killed) > 0, second]))
        """,
    )

    assert told == [{"ok": True, "asked": {"n": 1}}, True, {"ok": True, "asked": {"n": 2}}]


@on_linux
def test_children_forked_while_a_thread_is_inside_a_run_can_run_too(loopx: Loopx) -> None:
    loopx.make_extension("echo", ECHO)

    told = embed(
        loopx,
        """
        host.run("echo", {})
        go_on = True
        def run_again_and_again():
            while go_on:
                host.run("echo", {})

        threads = [threading.Thread(target=run_again_and_again) for _ in range(3)]
        for thread in threads:
            thread.start()
        forked = []
        for _ in range(8):
            pid = os.fork()
            if pid == 0:
                signal.alarm(30)
                os._exit(0 if host.run("echo", {})["ok"] else 3)
            forked.append(pid)
        go_on = False
        for thread in threads:
            thread.join()
        print(json.dumps([os.waitpid(pid, 0)[1] for pid in forked]))
        """,
    )

    assert told == [0] * 8


@on_linux
def test_a_run_imports_nothing_that_opening_the_host_had_not(loopx: Loopx) -> None:
    """A program that forks while a thread imports leaves its child a lock that nobody ever gives back."""
    loopx.make_extension("echo", ECHO)

    told = embed(
        loopx,
        """
        opened = set(sys.modules)
        host.run("echo", {})
        print(json.dumps(sorted(set(sys.modules) - opened)))
        """,
    )

    assert told == []


@on_linux
def test_a_child_forked_while_a_thread_holds_the_helper_does_not_wait_for_that_thread(loopx: Loopx) -> None:
    """The same without luck: the fork falls between the two halves of handing an order over."""
    loopx.make_extension("echo", ECHO)

    told = embed(
        loopx,
        """
        import socket
        send, inside, go_on = socket.send_fds, threading.Event(), threading.Event()
        def send_slowly(*arguments):
            inside.set()
            go_on.wait()
            return send(*arguments)

        socket.send_fds = send_slowly
        thread = threading.Thread(target=host.run, args=("echo", {}))
        thread.start()
        inside.wait()
        pid = os.fork()
        if pid == 0:
            socket.send_fds = send
            signal.alarm(30)
            os._exit(0 if host.run("echo", {})["ok"] else 3)
        _, status = os.waitpid(pid, 0)
        go_on.set()
        thread.join()
        print(json.dumps(status))
        """,
    )

    assert told == 0


# --- what a package's command answers is never taken for a word of the host ---------------------------------------

COMMAND = """\
from loopx_host import hookimpl

@hookimpl(specname="loopx_run_command")
def run(arguments, host):
    return {document!r}
"""
MASKED = {
    "an error": {"ok": False, "schema_version": "loopx_extension_error_v0"},
    "an error with a code": {
        "ok": False,
        "schema_version": "loopx_extension_error_v0",
        "code": "state_damaged",
        "message": "all is lost",
    },
    "a receipt": {"ok": True, "schema_version": "loopx_extension_run_receipt_v0"},
    "a failed receipt": {"ok": False, "schema_version": "loopx_extension_run_receipt_v0", "executed": True},
    "a list": {"ok": True, "schema_version": "loopx_extension_list_v0", "extensions": [1]},
}
UNSAID = {
    "no ok": {"schema_version": "x_v0"},
    "ok is a number": {"ok": 1, "schema_version": "x_v0"},
    "ok is null": {"ok": None, "schema_version": "x_v0"},
    "no schema_version": {"ok": True},
    "schema_version is a number": {"ok": True, "schema_version": 0},
}


def answering(root: Path, document: dict[str, Any]) -> Station:
    """Return an environment with a trusted package whose command `roar` answers a document."""
    station = Station(root)
    source = COMMAND.format(document=document)
    station.put("roar", top="", files={"commands.py": source}, commands={"roar": "roar.commands:run"})
    station.install_id("roar")
    return station


def plainly(station: Station) -> Answer:
    return station("roar", "--format", "text", "--state-file", str(station.state_file), options=False)


@pytest.mark.req("X15")
@pytest.mark.parametrize("document", MASKED.values(), ids=MASKED)
def test_a_command_that_answers_with_a_schema_of_the_host_is_shown_plainly(
    tmp_path: Path, document: dict[str, Any]
) -> None:
    station = answering(tmp_path, document)

    text, made = plainly(station), station("roar")

    said = text.stdout + text.stderr
    assert made.document == document
    assert text.status == made.status
    assert (text.status == 0) is document["ok"]
    assert text.status != EXIT_INTERNAL
    assert b"Traceback" not in said + made.stderr
    assert b"loopx: error" not in said


@pytest.mark.req("X15")
@pytest.mark.parametrize("document", UNSAID.values(), ids=UNSAID)
def test_a_command_that_does_not_say_whether_it_went_well_and_what_it_answers_failed(
    tmp_path: Path, document: dict[str, Any]
) -> None:
    station = answering(tmp_path, document)

    answer = station("roar")

    assert answer.code == "plugin_hook_failed"


# --- names that are not UTF-8 ---------------------------------------------------------------------------------------

ODD = os.fsdecode(b"caf\xe9")


def test_a_search_path_that_is_not_utf_8_hinders_neither_lists_nor_runs(loopx: Loopx) -> None:
    loopx.env["PATH"] += f":{loopx.root}/{ODD}"
    loopx.make_extension("echo", ECHO)

    ran = loopx.run("echo", {"n": 1})

    assert [row["ready"] for row in loopx.rows()] == [True]
    assert (ran.status, ran.document["provider_result"]["asked"]) == (0, {"n": 1})


def test_a_path_file_whose_name_is_not_utf_8_hinders_neither_lists_nor_runs(tmp_path: Path) -> None:
    vane = Vane(tmp_path)
    (vane.packages / f"{ODD}.pth").write_text("# nothing\n", "ascii")
    vane.proved()

    ran = vane.run("vane", {})

    assert vane.row("vane")["ready"] is True
    assert ran.status == 0, ran


# --- the sweep removes nothing that somebody else could have named --------------------------------------------------


def base_with_left_over(root: Path, monkeypatch: pytest.MonkeyPatch, mode: int, owner: int) -> Path:
    """Make a place of private directories and one in it that no host holds; return that one."""
    left = root / "base/loopx-0123456789abcdef"
    left.mkdir(parents=True)
    (left / "kept").touch()
    left.parent.chmod(mode)
    os.chown(left.parent, owner, -1)
    for variable in ("XDG_RUNTIME_DIR", "TMPDIR"):
        monkeypatch.setenv(variable, str(left.parent))
    return left


@as_root
@pytest.mark.parametrize("mode", [0o755, 0o777], ids=oct)
def test_the_sweep_leaves_a_place_alone_whose_owner_could_have_put_our_names_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mode: int
) -> None:
    left = base_with_left_over(tmp_path, monkeypatch, mode, NOBODY)

    sweep()

    assert (left / "kept").exists()


@as_root
@pytest.mark.parametrize(("mode", "owner"), [(0o1777, NOBODY), (0o700, 0)], ids=["sticky", "our own"])
def test_the_sweep_removes_what_dead_hosts_left_where_only_we_could_have_put_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mode: int, owner: int
) -> None:
    left = base_with_left_over(tmp_path, monkeypatch, mode, owner)

    sweep()

    assert not left.exists()
