"""The ports of the lifecycle, written by hand in memory; each keeps the promises of its port."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from loopx_host.core.digest import sha256_hex
from loopx_host.core.errors import Interrupted, Refused, refusal
from loopx_host.core.names import is_pinned
from loopx_host.lifecycle.dispatch.package_command import PackageCommandRequest, package_command
from loopx_host.lifecycle.dispatch.ports import Judging, Plugins, References
from loopx_host.lifecycle.dispatch.run import RunRequest, run
from loopx_host.lifecycle.extensions.activation import Activation
from loopx_host.lifecycle.extensions.doctor import doctor
from loopx_host.lifecycle.extensions.identity import (
    ENTRYPOINT,
    MODULE,
    BytecodeKey,
    Launcher,
    LauncherNotFound,
    RuntimeIdentity,
)
from loopx_host.lifecycle.extensions.ports import Clock, Discovery, Packages, Processes, Projections, StateStore
from loopx_host.lifecycle.extensions.process import STDERR, STDOUT, TIMEOUT, Ended, Launch
from loopx_host.lifecycle.extensions.requests import ChangeRequest, TrustRequest
from loopx_host.lifecycle.extensions.source import Source
from loopx_host.lifecycle.extensions.state import Entry, Replacement, State
from loopx_host.lifecycle.goals.bind import BindRequest, UnbindRequest, bind, unbind
from loopx_host.lifecycle.goals.invoke import InvokeRequest, invoke
from loopx_host.lifecycle.goals.publish import PublicationRequest, publish
from loopx_host.registry.folder_error import FolderError
from loopx_host.registry.load import load
from loopx_host.registry.manifest import Runtime
from loopx_host.registry.schemas import Bundle, SchemaError

if TYPE_CHECKING:
    from loopx_host.documents.parts import Violation

if TYPE_CHECKING:
    from loopx_host.documents.discovery_index import IndexUse, Offer
    from loopx_host.documents.host_doctor import Reach
    from loopx_host.documents.parts import Distribution, EntryPoints
    from loopx_host.lifecycle.extensions.identity import IdentityDetails
    from loopx_host.lifecycle.extensions.ports import Finding
    from loopx_host.registry.catalog import TrainMember

NOW = "2025-01-02T03:04:05Z"
RUN_ID = "0123456789abcdef01234567"
PLATFORM = "test-machine"
PROGRAM = "/made/up/bin/provider"
TRAIN: list[TrainMember] = []  # what `ScriptedDiscovery` begins with

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
        self.meanwhile: Callable[[], object] | None = None

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

    def preserve(self, data: bytes, mark: str, is_copy: Callable[[bytes], bool]) -> str:
        digits = mark[:8]
        while digits in self.kept_aside and not is_copy(self.kept_aside[digits]):
            digits = f"{int(digits, 16) + 1 & 0xFFFFFFFF:08x}"
        self.kept_aside.setdefault(digits, data)
        return f"{self.location}.damaged-{digits}"

    def set_aside(self, is_damaged: Callable[[], bool], empty: bytes) -> str | None:  # noqa: ARG002 (never a link)
        if not is_damaged():
            return None
        place = self.preserve(self.data or b"", f"{len(self.kept_aside):08x}", lambda _: False)
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
        self.bin = "/made/up/bin"  # where programs are looked for
        self.interpreter = "python"
        self.machine = PLATFORM
        self.cache: str | None = "/made/up/cache"
        self.remembered: list[str] = []
        self.explained: list[str] = []  # the files behind what changed
        self.written: list[str] = []  # files that were written and put back
        self.is_owned = True  # whether a package carries the programs
        self.package: Distribution = {"name": "provider", "version": "1.0"}  # which one does
        self.advertised: dict[str, dict[str, str]] = {}  # "plugins" or "commands" → name → value
        self.bytecode: dict[tuple[str, str], str] = {}  # extension and key → place
        self.noexec: list[str] = []  # programs on a file system that executes nothing
        self.foreign: str | None = None  # a module that is named and that nobody carries
        self._brought = 0
        self._taken: dict[str, tuple[dict[str, str], str]] = {}
        self.prerequisites: dict[str, tuple[str, str | None]] = {}

    def resolve(self, runtime: Runtime, folder: str | None) -> Launcher | LauncherNotFound:  # noqa: ARG002 (the port's)
        if runtime.python_module is not None:
            return Launcher(MODULE, PROGRAM, runtime.python_module, requires=runtime.requires)
        path = f"{self.bin}/{runtime.entrypoint}"
        if path in self.programs:
            return Launcher(ENTRYPOINT, path, requires=runtime.requires)
        return LauncherNotFound(str(runtime.entrypoint), [self.bin], "/made/up")

    def identify(self, launcher: Launcher) -> RuntimeIdentity | None:
        content = self.programs.get(launcher.path)
        if content is None:
            return None
        programs: dict[str, list[str | None] | None] = {
            name: [self.prerequisites[name][0], "a digest"] if name in self.prerequisites else None
            for name in launcher.requires
        }
        details: IdentityDetails = {
            "programs": programs,
            "search_path": launcher.search_path,
            "owner": self.owner(launcher),
        }
        identity = RuntimeIdentity({"launcher": content, "interpreter": self.interpreter}, details=details)
        self._taken[identity.digest] = (dict(self.programs), self.interpreter)
        return identity

    def owner(self, launcher: Launcher) -> Distribution | None:
        return self.package if self.is_owned and launcher.path in self.programs else None

    def entry_points(self, launcher: Launcher, extension_id: str) -> EntryPoints:
        advertised = self.advertised if launcher.path in self.programs else {}
        plugins = {name: value for name, value in advertised.get("plugins", {}).items() if name == extension_id}
        rows = advertised.get("commands", {})
        return {
            "plugins": [{"name": name, "value": value} for name, value in sorted(plugins.items())],
            "commands": [{"name": name, "value": value} for name, value in sorted(rows.items())],
        }

    def remember(self, identity: RuntimeIdentity) -> None:
        self.remembered.append(identity.digest)

    def explain(self, proved: str, now: RuntimeIdentity, changed: list[str]) -> list[str]:  # noqa: ARG002 (the port's)
        return self.explained

    def version(self, program: str, places: list[str], *, ask: bool) -> str | None:  # noqa: ARG002 (the port's)
        said = dict(self.prerequisites.values())
        return said[program] if ask else None

    def pip_command(self, owner: Distribution, launcher: str | None = None) -> str | None:  # noqa: ARG002 (the port's)
        pinned = is_pinned(owner["name"], owner["version"])
        return f"pip install {owner['name']}=={owner['version']}" if pinned else None

    def touched(self, identity: RuntimeIdentity) -> list[str]:
        is_same = self._taken.get(identity.digest) == (self.programs, self.interpreter)
        return self.written if is_same else ["launcher"]

    def mounted_noexec(self, programs: list[str]) -> str | None:
        return next((program for program in programs if program in self.noexec), None)

    def foreign_module(self, launcher: Launcher, extension_id: str) -> str | None:  # noqa: ARG002 (the port's)
        return self.foreign

    def is_as_taken(self, identity: RuntimeIdentity) -> bool:
        return not self.touched(identity)

    def bytecode_cache(self, key: BytecodeKey) -> str | None:
        return self.bytecode.get((key.extension_id, key.digest))

    def new_bytecode(self, key: BytecodeKey) -> str | None:
        self._brought += 1
        return f"{self.cache}/{key.extension_id}/new-{self._brought}" if self.cache else None

    def keep_bytecode(self, key: BytecodeKey, new: str, *, proved: bool) -> None:
        if proved:
            self.forget_bytecode(key.extension_id)
            self.bytecode[key.extension_id, key.digest] = new

    def forget_bytecode(self, extension_id: str) -> None:
        self.bytecode = {key: place for key, place in self.bytecode.items() if key[0] != extension_id}

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
    """Plays `scripts`, then `script` for every launch, within its limits; `launches` is what it was given."""

    def __init__(self, script: Script | None = None) -> None:
        self.script = script or Script()
        self.scripts: list[Script] = []
        self.launches: list[Launch] = []
        self.containment: Any = {"rung": "made-up"}

    def run(self, launch: Launch) -> Ended:
        self.launches.append(launch)
        script = self.scripts.pop(0) if self.scripts else self.script
        if script.meanwhile is not None:
            script.meanwhile()
        if script.interrupted_by is not None:
            raise Interrupted(script.interrupted_by, "SIGTERM")
        if script.missing:
            return Ended(start_error="No such file or directory")
        stdout = script.stdout + (launch.stdin if script.echo else b"")
        stopped_by = self._stopped_by(launch, script, stdout)
        killed = stopped_by is not None
        return Ended(
            exit_code=None if killed or script.signal else script.exit_code,
            signal="SIGTERM" if killed else script.signal,
            stopped_by=stopped_by,
            stdout=stdout[: launch.limits.stdout_bytes],
            stderr=script.stderr[: launch.limits.stderr_bytes],
            duration_ms=7,
            containment=self.containment,
        )

    @staticmethod
    def _stopped_by(launch: Launch, script: Script, stdout: bytes) -> str | None:
        if len(stdout) > launch.limits.stdout_bytes:
            return STDOUT
        if len(script.stderr) > launch.limits.stderr_bytes:
            return STDERR
        return TIMEOUT if script.lasts else None


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
    """Answers the first judgings from `first`, every other one with one verdict, or raises `error`."""

    def __init__(self) -> None:
        self.error: SchemaError | None = None
        self.verdict: list[Violation] | None = []
        self.first: list[list[Violation]] = []
        self.judged: list[object] = []

    def violations(self, bundle: Bundle, instance: object) -> list[Violation] | None:  # noqa: ARG002 (the port's)
        self.judged.append(instance)
        if self.error is not None:
            raise self.error
        return self.first.pop(0) if self.first else self.verdict


class ScriptedPlugins:
    """Answers every hook with `answers`, or refuses with `refusal`; `called` is (extension, hook) of each.

    `asked` is what each hook was given, `commands` which command of which extension was run.
    """

    def __init__(self) -> None:
        self.answers: list[Any] = []
        self.refusal: Refused | None = None
        self.called: list[tuple[str, str]] = []
        self.asked: list[dict[str, Any]] = []
        self.commands: list[tuple[str, str]] = []

    def call(self, activation: Activation, hook: str, arguments: dict[str, Any]) -> list[Any]:
        self.called.append((activation.extension_id, hook))
        self.asked.append(arguments)
        if self.refusal is not None:
            raise self.refusal
        return self.answers

    def command(
        self,
        activation: Activation,
        name: str,
        arguments: list[str],
        host: object,  # noqa: ARG002 (the port's)
    ) -> dict[str, Any]:
        self.commands.append((activation.extension_id, name))
        return {"ok": True, "schema_version": "made_up_v0", "name": name, "arguments": arguments}


class MemoryProjections:
    """Published views as (extension id, surface id) → bytes; `spoil` changes what is written, before it is read."""

    def __init__(self) -> None:
        self.published: dict[tuple[str, str], bytes] = {}
        self.spoil: Callable[[bytes], bytes] | None = None

    def publish(self, extension_id: str, surface_id: str, data: bytes) -> None:
        self.published[extension_id, surface_id] = self.spoil(data) if self.spoil else data

    def read(self, extension_id: str, surface_id: str) -> bytes | None:
        return self.published.get((extension_id, surface_id))

    def published_by(self, extension_id: str) -> dict[str, str]:
        return {key[1]: sha256_hex(data) for key, data in self.published.items() if key[0] == extension_id}

    def remove(self, extension_id: str) -> None:
        self.published = {key: data for key, data in self.published.items() if key[0] != extension_id}


class MemoryReferences:
    """Paths that are there as what was named → where it really is."""

    def __init__(self) -> None:
        self.there = {"here": "/made/up/here", "there": "/made/up/there"}

    def resolve(self, name: str, path: str) -> str:
        if path not in self.there:
            raise refusal("reference_invalid", name, "there is nothing", hint="name what is there")
        return self.there[path]

    def standing(self, path: str) -> list[int]:
        return [len(path)]


class MemorySources:
    """Manifests as path → what is read from it."""

    def __init__(self) -> None:
        self.there: dict[str, Source] = {}

    def open(self, manifest_path: str, *, by_id: bool = False) -> Source:
        if manifest_path not in self.there:
            raise refusal("manifest_unreadable", manifest_path, "there is nothing", hint="name what is there")
        found = self.there[manifest_path]
        return Source(found.manifest, found.path, found.folder, by_id=by_id, carrier=found.carrier)

    def put(
        self,
        version: str = "1.0",
        *,
        extension_id: str = "probe-me",
        top: str = "",
        runtime: str = "",
        folder: str = "/made/up",
        carrier: Any = None,
        files: Mapping[str, str] | None = None,
        doctor: bool = True,
    ) -> Source:
        """Put a manifest at ``<folder>/<version>.toml``, with or without a doctor; return what is read from there."""
        text = MANIFEST.format(id=extension_id, top=top, runtime=runtime)
        text = text if doctor else text.replace('doctor_args = ["--doctor"]', "")
        text = text.replace('version = "1.0"', f'version = "{version}"')
        path = f"{folder}/{version}.toml"
        manifest = load(MemoryFolder({"extension.toml": text, **(files or {})}), "extension.toml")
        self.there[path] = Source(manifest, path, folder, carrier=carrier)
        return self.there[path]


class ScriptedDiscovery:
    """Offers `rows`, in the shape of `registry.offers`; `row` makes one. `members` is the release train."""

    def __init__(self) -> None:
        self.rows: list[Any] = []
        self.members = list(TRAIN)
        self.found: list[Finding] = []
        self.rebuilt: list[bool] = []  # what each question for the offers asked

    def offers(self, *, rebuild: bool) -> tuple[list[Offer], IndexUse]:
        self.rebuilt.append(rebuild)
        return self.rows, {"status": "fresh", "rebuilt": False, "path": "/made/up/index.json"}

    def train(self) -> list[TrainMember]:
        return self.members

    def findings(self) -> list[Finding]:
        return self.found

    @staticmethod
    def row(extension_id: str | None, **fields: Any) -> dict[str, Any]:
        """Return the row of a package that is there, with some fields replaced."""
        declares = {"requires_loopx_api": "1", "permissions": [], "capabilities": [], "implementations": []}
        return {
            "id": extension_id,
            "distribution": {"name": f"{extension_id}-package", "version": "1.0"},
            "location": "/made/up/site",
            "manifest_path": "/made/up/site/extension.toml",
            "version": "1.0",
            "revision": "0" * 16,
            "digest": "0" * 64,
            "files": [],
            "declares": declares,
            "commands": [],
            "state": "available",
            "code": None,
            "reason": None,
            **fields,
        }


class ScriptedContainmentProbe:
    """Reaches what it is told to reach."""

    def __init__(self) -> None:
        self.reached: Reach = {"default": "contained", "highest": "namespaced", "reasons": []}

    def reach(self) -> Reach:
        return self.reached


class World:
    """One set of fakes, and the entries of a state file written out by hand."""

    def __init__(self, script: Script | None = None) -> None:
        self.store = MemoryStore()
        self.packages = MemoryPackages()
        self.processes = ScriptedProcesses(script)
        self.clock = FixedClock()
        self.judging = ScriptedJudging()
        self.plugins = ScriptedPlugins()
        self.projections = MemoryProjections()
        self.bindings = MemoryStore()
        self.references = MemoryReferences()
        self.discovery = ScriptedDiscovery()
        self.sources = MemorySources()
        self.containment_probe = ScriptedContainmentProbe()
        self.is_off = False
        # Each fake stands where its port is asked for; the type checker compares them here.
        _: tuple[StateStore, Packages, Processes, Clock] = (self.store, self.packages, self.processes, self.clock)
        __: tuple[Judging, Plugins, Projections] = (self.judging, self.plugins, self.projections)
        ___: tuple[References, Discovery] = (self.references, self.discovery)

    def holding(
        self,
        extension_id: str = "probe-me",
        *,
        top: str = "",
        runtime: str = "",
        module: str | None = None,
        files: Mapping[str, str] | None = None,
        pinned: Mapping[str, object] | None = None,
        **entry: object,
    ) -> World:
        """Add an enabled extension proved for what is there now; `entry` replaces fields of its state entry.

        `files` lie beside its manifest; `pinned` adds to its active revision what an installation pinned.
        """
        text = MANIFEST.format(id=extension_id, top=top, runtime=runtime)
        if module is not None:
            text = text.replace('entrypoint = "provider"', f'python_module = "{module}"')
        manifest = load(MemoryFolder({"extension.toml": text, **(files or {})}), "extension.toml")
        identity = self.packages.identify(Launcher(ENTRYPOINT, PROGRAM))
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
                    **(pinned or {}),
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

    def trust(
        self,
        verb: Callable[[TrustRequest, Any], Any],
        source: Source | None = None,
        *,
        extension_id: str | None = None,
        **settings: Any,
    ) -> Any:
        """Call `install` or `upgrade` with a manifest that was put here or an id, executed unless told otherwise."""
        path = source.path if source else None
        return verb(TrustRequest(extension_id, path, **{"execute": True, **settings}), self)

    def change(
        self, verb: Callable[[ChangeRequest, Any], Any], extension_id: str = "probe-me", **settings: Any
    ) -> Any:
        """Call `enable`, `disable` or `uninstall`, executed unless told otherwise."""
        return verb(ChangeRequest(extension_id, **{"execute": True, **settings}), self)

    def run(self, request: bytes = b"{}", *, extension_id: str = "probe-me", **settings: Any) -> Any:
        """Call the verb `run`, executed unless told otherwise."""
        return run(RunRequest(extension_id, request, **{"execute": True, **settings}), self)

    def doctor(self, extension_id: str = "probe-me", *, execute: bool = True) -> Any:
        """Call the verb `doctor`."""
        return doctor(ChangeRequest(extension_id, execute=execute), self)

    def publish(
        self, surface_id: str = "board", request: bytes = b"{}", *, extension_id: str = "probe-me", **settings: Any
    ) -> Any:
        """Call the verb `publish-projection`, executed unless told otherwise."""
        return publish(PublicationRequest(extension_id, surface_id, request, **{"execute": True, **settings}), self)

    def bind(self, capability_id: str = "weather", **settings: Any) -> Any:
        """Call the verb `capability bind`, executed unless told otherwise."""
        defaults = {"goal_id": "g1", "operations": ["inspect"], "provider_id": None, "execute": True}
        return bind(BindRequest(capability_id, **{**defaults, **settings}), self)

    def unbind(self, capability_id: str = "weather", **settings: Any) -> Any:
        """Call the verb `capability unbind`, executed unless told otherwise."""
        return unbind(UnbindRequest(capability_id, **{"goal_id": "g1", "execute": True, **settings}), self)

    def invoke(self, capability_id: str = "weather", request: bytes = b"{}", **settings: Any) -> Any:
        """Call the verb `capability invoke`, executed unless told otherwise."""
        defaults = {"goal_id": "g1", "operation_id": "inspect", "references": {"repo": "here"}, "execute": True}
        return invoke(InvokeRequest(capability_id, request, **{**defaults, **settings}), self)

    def command_host(self, *, execute: bool) -> object:
        """Return what a scripted command is given and never uses."""
        return execute

    def command(self, name: str, *arguments: str, execute: bool = True) -> dict[str, Any] | None:
        """Call the verb behind the command of a package, executed unless told otherwise."""
        return package_command(PackageCommandRequest(name, list(arguments), execute=execute), self)

    def raw(self, extension_id: str = "probe-me") -> dict[str, Any]:
        """Return the entry as it stands in the state file."""
        raw = self.store.document["extensions"][extension_id]
        assert isinstance(raw, dict)
        return raw

    def entry(self, extension_id: str = "probe-me") -> Entry:
        """Return the entry as the lifecycle reads it."""
        return State.parse(self.store.data, self.store.location).entry(extension_id)


def timeless(raw: Any) -> dict[str, Any]:
    """Return an entry as extension-formats say it stands in a plan: without times, of the proof what was proved."""
    revisions = [{key: one[key] for key in one if key != "installed_at"} for one in raw["revisions"]]
    kept = {key: raw[key] for key in raw if key != "history"}
    return {**kept, "revisions": revisions, "proof": raw["proof"] and raw["proof"]["identity"]}


def refusal_of(call: Callable[[], object]) -> Refused:
    """Return the refusal `call` is met with."""
    try:
        call()
    except Refused as refused:
        return refused
    raise AssertionError("it was not refused")


def code_of(call: Callable[[], object]) -> str:
    """Return the code `call` is refused with."""
    return refusal_of(call).code
