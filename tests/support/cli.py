"""The real command line, run in a private home, and what it answered."""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
import weakref
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.support.providers import PUPPET

_LAUNCHER = Path(sys.executable).with_name("loopx")
COMMAND = [str(_LAUNCHER)] if _LAUNCHER.exists() else [sys.executable, "-m", "loopx_host"]
PATIENCE_SECONDS = 50.0


class Answer:
    """What one command answered; `document` insists on exactly one strict JSON document."""

    def __init__(self, status: int, stdout: bytes, stderr: bytes) -> None:
        self.status = status
        self.stdout = stdout
        self.stderr = stderr

    @property
    def document(self) -> dict[str, Any]:
        assert self.stdout.isascii(), self.stdout
        assert self.stdout.endswith(b"\n"), (self.status, self.stdout, self.stderr)
        value = json.loads(self.stdout, object_pairs_hook=_unique, parse_constant=_no_constant)
        assert isinstance(value, dict)
        return value

    @property
    def code(self) -> str:
        """The code of an error document."""
        assert self.document["ok"] is False
        return str(self.document["code"])

    def __repr__(self) -> str:
        return f"Answer({self.status}, {self.stdout[:2000]!r}, {self.stderr[:2000]!r})"


_level: list[str | None] = [None]
_living: weakref.WeakSet[Loopx] = weakref.WeakSet()


def run_at(level: str | None) -> None:
    """Let every command line of a test, those of wider fixtures too, ask for a level, or for none."""
    _level[0] = level
    for one in _living:
        one.follow_level()


