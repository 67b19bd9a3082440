"""The packages port: launchers found, identities computed, byte code kept by identity."""

from __future__ import annotations

import json
import os
import sys
import time

from loopx_host.adapters.files import atomic, bounded, paths
from loopx_host.adapters.packages.fingerprints import Memory, Watch, hashed, is_settled, is_unchanged, touched
from loopx_host.adapters.packages.shebang import is_program
from loopx_host.core.canonical import canonical_digest
from loopx_host.core.digest import sha256_hex
from loopx_host.core.text import visible
from loopx_host.lifecycle.extensions.identity import RuntimeIdentity

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import TypeGuard

    from loopx_host.adapters.packages.fingerprints import StatRows
    from loopx_host.adapters.packages.programs import Programs
    from loopx_host.documents.parts import Distribution, EntryPoints
    from loopx_host.lifecycle.extensions.identity import BytecodeKey, IdentityDetails, Launcher, LauncherNotFound
    from loopx_host.registry.manifest import Runtime

_PROVED_BYTES = 32 * 1024 * 1024
_ADMINISTRATIVE = ("RECORD", "pyvenv.cfg")  # they say that something changed and not what
_NAMED = 10  # how many differences are named; the groups say that there are any


class InstalledPackages:
    """What is installed on this machine; `programs` brings what finds prerequisites, if the verb may start any."""

    def __init__(self, programs: Callable[[], Programs] | None = None) -> None:
        self._programs = programs
        self._taken: dict[str, tuple[StatRows, int]] = {}  # what each identity came from, and when
        self._memories: dict[tuple[str, str], Memory] = {}  # read once; what they say is looked at each time

    def resolve(self, runtime: Runtime, folder: str | None) -> Launcher | LauncherNotFound:
        """Find the launcher a manifest names (see the port)."""
        from loopx_host.adapters.packages import launchers

        return launchers.resolve(runtime, folder)

    def identify(self, launcher: Launcher) -> RuntimeIdentity | None:
        """Return the identity of `launcher` (see the port); one stat per covered file while nothing changed."""
        if not is_program(launcher.path):
            return None
        began_ns = time.time_ns()
        memory = self._memory(launcher)
        remembered = memory.result()
        if remembered is not None and _is_identity(remembered):
            result, rows = remembered, memory.rows
        else:
            computed, rows = _computed(launcher, memory)
            if computed is None:
                return None
            result = computed
        identity = RuntimeIdentity(result["groups"], result["launcher_sha256"], result)
        self._taken[identity.digest] = (rows, began_ns)
        return identity

    def _memory(self, launcher: Launcher) -> Memory:
        key = (_key(launcher), _context(launcher))
        if key not in self._memories:
            self._memories[key] = Memory(*key)
        return self._memories[key]

    def touched(self, identity: RuntimeIdentity) -> list[str]:
        """Name the files that were written since `identity` was taken (see the port)."""
        rows, since_ns = self._taken.get(identity.digest, ({}, 0))
        return [visible(os.path.basename(path)) for path in touched(rows, since_ns)]

    def is_as_taken(self, identity: RuntimeIdentity) -> bool:
        """Whether nothing that decided `identity` has another stat (see the port)."""
        rows, since_ns = self._taken.get(identity.digest, ({}, 0))
        return is_settled(rows, since_ns) and is_unchanged(rows)

    def owner(self, launcher: Launcher) -> Distribution | None:
        """Return the distribution that carries the launcher (see the port)."""
        identity = self.identify(launcher)
        return identity.details["owner"] if identity else None

    def entry_points(self, launcher: Launcher, extension_id: str) -> EntryPoints:
        """Return what the owner of a launcher brings into the host (see the port)."""
        owner = self.owner(launcher)
        if owner is None:
            return {"plugins": [], "commands": []}
        from loopx_host.adapters.packages.plugin_loading import advertised

        return advertised(owner, extension_id)

    def mounted_noexec(self, programs: list[str]) -> str | None:
        """Return the first file that lies on a file system which executes nothing (see the port)."""
        from loopx_host.adapters.packages import launchers

        return next(filter(launchers.is_mounted_noexec, programs), None)

    def foreign_module(self, launcher: Launcher, extension_id: str) -> str | None:
        """Return a module that is named for an extension and belongs to somebody else (see the port)."""
        owner = self.owner(launcher)
        if launcher.module is not None:
            from loopx_host.adapters.packages.carriage import is_foreign_module

            if is_foreign_module(extension_id, owner):
                return launcher.module
        if owner is None:
            return None
        from loopx_host.adapters.packages.plugin_loading import foreign_entry

        return foreign_entry(owner, extension_id)

    def remember(self, identity: RuntimeIdentity) -> None:
        """Keep the per-file digests of what was proved (see the port)."""
        path = _proved_path(identity.digest)
        details = {
            "files": identity.details.get("files", {}),
            "closure": identity.details.get("closure", {}),
            "started": identity.details.get("started", []),
            "programs": identity.details.get("programs", {}),
            "hashed": hashed(self._taken.get(identity.digest, ({}, 0))[0]),
        }
        try:
            paths.make_private(os.path.dirname(path))
            atomic.replace(path, json.dumps(details).encode("ascii"))
        except OSError:
            pass

    def explain(self, proved: str, now: RuntimeIdentity, changed: list[str]) -> list[str]:
        """Name what differs from what was proved (see the port)."""
        try:
            then = json.loads(bounded.read_regular(_proved_path(proved), _PROVED_BYTES))
        except (OSError, ValueError, RecursionError):
            return []
        if not isinstance(then, dict):
            return []
        differing: list[str] = []
        if "distribution" in changed:
            differing += _differing(then.get("files"), now.details.get("files", {}))
        if "programs" in changed:
            differing += _differing(then.get("programs"), now.details.get("programs", {}))
        if "closure" in changed:
            differing += _differing(then.get("closure"), now.details.get("closure", {}))
            if all(row.endswith("(changed)") for row in differing):
                differing += self._differing_files(then.get("hashed"), now)
        if "pth" in changed:
            differing += _started(then.get("started"), now.details.get("started", []))
        return differing[:_NAMED]

    def _differing_files(self, then: object, now: RuntimeIdentity) -> list[str]:
        """Name the files of required distributions that differ; those of the owner are named by their group."""
        own = tuple("/" + name.lstrip("./") for name in now.details.get("files", {}))
        ignored = (*own, *(f"/{name}" for name in _ADMINISTRATIVE))
        rows = _differing(then, hashed(self._taken.get(now.digest, ({}, 0))[0]))
        return [row for row in rows if not row.rpartition(" (")[0].endswith(ignored)]

    def pip_command(self, owner: Distribution, launcher: str | None = None) -> str | None:
        """Return the command that would put a distribution back (see the port)."""
        from loopx_host.adapters.packages.owners import pip_command

        return pip_command(owner, launcher)

    def version(self, program: str, places: list[str], *, ask: bool) -> str | None:
        """Return the version of a program (see the port)."""
        return self._programs().version(program, places, ask=ask) if self._programs is not None else None

    def bytecode_cache(self, key: BytecodeKey) -> str | None:
        """Return ``<cache>/pycache/<extension>/<key>`` if it is there (see the port)."""
        path = os.path.join(paths.bytecode(key.extension_id), key.digest)
        return path if os.path.isdir(path) else None

    def new_bytecode(self, key: BytecodeKey) -> str | None:
        """Return a path beside those of the extension, which is not there yet (see the port)."""
        from loopx_host.adapters.packages import bytecode_store

        return bytecode_store.new(key)

    def keep_bytecode(self, key: BytecodeKey, new: str, *, proved: bool) -> None:
        """Make new byte code all that is kept for an extension, or drop it (see the port)."""
        from loopx_host.adapters.packages import bytecode_store

        bytecode_store.keep(key, new) if proved else bytecode_store.drop(new)

    def forget_bytecode(self, extension_id: str) -> None:
        """Remove ``<cache>/pycache/<extension>`` (see the port)."""
        from loopx_host.adapters.packages import bytecode_store

        bytecode_store.forget(extension_id)

    def platform(self) -> str:
        """Name kernel and machine, such as ``linux-x86_64``."""
        return f"{sys.platform}-{os.uname().machine}"


