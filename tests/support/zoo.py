"""Keeping animals: hostile programs, the people who run them, and what is left of a trial, found by its mark.

Nothing here takes the host's word: a process of a trial is one whose environment carries the trial's mark.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import shutil
import signal
import socket
import stat
import struct
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.support.cli import COMMAND, Loopx, start_time
from tests.support.providers import SHELL

ROOT = Path(__file__).resolve().parents[2]
SOURCES = ROOT / "tests/zoo"
C, PYTHON = "c", "python"
RUNGS = ("process", "limits", "contained", "namespaced")
FENCED = ("contained", "namespaced")
# Those that leave processes behind which want to live on.
SURVIVORS = (
    *("daemoniser", "tree", "comet", "swarm", "deaf", "stopped", "leaker", "holder", "vforked", "spinner"),
    *("headless", "hoarder", "execer", "subreaper", "sibling", "comets"),
)
PYTHON_SURVIVORS = ("daemoniser", "tree", "comet", "swarm", "deaf", "stopped", "holder")
TRIALS = int(os.environ.get("LOOPX_ZOO_TRIALS", "40"))
IS_NIGHTLY = TRIALS > 40
PATIENCE_SECONDS = 20.0
NOBODY = 65534
_READY = "zoo-ready"
_GLANCE_MS = 2
_PORTS_TAKEN_AWAY = ("PYTHONHOME", "PYTHONDONTWRITEBYTECODE", "LOOPX_CONTAINMENT", "LOOPX_RUNTIME_ROOT")


class Person:
    """Somebody who runs loopx: a name, the user to become (None: the one of the tests), a Python within reach."""

    def __init__(self, name: str, user: int | None, python: str, command: list[str], env: dict[str, str]) -> None:
        self.name = name
        self.user = user
        self.python = python
        self.command = command
        self.env = env

    @property
    def settings(self) -> dict[str, Any]:
        """Keywords for `subprocess` that become this user."""
        return {} if self.user is None else {"user": self.user, "group": self.user, "extra_groups": []}

    @property
    def is_root(self) -> bool:
        return self.user is None and os.geteuid() == 0

    def own(self, path: Path) -> Path:
        """Give a path to this person, with all below it."""
        if self.user is not None:
            for one in (path, *path.rglob("*")):
                os.chown(one, self.user, self.user, follow_symlinks=False)
        return path


def people() -> list[str]:
    """Return the names of those a test can be: root can also be somebody else."""
    return ["root", "ordinary"] if os.geteuid() == 0 else ["self"]


def person(name: str) -> Person:
    """Return a person; skips where an ordinary user reaches no Python that can run this project."""
    if name != "ordinary":
        return Person(name, None, sys.executable, COMMAND, {})
    env = {"PYTHONPATH": os.pathsep.join([str(ROOT), *(path for path in sys.path if path.endswith("-packages"))])}
    for python in (sys.executable, shutil.which("python3", path="/usr/local/bin:/usr/bin:/bin")):
        if python and _can_run(python, env):
            return Person(name, NOBODY, python, [python, "-m", "loopx_host"], env)
    pytest.skip("an ordinary user reaches no Python that runs this project")


def _can_run(python: str, env: dict[str, str]) -> bool:
    # An older patch level can run compiled dependencies of the same minor version.
    code = "import sys, jsonschema_rs, loopx_host.entrypoint; print(*sys.version_info[:2])"
    try:
        done = subprocess.run(
            [python, "-c", code],
            env=env,
            user=NOBODY,
            group=NOBODY,
            extra_groups=[],
            capture_output=True,
            check=False,
        )
    except PermissionError:
        return False
    return done.stdout.split() == [str(part).encode() for part in sys.version_info[:2]]


@contextlib.contextmanager
def ground(owner: Person) -> Iterator[Path]:
    """Yield a directory of this person's that others can pass through, and remove it with all in it."""
    made = Path(tempfile.mkdtemp(prefix="zoo-", dir="/tmp"))  # pytest's own is closed to others
    made.chmod(0o755)
    try:
        yield owner.own(made)
    finally:
        shutil.rmtree(made, ignore_errors=True)