class Loopx:
    """The command line of this interpreter's environment with its own home, state file and temporary places."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.state_file = root / "state.json"
        self.runtime = root / "runtime"
        self.env = {
            "PATH": os.environ.get("PATH", os.defpath),
            "LANG": "C.UTF-8",
            "HOME": str(root / "home"),
            "XDG_STATE_HOME": str(root / "home/state"),
            "XDG_CACHE_HOME": str(root / "home/cache"),
            "XDG_RUNTIME_DIR": str(self.runtime),
            "TMPDIR": str(root / "tmp"),
        }
        _living.add(self)
        self.follow_level()
        for place in ("home", "runtime", "tmp", "extensions"):
            (root / place).mkdir(parents=True, exist_ok=True)

    def follow_level(self) -> None:
        """Ask for the level of containment that the test is marked with; unmarked, for none, like most users."""
        if _level[0] is None:
            self.env.pop("LOOPX_CONTAINMENT", None)
        else:
            self.env["LOOPX_CONTAINMENT"] = _level[0]

    def command(self, *words: str | bytes, options: bool = True) -> list[str | bytes]:
        """Return the argv of a command; `options` adds JSON and the private state file."""
        added = ["--format", "json", "--state-file", str(self.state_file)] if options else []
        return [*COMMAND, *words, *added]

    def __call__(
        self,
        *words: str | bytes,
        stdin: bytes = b"",
        env: Mapping[str, str] | None = None,
        options: bool = True,
        **settings: Any,
    ) -> Answer:
        """Run one command to its end."""
        done = subprocess.run(
            self.command(*words, options=options),
            env={**self.env, **(env or {})},
            timeout=PATIENCE_SECONDS,
            check=False,
            **{"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "input": stdin, **settings},
        )
        return Answer(done.returncode, done.stdout or b"", done.stderr or b"")

    def start(
        self, *words: str | bytes, stdin: bytes = b"", env: Mapping[str, str] | None = None, **settings: Any
    ) -> subprocess.Popen[bytes]:
        """Start one command with all its input already written; `finish` collects it."""
        given, keep = os.pipe()
        os.write(keep, stdin)
        os.close(keep)
        try:
            return subprocess.Popen(
                self.command(*words),
                stdin=given,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env={**self.env, **(env or {})},
                **settings,
            )
        finally:
            os.close(given)

    def run(self, extension_id: str, request: bytes | Mapping[str, object], **settings: Any) -> Answer:
        """Run one request with ``--execute``; the request goes through standard input."""
        words = ("extension", "run", extension_id, "--input-json", "-", "--execute")
        return self(*words, stdin=_bytes(request), **settings)

    def start_run(self, extension_id: str, request: bytes | Mapping[str, object], **settings: Any) -> Any:
        """Start one executed run and return its process."""
        words = ("extension", "run", extension_id, "--input-json", "-", "--execute")
        return self.start(*words, stdin=_bytes(request), **settings)

    def write_extension(
        self, extension_id: str, provider: str = PUPPET, *, manifest: str | None = None, **runtime: object
    ) -> Path:
        """Write an executable provider and a manifest beside it; return the manifest's path.

        `runtime` adds or replaces keys of ``[runtime]`` (None leaves one out); `manifest` is TOML put before
        that table.
        """
        folder = self.root / "extensions" / extension_id
        folder.mkdir(parents=True, exist_ok=True)
        program = folder / "provider"
        program.write_text(provider, encoding="utf-8")
        program.chmod(0o755)
        keys: dict[str, object] = {
            "protocol": "test_v0",
            "entrypoint": str(program),
            "args": ["run"],
            "doctor_args": ["--doctor"],
            "timeout_seconds": 30,
            **runtime,
        }
        lines = [
            'schema_version = "loopx_extension_manifest_v0"',
            f'id = "{extension_id}"',
            'version = "1.0"',
            'requires_loopx_api = "1"',
            manifest or "",
            "[runtime]",
            *(f"{key} = {json.dumps(value)}" for key, value in keys.items() if value is not None),
        ]
        path = folder / "extension.toml"
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
        return path

    def make_extension(self, extension_id: str, provider: str = PUPPET, **settings: Any) -> Path:
        """Write an extension and install it; return the path of its provider."""
        path = self.write_extension(extension_id, provider, **settings)
        answer = self.install(path)
        assert answer.status == 0, answer
        return path.with_name("provider")

    def install(self, manifest: Path, **settings: Any) -> Answer:
        """Install from a manifest with ``--execute``."""
        return self("extension", "install", "--manifest", str(manifest), "--execute", **settings)

    def rows(self) -> list[dict[str, Any]]:
        """Return the rows of ``extension list``."""
        rows = self("extension", "list").document["extensions"]
        assert isinstance(rows, list)
        return rows

    def private_directories(self) -> list[str]:
        """Return what lies where private directories are made."""
        return sorted(path.name for path in self.runtime.iterdir())


class Place:
    """A directory a provider of a test may write to, with the records of the processes it started there."""

    def __init__(self, root: Path) -> None:
        self.path = root
        root.mkdir(parents=True, exist_ok=True)
        for name in ("ready", "go"):
            os.mkfifo(root / name)
        # Opened at once, so that neither side ever waits for the other just to open it.
        self._ready = os.open(root / "ready", os.O_RDWR | os.O_NONBLOCK)
        self._go = os.open(root / "go", os.O_RDWR | os.O_NONBLOCK)

    def close(self) -> None:
        os.close(self._ready)
        os.close(self._go)

    def request(self, code: str, **fields: object) -> dict[str, object]:
        """Return the request that makes the puppet do `code` with this place."""
        return {"code": code, "place": str(self.path), **fields}

    def wait_until_ready(self) -> None:
        """Wait for the provider to say `ready()`."""
        waiter = select.poll()
        waiter.register(self._ready, select.POLLIN)
        assert waiter.poll(int(PATIENCE_SECONDS * 1000)), "the provider never got there"
        os.read(self._ready, 1)

    def go(self) -> None:
        """Let the provider's `wait_for_go()` return."""
        os.write(self._go, b"!")

    def recorded(self) -> list[str]:
        """Return the names of the processes that recorded themselves."""
        return [line.split()[0] for line in self._lines()]

    def alive(self) -> list[str]:
        """Return the names of the recorded processes that still are there, ended and unreaped ones among them."""
        return [name for name, pid, started in map(str.split, self._lines()) if start_time(int(pid)) == int(started)]

    def _lines(self) -> list[str]:
        try:
            return (self.path / "processes").read_text(encoding="ascii").splitlines()
        except FileNotFoundError:
            return []


def start_time(pid: int) -> int | None:
    """Return the start time of a process, or None when there is none with this number."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return None
    return int(fields[19])


def finish(process: subprocess.Popen[bytes]) -> Answer:
    """Wait for a started command."""
    try:
        stdout, stderr = process.communicate(timeout=PATIENCE_SECONDS)
    finally:
        process.kill()
        process.wait()
    return Answer(process.returncode, stdout, stderr)


def _bytes(request: bytes | Mapping[str, object]) -> bytes:
    return request if isinstance(request, bytes) else json.dumps(request).encode()


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    assert len(made) == len(pairs), "a key stands twice in one object"
    return made


def _no_constant(name: str) -> Any:
    raise AssertionError(f"{name} is not JSON")


def await_end(place: Place) -> list[str]:
    """Return which recorded processes outlive their kill: nobody but init waits for an orphan."""
    for line in (place.path / "processes").read_text(encoding="ascii").splitlines() if place.recorded() else []:
        _, pid, started = line.split()
        if start_time(int(pid)) == int(started):
            try:
                descriptor = os.pidfd_open(int(pid))
            except ProcessLookupError:  # it ended meanwhile
                continue
            ended = wait_readable(descriptor)
            os.close(descriptor)
            if not ended:
                return [line]
    return []


def wait_readable(descriptor: int) -> bool:
    waiter = select.poll()
    waiter.register(descriptor, select.POLLIN)
    return bool(waiter.poll(5000))