def _key(launcher: Launcher) -> str:
    """Return what identifies a launcher; two extensions may have one program, and look for others elsewhere."""
    where = canonical_digest([launcher.search_path, launcher.requires])
    return f"{launcher.kind}:{launcher.module}:{launcher.path}:{where}"


def _context(launcher: Launcher) -> str:
    """Return what decides an identity besides files: where this interpreter and the provider's own look."""
    named = [os.environ.get(name, "") for name in ("HOME", *launcher.variables)]
    return canonical_digest([*map(visible, [*sys.path, *named]), launcher.variables])


def _computed(launcher: Launcher, memory: Memory) -> tuple[IdentityDetails | None, StatRows]:
    """Compute the identity anew; only what a stat says has changed is hashed. Return it and what it came from."""
    from loopx_host.adapters.packages import content

    watch = Watch(memory.rows)
    result = content.compute(launcher, watch)
    if result is not None:
        memory.keep(watch, result)
    return result, watch.rows


def _is_identity(result: Mapping[str, object]) -> TypeGuard[IdentityDetails]:
    """Whether a remembered result has the types of `content.compute`; a cache may hold anything."""
    groups, owner = result.get("groups"), result.get("owner", "")
    named = isinstance(owner, dict) and all(isinstance(owner.get(key), str) for key in ("name", "version"))
    return (
        isinstance(groups, dict)
        and all(isinstance(digest, str) for digest in groups.values())
        and isinstance(result.get("launcher_sha256"), str)
        and (owner is None or named)
        and all(isinstance(result.get(key), dict) for key in ("files", "closure", "programs"))
        and _are_texts(result.get("search_path"))
        and _are_pairs(result.get("started"))
        and _are_needs(result.get("needs"))
    )