def compiled(folder: Path) -> Path | None:
    """Return the C animals as one program in `folder`; None without a compiler."""
    compiler = shutil.which("cc")
    if compiler is None:
        return None
    program = folder / "zoo"
    sources = sorted(str(path) for path in SOURCES.glob("*.c"))
    subprocess.run([compiler, "-std=gnu11", "-O1", "-pthread", "-o", str(program), *sources], check=True)
    program.chmod(0o755)
    return program


def python_animals(interpreter: str) -> str:
    """Return the animals that need no compiler as the text of a provider."""
    return f"#!{interpreter} -IS\n" + (SOURCES / "animals.py").read_text(encoding="utf-8")


def privileged(folder: Path, program: str) -> dict[str, str]:
    """Make copies of a program that give root, and a capability, to whoever runs them; as request fields."""
    made = {name: folder / name for name in ("setuid", "capable")}
    for path in made.values():
        shutil.copy(program, path)
    made["setuid"].chmod(0o4755)
    made["capable"].chmod(0o755)
    # vfs_cap_data, version 2, effective: CAP_KILL
    os.setxattr(made["capable"], "security.capability", struct.pack("<5I", 0x02000001, 1 << 5, 0, 0, 0))
    return {name: str(path) for name, path in made.items()}


def new_mark() -> str:
    return uuid.uuid4().hex


def living(mark: str) -> list[int]:
    """Return every process whose environment carries the mark."""
    needle = f"ZOO_MARK={mark}".encode()
    return [pid for pid in map(int, filter(str.isdigit, os.listdir("/proc"))) if needle in _environment(pid)]


def _environment(pid: int) -> bytes:
    """Return a process's environment; of one whose first thread has ended, another thread's."""
    try:
        found = Path(f"/proc/{pid}/environ").read_bytes()
        if found:
            return found
        return b"".join(
            Path(f"/proc/{pid}/task/{one}/environ").read_bytes() for one in os.listdir(f"/proc/{pid}/task")
        )
    except OSError:
        return b""


def left_after(mark: str, seconds: float = PATIENCE_SECONDS) -> list[int]:
    """Wait for the end of everything marked, process by process; return what is there when time is up."""
    deadline = time.monotonic() + seconds
    while (here := living(mark)) and (remaining := deadline - time.monotonic()) > 0:
        waiter = select.poll()
        try:
            process = os.pidfd_open(here[0])
        except OSError:
            continue
        try:
            waiter.register(process, select.POLLIN)
            waiter.poll(remaining * 1000)
        finally:
            os.close(process)
    return here


def ready(mark: str) -> int:
    """Wait until the leader of a trial stands with all its descendants started; return its pid."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < deadline:
        for pid in living(mark):
            with contextlib.suppress(OSError):
                if Path(f"/proc/{pid}/comm").read_text(encoding="ascii", errors="replace").strip() == _READY:
                    return pid
        select.poll().poll(_GLANCE_MS)
    raise AssertionError("the animal never got ready")


def exterminate(mark: str) -> None:
    """End whatever escaped, faster than it forks, so that a failing test leaves a quiet machine."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while (here := living(mark)) and time.monotonic() < deadline:
        for pid in here:
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)


class Guest(Loopx):
    """The command line as a certain person runs it, perhaps on a kernel that lacks something."""

    def __init__(self, root: Path, owner: Person, *, through: list[str] | None = None) -> None:
        super().__init__(root)
        self.owner = owner
        self.through = through or []
        self.env.update(owner.env)
        owner.own(root)

    def follow_level(self) -> None:
        """A trial says its level, or means the default."""

    def command(self, *words: str | bytes, options: bool = True) -> list[str | bytes]:
        added = ["--format", "json", "--state-file", str(self.state_file)] if options else []
        return [*self.through, *self.owner.command, *words, *added]

    def __call__(self, *words: str | bytes, **settings: Any) -> Any:
        return super().__call__(*words, **{**self.owner.settings, **settings})

    def start(self, *words: str | bytes, **settings: Any) -> subprocess.Popen[bytes]:
        return super().start(*words, **{**self.owner.settings, **settings})

    def house(self, animals: Path | str, extension_id: str = "zoo", **settings: Any) -> Path:
        """Install an extension whose provider is the animals, a program or a provider's text; return its path."""
        text = animals if isinstance(animals, str) else SHELL
        manifest = self.write_extension(extension_id, text, **{"env": ["ZOO_MARK"], **settings})
        provider = manifest.with_name("provider")
        if isinstance(animals, Path):
            shutil.copy(animals, provider)
        self.owner.own(manifest.parent)
        answer = self.install(manifest)
        assert answer.status == 0, answer
        return provider


