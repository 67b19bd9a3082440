"""The ports of the lifecycle, written by hand in memory; each keeps the promises of its port."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from loopx_host.core.errors import Interrupted, Refused
from loopx_host.lifecycle.identity import ENTRYPOINT, MODULE, Missing, RuntimeIdentity, Target
from loopx_host.lifecycle.launch import STDERR, STDOUT, TIMEOUT, Ended, Launch
from loopx_host.lifecycle.ports import Clock, Judging, Packages, Processes, StateStore
from loopx_host.lifecycle.state import Entry, Replacement, State
from loopx_host.lifecycle.verbs.doctor import doctor
from loopx_host.lifecycle.verbs.run import run
from loopx_host.registry.folder_error import FolderError
from loopx_host.registry.load import load
from loopx_host.registry.manifest import Runtime
from loopx_host.registry.schemas import Bundle

NOW = "2025-01-02T03:04:05Z"
RUN_ID = "0123456789abcdef01234567"
PLATFORM = "test-machine"
PROGRAM = "/made/up/bin/provider"

MANIFEST = """\
schema_version = "loopx_extension_manifest_v0"
id = "{id}"
version = "1.0"
requires_loopx_api = "1"
{top}
[runtime]
protocol = "test_v0"
entrypoint = "provider"
args = ["--serve"]
doctor_args = ["--doctor"]
timeout_seconds = 20
{runtime}
"""


class MemoryStore:
    """A state file that is one value; `meanwhile` runs once, just before the next change reads it."""

    location = "/made/up/state.json"

    def __init__(self, data: bytes | None = None) -> None:
        self.data = data
        self.schemas: dict[str, bytes] = {}
        self.kept_aside: dict[str, bytes] = {}
        self.meanwhile: Callable[[], None] | None = None

    def read(self) -> bytes | None:
        return self.data

    def change(self, edit: Callable[[bytes | None], Replacement]) -> None:
        if self.meanwhile is not None:
            once, self.meanwhile = self.meanwhile, None
            once()
        new = edit(self.data)
        self.schemas |= new.schemas
        self.data = new.data
        if new.referred is not None:
            self.schemas = {digest: data for digest, data in self.schemas.items() if digest in new.referred}

    def read_schema(self, digest: str) -> bytes | None:
        return self.schemas.get(digest)

    def preserve(self, data: bytes, mark: str) -> str:
        self.kept_aside.setdefault(mark[:8], data)
        return f"{self.location}.damaged-{mark[:8]}"

    def set_aside(self, is_damaged: Callable[[], bool]) -> str | None:
        if not is_damaged():
            return None
        place = self.preserve(self.data or b"", f"{len(self.kept_aside):08x}")
        self.data = None
        return place

    @property
    def document(self) -> dict[str, Any]:
        """The state as a program reads it."""
        document = json.loads(self.data or b"{}")
        assert isinstance(document, dict)
        return document


class MemoryPackages:
    """Programs as path → content, all run by one interpreter."""

    def __init__(self, programs: dict[str, str] | None = None) -> None:
        self.programs = {PROGRAM: "first"} if programs is None else programs
        self.interpreter = "python"
        self.machine = PLATFORM
        self.cache: str | None = "/made/up/cache"
        self.remembered: list[str] = []
        self.bytecode: dict[str, str] = {}
        self._taken: dict[str, tuple[dict[str, str], str]] = {}
        self.prerequisites: dict[str, tuple[str, str | None]] = {}

    def resolve(self, runtime: Runtime, folder: str | None) -> Target | Missing:  # noqa: ARG002 (the port's)
        if runtime.python_module is not None:
            return Target(MODULE, PROGRAM, runtime.python_module)
        path = f"/made/up/bin/{runtime.entrypoint}"
        if path in self.programs:
            return Target(ENTRYPOINT, path)
        return Missing(str(runtime.entrypoint), ["/made/up/bin"], "/made/up")

    def identify(self, target: Target) -> RuntimeIdentity | None:
        content = self.programs.get(target.path)
        if content is None:
            return None
        identity = RuntimeIdentity({"launcher": content, "interpreter": self.interpreter})
        self._taken[identity.digest] = (dict(self.programs), self.interpreter)
        return identity

    def owner(self, target: Target) -> dict[str, str] | None:
        return {"name": "provider", "version": "1.0"} if target.path in self.programs else None

    def remember(self, identity: RuntimeIdentity) -> None:
        self.remembered.append(identity.digest)

    def explain(self, proved: str, now: RuntimeIdentity, changed: list[str]) -> list[str]:  # noqa: ARG002 (the port's)
        return []

    def prerequisite(self, name: str, *, ask: bool) -> tuple[str, str | None] | None:
        found = self.prerequisites.get(name)
        return (found[0], found[1] if ask else None) if found else None

    def pip_command(self, owner: dict[str, str], launcher: str | None = None) -> str:  # noqa: ARG002 (the port's)
        return f"pip install {owner['name']}=={owner['version']}"

    def touched(self, identity: RuntimeIdentity) -> list[str]:
        return [] if self._taken.get(identity.digest) == (self.programs, self.interpreter) else ["launcher"]

    def bytecode_cache(self, identity: RuntimeIdentity) -> str | None:
        return self.bytecode.get(identity.digest)

    def new_bytecode(self, identity: RuntimeIdentity) -> str | None:
        return f"{self.cache}/{identity.digest}.new" if self.cache else None

    def keep_bytecode(self, identity: RuntimeIdentity, new: str, *, proved: bool) -> None:
        if proved:
            self.bytecode.setdefault(identity.digest, new)

    def platform(self) -> str:
        return self.machine


class Script:
    """What a made-up process does: reads its input, writes, takes so long, ends so."""

    def __init__(
        self,
        *,
        stdout: bytes = b"",
        stderr: bytes = b"",
        exit_code: int = 0,
        signal: str | None = None,
        lasts: bool = False,
        echo: bool = False,
        missing: bool = False,
        interrupted_by: int | None = None,
        meanwhile: Callable[[], None] | None = None,
    ) -> None:
        self.stdout = stdout
        self.stderr = stderr
        self.exit_code = exit_code
        self.signal = signal
        self.lasts = lasts
        self.echo = echo
        self.missing = missing
        self.interrupted_by = interrupted_by
        self.meanwhile = meanwhile


class ScriptedProcesses:
    """Plays `script` for every launch, within the limits of the launch; `launches` is what it was given."""

    def __init__(self, script: Script | None = None) -> None:
        self.script = script or Script()
        self.launches: list[Launch] = []

    def run(self, launch: Launch) -> Ended:
        self.launches.append(launch)
        script = self.script
        if script.meanwhile is not None:
            script.meanwhile()
        if script.interrupted_by is not None:
            raise Interrupted(script.interrupted_by, "SIGTERM")
        if script.missing:
            return Ended(start_error="No such file or directory")
        stdout = script.stdout + (launch.stdin if script.echo else b"")
        stopped_by = self._stopped_by(launch, stdout)
        killed = stopped_by is not None
        return Ended(
            exit_code=None if killed or script.signal else script.exit_code,
            signal="SIGTERM" if killed else script.signal,
            stopped_by=stopped_by,
            stdout=stdout[: launch.limits.stdout_bytes],
            stderr=script.stderr[: launch.limits.stderr_bytes],
            duration_ms=7,
            containment={"rung": "made-up"},
        )

    def _stopped_by(self, launch: Launch, stdout: bytes) -> str | None:
        if len(stdout) > launch.limits.stdout_bytes:
            return STDOUT
        if len(self.script.stderr) > launch.limits.stderr_bytes:
            return STDERR
        return TIMEOUT if self.script.lasts else None


class FixedClock:
    """Always the same moment and name."""

    def now(self) -> str:
        return NOW

    def run_id(self) -> str:
        return RUN_ID


class MemoryFolder:
    """The directory of a manifest as name → text."""

    location = "/made/up"

    def __init__(self, files: dict[str, str]) -> None:
        self.files = files

    def read(self, relative: str, limit: int) -> bytes:
        if relative not in self.files:
            raise FolderError("missing", "there is no such file")
        data = self.files[relative].encode()
        if len(data) > limit:
            raise FolderError("too_large", "it is too large")
        return data


class ScriptedJudging:
    """Answers every judging with one verdict."""

    def __init__(self) -> None:
        self.verdict: list[dict[str, str]] | None = []
        self.judged: list[object] = []

    def violations(self, bundle: Bundle, instance: object) -> list[dict[str, str]] | None:  # noqa: ARG002 (the port's)
        self.judged.append(instance)
        return self.verdict


class World:
    """One set of fakes, and the entries of a state file written out by hand."""

    def __init__(self, script: Script | None = None) -> None:
        self.store = MemoryStore()
        self.packages = MemoryPackages()
        self.processes = ScriptedProcesses(script)
        self.clock = FixedClock()
        self.judging = ScriptedJudging()
        # Each fake stands where its port is asked for; the type checker compares them here.
        _: tuple[StateStore, Packages, Processes, Clock] = (self.store, self.packages, self.processes, self.clock)
        __: Judging = self.judging

    def holding(
        self,
        extension_id: str = "probe-me",
        *,
        top: str = "",
        runtime: str = "",
        module: str | None = None,
        **entry: object,
    ) -> World:
        """Add an enabled extension proved for what is there now; `entry` replaces fields of its state entry."""
        text = MANIFEST.format(id=extension_id, top=top, runtime=runtime)
        if module is not None:
            text = text.replace('entrypoint = "provider"', f'python_module = "{module}"')
        manifest = load(MemoryFolder({"extension.toml": text}), "extension.toml")
        identity = self.packages.identify(Target(ENTRYPOINT, PROGRAM))
        assert identity is not None
        raw: dict[str, Any] = {
            "id": extension_id,
            "enabled": True,
            "active_revision": manifest.revision,
            "rollback_revision": None,
            "revisions": [
                {
                    "revision": manifest.revision,
                    "version": manifest.version,
                    "manifest": manifest.form,
                    "digest": manifest.digest,
                    "manifest_path": "/made/up/extension.toml",
                    "installed_at": NOW,
                    "launcher": {"kind": MODULE if module else ENTRYPOINT, "path": PROGRAM},
                }
            ],
            "proof": {
                "revision": manifest.revision,
                "identity": identity.digest,
                "groups": identity.groups,
                "host_api": 1,
                "platform": PLATFORM,
                "verified_at": NOW,
                "failure": None,
            },
            "doctor_verified_revision": manifest.revision,
            "doctor_verified_entrypoint_identity": identity.digest,
            "history": [],
            **entry,
        }
        extensions = {**self.store.document.get("extensions", {}), extension_id: raw}
        document = {"schema_version": "loopx_extension_state_v0", "extensions": extensions}
        self.store.data = json.dumps(document).encode()
        return self

    def run(self, request: bytes = b"{}", *, extension_id: str = "probe-me", **settings: Any) -> dict[str, Any]:
        """Call the verb `run`, executed unless told otherwise."""
        return run(extension_id, request, **self._ports, judging=self.judging, **{"execute": True, **settings})

    def doctor(self, extension_id: str = "probe-me", *, execute: bool = True) -> dict[str, Any]:
        """Call the verb `doctor`."""
        return doctor(extension_id, **self._ports, execute=execute)

    @property
    def _ports(self) -> dict[str, Any]:
        return {
            "store": self.store,
            "packages": self.packages,
            "processes": self.processes,
            "clock": self.clock,
        }

    def raw(self, extension_id: str = "probe-me") -> dict[str, Any]:
        """Return the entry as it stands in the state file."""
        raw = self.store.document["extensions"][extension_id]
        assert isinstance(raw, dict)
        return raw

    def entry(self, extension_id: str = "probe-me") -> Entry:
        """Return the entry as the lifecycle reads it."""
        return State.parse(self.store.data, self.store.location).entry(extension_id)


def code_of(call: Callable[[], object]) -> str:
    """Return the code `call` is refused with."""
    try:
        call()
    except Refused as refused:
        return refused.code
    raise AssertionError("it was not refused")
