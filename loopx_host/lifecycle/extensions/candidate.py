"""The program behind an extension, as it lies here now: found, identified, and whether it can be started."""

from __future__ import annotations

from loopx_host.core.errors import refusal
from loopx_host.core.text import one_line
from loopx_host.lifecycle.extensions.identity import BytecodeKey, Launcher, LauncherNotFound
from loopx_host.lifecycle.extensions.prerequisites import prerequisite_refusal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from loopx_host.core.errors import Refused
    from loopx_host.lifecycle.extensions.identity import RuntimeIdentity
    from loopx_host.lifecycle.extensions.ports import Packages
    from loopx_host.lifecycle.extensions.state import Entry
    from loopx_host.registry.manifest import Manifest, Runtime


class Program:
    """What one launch executes: the runtime a manifest declares, the launcher behind it, what both are made of."""

    __slots__ = ("bytecode_key", "identity", "launcher", "runtime")

    def __init__(self, manifest: Manifest, runtime: Runtime, launcher: Launcher, identity: RuntimeIdentity) -> None:
        self.runtime = runtime
        self.launcher = launcher
        self.identity = identity
        self.bytecode_key = BytecodeKey(manifest.id, manifest.digest, identity.digest)


class Candidate:
    """A program that is to be proved: looked for, perhaps not found, perhaps not executable (`identity` is None)."""

    __slots__ = ("identity", "launcher", "runtime")

    def __init__(
        self, runtime: Runtime, launcher: Launcher | LauncherNotFound, identity: RuntimeIdentity | None
    ) -> None:
        self.runtime = runtime
        self.launcher = launcher
        self.identity = identity

    @classmethod
    def resolve(cls, runtime: Runtime, folder: str | None, packages: Packages) -> Candidate:
        """Look for the launcher anew, relative paths from `folder`; a pin does not count (extension-formats)."""
        return cls._identified(runtime, packages.resolve(runtime, folder), packages)

    @classmethod
    def pinned(cls, entry: Entry, runtime: Runtime, packages: Packages) -> Candidate:
        """Take the launcher the active revision is pinned to; an entry of a v0 tool has no pin and is resolved."""
        pin = entry.active.launcher
        if pin is None:
            return cls.resolve(runtime, entry.active.folder, packages)
        return cls._identified(runtime, Launcher.from_pin(pin, runtime, entry.active.search_path), packages)

    @classmethod
    def _identified(cls, runtime: Runtime, launcher: Launcher | LauncherNotFound, packages: Packages) -> Candidate:
        return cls(runtime, launcher, packages.identify(launcher) if isinstance(launcher, Launcher) else None)

    def startable(
        self, manifest: Manifest, packages: Packages, retry_command: tuple[str, ...], *, may_start: bool
    ) -> Program | Refused:
        """Return the program of a manifest, or what the environment puts in its way.

        A preview shows that, a verb raises it.

        `may_start` lets a prerequisite be started for its version; a preview starts nothing. The refusals are
        `entrypoint_missing`, `entry_point_foreign` and ``<name>_unavailable``.
        """
        if isinstance(self.launcher, LauncherNotFound) or self.identity is None:
            return entrypoint_missing(self.launcher, packages, retry_command)
        foreign = packages.foreign_module(self.launcher, manifest.id)
        if foreign is not None:
            return entry_point_foreign(manifest.id, foreign, retry_command)
        lacking = prerequisite_refusal(manifest.id, self.runtime, self.identity, packages, may_start=may_start)
        return lacking or Program(manifest, self.runtime, self.launcher, self.identity)


def entry_point_foreign(extension_id: str, module: str, next_command: tuple[str, ...]) -> Refused:
    """Return the refusal of an extension that would have another package's module run as its own."""
    shown = one_line(module, 100)
    return refusal(
        "entry_point_foreign",
        extension_id,
        f"extension `{extension_id}` names the module `{shown}`, which its own package does not carry",
        hint="an entry point names a module of its own package; that module may import others",
        next_command=next_command,
        module=shown,
    )


def entrypoint_missing(
    launcher: Launcher | LauncherNotFound, packages: Packages, retry_command: tuple[str, ...]
) -> Refused:
    """Return the refusal of a launcher that was not found, or of a pinned one that is gone."""
    asked, searched = _looked_at(launcher)
    noexec = packages.mounted_noexec(asked)
    if noexec is not None:
        return refusal(
            "entrypoint_missing",
            noexec,
            f"`{noexec}` lies on a file system that is mounted noexec, which executes nothing",
            hint="install the package on another file system, or mount this one without noexec",
            next_command=retry_command,
            searched=searched,
        )
    if isinstance(launcher, LauncherNotFound):
        return refusal(
            "entrypoint_missing",
            launcher.name,
            f"`{launcher.name}` is not an executable in any of: {', '.join(launcher.searched) or 'no directory'}",
            hint="correct the path, or make the file executable (chmod +x)"
            if "/" in launcher.name
            else f"install the package that carries it into the environment loopx runs in: {launcher.environment}",
            next_command=retry_command,
            searched=searched,
        )
    return refusal(
        "entrypoint_missing",
        launcher.path,
        f"the pinned launcher {launcher.path} is not an executable file now",
        hint="put the package back where it was, then repeat the command",
        next_command=retry_command,
        searched=searched,
    )


def _looked_at(launcher: Launcher | LauncherNotFound) -> tuple[list[str], list[str]]:
    """Return the files that could have been the launcher, and every place looked at."""
    if not isinstance(launcher, LauncherNotFound):
        return [launcher.path], [launcher.path]
    places = [*launcher.searched]
    return places if "/" in launcher.name else [f"{place}/{launcher.name}" for place in places], places