def _are_pairs(rows: object) -> bool:
    return isinstance(rows, list) and all(
        isinstance(row, list) and len(row) == 2 and all(isinstance(word, str) for word in row)  # noqa: PLR2004
        for row in rows
    )


def _are_needs(needs: object) -> bool:
    if not isinstance(needs, dict):
        return False
    return all(_are_texts(needs.get(key)) for key in ("reads", "lists"))


def _are_texts(found: object) -> bool:
    return isinstance(found, list) and all(isinstance(one, str) for one in found)


def _proved_path(digest: str) -> str:
    return os.path.join(paths.cache_root(), "proved", f"{sha256_hex(digest.encode())[:32]}.json")


def _differing(then: object, now: Mapping[str, object]) -> list[str]:
    """Return one word for each name that differs: what it was and is where that is short (a version).

    `then` is from a cache, which may hold anything.
    """
    if not isinstance(then, dict):
        return []
    return [
        _difference(name, then.get(name), now.get(name))
        for name in sorted(then.keys() | now.keys())
        if then.get(name) != now.get(name)
    ]


def _started(then: object, now: list[list[str]]) -> list[str]:
    """Return a sentence for each thing of the start of Python that is new or gone; `then` is from a cache."""
    before = {str(what): str(says) for what, says in then} if _are_pairs(then) and isinstance(then, list) else {}
    after = {what: says for what, says in now}  # noqa: C416 (pairs are lists)
    if before.keys() == after.keys():
        return ["the order in which `.pth` files add to the search path"]
    new = [f"{says} (new)" for what, says in after.items() if what not in before]
    gone = [f"{says} (no longer)" for what, says in before.items() if what not in after]
    return [*new, *gone]


def _difference(name: str, then: object, now: object) -> str:
    if isinstance(then, list) and isinstance(now, list) and then[:1] != now[:1]:
        return f"{name} {then[0]} → {now[0]}"
    return f"{name} ({'added' if then is None else 'removed' if now is None else 'changed'})"