class Keeper:
    """A running `keeper.py`: the process port or an embedding program, as a certain person, at one rung."""

    def __init__(
        self, way: str, rung: str, owner: Person, env: Mapping[str, str], *, through: list[str] | None = None
    ) -> None:
        inherited = {name: value for name, value in os.environ.items() if name not in _PORTS_TAKEN_AWAY}
        self.process = subprocess.Popen(
            [*(through or []), owner.python, str(SOURCES / "keeper.py"), way, rung],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**inherited, "PYTHONPATH": str(ROOT), **owner.env, **env},
            **owner.settings,
        )

    def order(self, **fields: Any) -> None:
        """Send an order without waiting for what comes of it."""
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(fields) + "\n")
        self.process.stdin.flush()

    def result(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line, f"the keeper ended with {self.process.wait()}"
        answer = json.loads(line)
        assert isinstance(answer, dict)
        return answer

    def run(self, **fields: Any) -> dict[str, Any]:
        self.order(**fields)
        return self.result()

    def children(self) -> list[int]:
        """Return the keeper's children, ended and unreaped ones among them."""
        pid = self.process.pid
        return [int(one) for one in Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii").split()]

    def close(self) -> None:
        self.process.kill()
        self.process.communicate()


class Grounds:
    """Where each person's animals live: their programs, and one keeper per person, way and level."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.program = compiled(folder)
        self._open = contextlib.ExitStack()
        self._people: dict[str, Person] = {}
        self._guests: dict[str, Guest] = {}
        self._keepers: dict[tuple[str, ...], Keeper] = {}

    def person(self, name: str) -> Person:
        if name not in self._people:
            self._people[name] = person(name)
        return self._people[name]

    def animals(self, language: str, who: str) -> Path | str:
        if language == PYTHON:
            return python_animals(self.person(who).python)
        if self.program is None:
            pytest.skip("there is no C compiler")
        return self.program

    def argv(self, language: str, who: str) -> list[str]:
        animals = self.animals(language, who)
        if isinstance(animals, str):
            script = self.folder / f"animals-{who}"
            script.write_text(animals, encoding="utf-8")
            script.chmod(0o755)
            return [str(script)]
        return [str(animals)]

    def guest(self, language: str, who: str) -> Guest:
        """Return the command line of a person with the animals of a language installed."""
        name = f"{who}-{language}"
        if name not in self._guests:
            animals = self.animals(language, who)
            owner = self.person(who)
            root = self._open.enter_context(ground(owner))
            self._guests[name] = Guest(root, owner)
            self._guests[name].house(animals)
        return self._guests[name]

    def env(self, way: str, language: str, who: str) -> dict[str, str]:
        if way == "port":
            root = self._open.enter_context(ground(self.person(who)))
            return {"XDG_RUNTIME_DIR": str(root), "HOME": str(root)}
        guest = self.guest(language, who)
        return {**guest.env, "ZOO_STATE": str(guest.state_file)}

    def keeper(self, way: str, language: str, level: str, who: str) -> Keeper:
        """Return a keeper that serves many trials."""
        if (way, language, level, who) not in self._keepers:
            env = self.env(way, language, who)
            self._keepers[way, language, level, who] = Keeper(way, level, self.person(who), env)
        return self._keepers[way, language, level, who]

    def close(self) -> None:
        for keeper in self._keepers.values():
            keeper.close()
        self._open.close()


@contextlib.contextmanager
def grounds() -> Iterator[Grounds]:
    """Yield grounds that everybody can reach."""
    with ground(Person("everybody", None, sys.executable, [], {})) as folder:
        made = Grounds(folder)
        try:
            yield made
        finally:
            made.close()


class Listeners:
    """Everything a caller could reach on this machine: TCP, UDP, named and abstract Unix sockets."""

    def __init__(self, folder: Path) -> None:
        unique = uuid.uuid4().hex[:12]
        self._streams = [self._bound(socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", 0))]
        self._datagrams = [self._bound(socket.AF_INET, socket.SOCK_DGRAM, ("127.0.0.1", 0))]
        self.fields = {
            "tcp": str(self._streams[0].getsockname()[1]),
            "udp": str(self._datagrams[0].getsockname()[1]),
            "named": str(folder / f"{unique}-stream"),
            "datagram": str(folder / f"{unique}-datagram"),
            "abstract": f"{unique}-stream",
            "abstract_datagram": f"{unique}-datagram",
        }
        for kind, kept, ways in (
            (socket.SOCK_STREAM, self._streams, ("named", "abstract")),
            (socket.SOCK_DGRAM, self._datagrams, ("datagram", "abstract_datagram")),
        ):
            for way in ways:
                name = ("\0" if way.startswith("abstract") else "") + self.fields[way]
                kept.append(self._bound(socket.AF_UNIX, kind, name))
                if way in ("named", "datagram"):
                    Path(name).chmod(0o777)

    @staticmethod
    def _bound(family: int, kind: int, name: Any) -> socket.socket:
        made = socket.socket(family, kind)
        made.bind(name)
        made.setblocking(False)
        if kind == socket.SOCK_STREAM:
            made.listen(64)
        return made

    def heard(self) -> list[str]:
        """Return which listeners somebody reached."""
        waiter = select.poll()
        names = {}
        for one in (*self._streams, *self._datagrams):
            waiter.register(one, select.POLLIN)
            names[one.fileno()] = str(one.getsockname())
        return sorted(names[descriptor] for descriptor, _ in waiter.poll(0))

    def close(self) -> None:
        for one in (*self._streams, *self._datagrams):
            one.close()


class Bystander:
    """A process of the same user that has nothing to do with loopx, and a secret in its environment."""

    def __init__(self, owner: Person) -> None:
        self.secret = f"secret{uuid.uuid4().hex}"
        self._process = subprocess.Popen(
            ["/bin/cat"], stdin=subprocess.PIPE, env={"ZOO_SECRET": self.secret}, **owner.settings
        )
        # The secret in disguise: the animal that looks for it must not find its own request.
        needle = "".join(chr(ord(letter) ^ 1) for letter in self.secret)
        self.fields = {"bystander": str(self._process.pid), "needle": needle}

    @property
    def is_alive(self) -> bool:
        """Whether it goes on, neither ended nor stopped."""
        return self._process.poll() is None and start_time(self._process.pid) is not None

    def close(self) -> None:
        self._process.kill()
        self._process.communicate()


def said(result: Mapping[str, Any]) -> dict[str, Any]:
    """Return the answer of an animal that ran through the port."""
    assert result.get("exit_code") == 0, result
    answer = json.loads(result["said"])
    assert isinstance(answer, dict)
    return answer


def managed(answer: Mapping[str, Any]) -> set[str]:
    """Return the names of the attempts that succeeded; the animal must have made some."""
    tried = {name: value for name, value in answer.items() if name not in ("ok", "animal") and isinstance(value, str)}
    assert tried, answer
    return {name for name, value in tried.items() if value == "did"}


def rows(containment: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the rows of a containment by their names."""
    return {row["limit"]: row for row in containment["limits"]}


def snapshot(folder: Path) -> dict[str, tuple[object, ...]]:
    """Return everything that could have been changed below a directory, times and attributes included."""
    found: dict[str, tuple[object, ...]] = {}
    for path in (folder, *sorted(folder.rglob("*"))):
        status = path.lstat()
        kept = path.read_bytes() if stat.S_ISREG(status.st_mode) else b""
        names = os.listxattr(path, follow_symlinks=False)
        values = tuple((name, os.getxattr(path, name, follow_symlinks=False)) for name in sorted(names))
        found[str(path)] = (
            status.st_mode,
            status.st_uid,
            status.st_nlink,
            status.st_mtime_ns,
            status.st_ctime_ns,
            kept,
        )
        found[str(path)] += (values,)
    return found


def outside(folder: Path, owner: Person) -> Path:
    """Make a directory of the person's with a file, a folder, a link and an attribute in it."""
    place = folder / f"outside-{uuid.uuid4().hex[:8]}"
    (place / "folder").mkdir(parents=True)
    (place / "victim").write_bytes(b"the user's own words\n")
    (place / "link").symlink_to("victim")
    with contextlib.suppress(OSError):  # not every file system keeps them
        os.setxattr(place / "victim", "user.there", b"1")
    return owner.own(place)
