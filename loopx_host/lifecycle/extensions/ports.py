"""What the lifecycle needs from outside; each port has one adapter and one contract suite.

A use case says which ports it needs by a Protocol of the ``Has…`` ones below; whatever assembles the adapters has
all of them and satisfies it by structure.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypedDict

    from loopx_host.documents.discovery_index import IndexUse, Offer
    from loopx_host.documents.host_doctor import Reach
    from loopx_host.documents.parts import Distribution, EntryPoints
    from loopx_host.lifecycle.extensions.identity import BytecodeKey, Launcher, LauncherNotFound, RuntimeIdentity
    from loopx_host.lifecycle.extensions.process import Ended, Launch
    from loopx_host.lifecycle.extensions.state import Replacement
    from loopx_host.registry.catalog import TrainMember
    from loopx_host.registry.manifest import Runtime

    class Finding(TypedDict):
        """What an operator should know of the packages here; `check` is the row it belongs to in the doctor."""

        check: str
        code: str
        subject: str
        summary: str


class StateStore(Protocol):
    """The activation state file: bounded reads, and changes that are all or nothing."""

    @property
    def location(self) -> str:
        """The path of the state file, for messages."""
        ...

    def read(self) -> bytes | None:
        """Return the file's bytes, or None when there is none. Takes no lock, creates nothing.

        Raises Refused: `state_unsafe`, `state_unreadable`, `state_damaged` (larger than its bound).
        """
        ...

    def change(self, edit: Callable[[bytes | None], Replacement]) -> None:
        """Replace the file by ``edit(bytes now)`` under the lock, durably, or leave it as it was.

        The schemas a replacement brings are kept before it and those it no longer refers to dropped after it.
        Raises Refused: those of `read`, `lock_busy`, `state_unwritable`, and whatever `edit` raises.
        """
        ...

    def read_schema(self, digest: str) -> bytes | None:
        """Return a kept schema file by its SHA-256, or None when it is gone or has other bytes."""
        ...

    def preserve(self, data: bytes, mark: str, is_copy: Callable[[bytes], bool]) -> str:
        """Keep a copy of a damaged state file beside it, named after `mark`; return its path, as shown.

        `mark` is at least 8 hex digits that name the damage. Made once: what is there under that name stays when
        `is_copy` says that it holds the same damage; anything else is left alone, and the copy gets another name.
        Raises Refused `state_unwritable`, `state_unsafe`.
        """
        ...

    def set_aside(self, is_damaged: Callable[[], bool], empty: bytes) -> str | None:
        """Move the state file to a name that says it is damaged, under the lock; return its path, as shown.

        Where a link leads to it, `empty` takes its place, so that the link still leads somewhere. None when
        `is_damaged`, asked again under the lock, says that somebody mended it meanwhile.

        Raises Refused: `lock_busy`, `state_unwritable`, `state_unsafe`.
        """
        ...


class Packages(Protocol):
    """Launchers and the identity of what stands behind them."""

    def resolve(self, runtime: Runtime, folder: str | None) -> Launcher | LauncherNotFound:
        """Find the launcher a manifest names: the host's scripts directory, then PATH, or a path.

        A relative path is taken from `folder`. Raises Refused `entrypoint_path` when the path found cannot be
        kept in a state file (it is not UTF-8).
        """
        ...

    def identify(self, launcher: Launcher) -> RuntimeIdentity | None:
        """Return the identity of the very path that is executed, or None when it cannot be executed."""
        ...

    def owner(self, launcher: Launcher) -> Distribution | None:
        """Return name and version of the distribution that carries the launcher, or None: unowned."""
        ...

    def entry_points(self, launcher: Launcher, extension_id: str) -> EntryPoints:
        """Return rows of name and value, sorted: `plugins` of this extension and `commands`, from metadata alone.

        They are what the distribution that carries the launcher advertises; malformed ones are left out. One that
        lies in another environment than the host cannot be loaded into it and has none.
        """
        ...

    def mounted_noexec(self, programs: list[str]) -> str | None:
        """Return the first of these files that may be executed but for the file system it lies on, or None."""
        ...

    def foreign_module(self, launcher: Launcher, extension_id: str) -> str | None:
        """Return a module that is to run as the extension's and that its own distribution does not carry, or None.

        That is one of hooks or a command, or the module of a provider whose extension another distribution offers.
        """
        ...

    def remember(self, identity: RuntimeIdentity) -> None:
        """Keep, as a cache, the per-file digests behind an identity that was proved."""
        ...

    def touched(self, identity: RuntimeIdentity) -> list[str]:
        """Name the covered files whose stat is not what it was when this port took `identity`, even if put back."""
        ...

    def is_as_taken(self, identity: RuntimeIdentity) -> bool:
        """Whether no file and no directory that decided `identity` has another stat than when this port took it."""
        ...

    def explain(self, proved: str, now: RuntimeIdentity, changed: list[str]) -> list[str]:
        """Name the files and libraries that differ from the identity `proved`, as far as they are remembered."""
        ...

    def pip_command(self, owner: Distribution, launcher: str | None = None) -> str | None:
        """Return the command that would put a distribution back, into the environment `launcher` lies in.

        It is shown to a person and never run. None for a name or version that is none.
        """
        ...

    def bytecode_cache(self, key: BytecodeKey) -> str | None:
        """Return the host-owned directory with the byte code of a key, or None when there is none."""
        ...

    def new_bytecode(self, key: BytecodeKey) -> str | None:
        """Return a path that is not there yet, for the process port to bring byte code to, or None."""
        ...

    def keep_bytecode(self, key: BytecodeKey, new: str, *, proved: bool) -> None:
        """Make what was brought to the place `new` the byte code of a key that is `proved`, or drop it.

        Whatever else was kept for the extension goes: of another revision, of another proof, of its hooks.
        """
        ...

    def forget_bytecode(self, extension_id: str) -> None:
        """Remove all byte code that is kept for an extension, if any."""
        ...

    def version(self, program: str, places: list[str], *, ask: bool) -> str | None:
        """Return the version that a program says with `places` as its PATH, or None.

        Without `ask` nothing is started: it is the remembered one of an unchanged program. Asking is a bounded run.
        """
        ...

    def platform(self) -> str:
        """Name the platform a proof holds for."""
        ...


class Discovery(Protocol):
    """What the environment offers, from package metadata alone."""

    def offers(self, *, rebuild: bool) -> tuple[list[Offer], IndexUse]:
        """Return (rows of `registry.offers`, what became of the index)."""
        ...

    def train(self) -> list[TrainMember]:
        """Return the extensions of the release train, installed or not, by distribution and id."""
        ...

    def findings(self) -> list[Finding]:
        """Return what is damaged, left over, doubled or executed at start: rows of check, code, subject, summary."""
        ...


class Processes(Protocol):
    """Runs one bounded process at a time and ends all it started."""

    def run(self, launch: Launch) -> Ended:
        """Run to the end or to a bound, with no rights but the grants. Never raises for what the provider does.

        Raises Refused `containment_unavailable` before the start where a demanded level cannot be reached, and
        Interrupted after everything has ended when a signal asked the host to stop.
        """
        ...


class Projections(Protocol):
    """The views that extensions published; all or nothing, private, and never part of the activation state."""

    def publish(self, extension_id: str, surface_id: str, data: bytes) -> None:
        """Replace what is published on one surface, durably, or leave it as it was.

        Raises Refused: `state_unwritable`.
        """
        ...

    def read(self, extension_id: str, surface_id: str) -> bytes | None:
        """Return what is published on one surface; None when nothing is, no bytes at all when it cannot be read."""
        ...

    def published_by(self, extension_id: str) -> dict[str, str]:
        """Return file name → SHA-256 of all that one extension published, empty for what cannot be read."""
        ...

    def remove(self, extension_id: str) -> None:
        """Remove all that one extension published, if anything. Raises Refused: `state_unwritable`."""
        ...


class Clock(Protocol):
    """Time and names that must be unique."""

    def now(self) -> str:
        """Return the time as RFC 3339 UTC, whole seconds."""
        ...

    def run_id(self) -> str:
        """Return 24 unpredictable hex digits."""
        ...


class ContainmentProbe(Protocol):
    """The levels of containment (contract section 6) that can be reached here."""

    def reach(self) -> Reach:
        """Return `default`, the level a run has here without asking, `highest`, and `reasons` why not more."""
        ...


class HasStore(Protocol):
    """Has the activation state."""

    @property
    def store(self) -> StateStore:
        """The port."""
        ...


class HasPackages(Protocol):
    """Has launchers and identities."""

    @property
    def packages(self) -> Packages:
        """The port."""
        ...


class HasProcesses(Protocol):
    """Has bounded processes."""

    @property
    def processes(self) -> Processes:
        """The port."""
        ...


class HasClock(Protocol):
    """Has time and unique names."""

    @property
    def clock(self) -> Clock:
        """The port."""
        ...


class HasDiscovery(Protocol):
    """Has what the environment offers."""

    @property
    def discovery(self) -> Discovery:
        """The port."""
        ...


class HasProjections(Protocol):
    """Has published views."""

    @property
    def projections(self) -> Projections:
        """The port."""
        ...


class HasContainmentProbe(Protocol):
    """Has levels of containment."""

    @property
    def containment_probe(self) -> ContainmentProbe:
        """The port."""
        ...


class CanProve(HasStore, HasPackages, HasProcesses, HasClock, Protocol):
    """Has what probing a program and recording the proof takes."""
