"""The composition root: one lazy property per adapter, each built and imported when a use case first asks for it.

It has no verb: a use case takes it as its ports, by structure, and gets just what its Protocol names.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from functools import cached_property as lazy

    from loopx_host.adapters.clock import SystemClock
    from loopx_host.adapters.files.exports import ExportFiles
    from loopx_host.adapters.files.inputs import Inputs
    from loopx_host.adapters.files.new_tree import NewDirectories
    from loopx_host.adapters.files.projections import FileProjections
    from loopx_host.adapters.files.references import LocalReferences
    from loopx_host.adapters.files.reports import Reports
    from loopx_host.adapters.files.state_store import FileStateStore
    from loopx_host.adapters.files.temporary_home import TemporaryHomes
    from loopx_host.adapters.packages.command_list import CommandList
    from loopx_host.adapters.packages.environment import LocalEnvironment
    from loopx_host.adapters.packages.installed import InstalledPackages
    from loopx_host.adapters.packages.programs import Programs
    from loopx_host.adapters.packages.sources import AuthorPackages, ManifestSources
    from loopx_host.adapters.packages.taken_names import LocalNames
    from loopx_host.adapters.process.confinement import Level
    from loopx_host.adapters.process.containment_probe import ForkedContainmentProbe
    from loopx_host.adapters.process.interrupts import Interrupts
    from loopx_host.adapters.process.judge import ForkedJudge
    from loopx_host.adapters.process.plugin_process import ForkedPlugins
    from loopx_host.adapters.process.runner import ProcessRunner
    from loopx_host.adapters.process.warm import WarmSupervisors
    from loopx_host.adapters.startup import StartUp
    from loopx_host.assembly.command_host import LocalCommandHost
else:

    class lazy:  # noqa: N801 (stands in for functools.cached_property, whose import is not on the start-up path)
        """A property that is computed once and then stands in the instance."""

        def __init__(self, build):  # noqa: ANN001, ANN204
            self._build = build
            self._name = build.__name__

        def __get__(self, container, owner):  # noqa: ANN001, ANN204
            value = container.__dict__[self._name] = self._build(container)
            return value


class Settings:
    """Which state a host works on, and what it may start.

    `containment` names the level at which providers run or else do not run; without it, it is the default one. With
    `no_extensions` nothing that an extension brought is run. `waiting` hears of long runs (see `ProcessRunner`).
    `kept_root` is the runtime root where none was given, for a program that may change its environment meanwhile.
    """

    __slots__ = ("containment", "kept_root", "no_extensions", "runtime_root", "state_file", "waiting")

    def __init__(
        self,
        state_file: str | None = None,
        runtime_root: str | None = None,
        *,
        containment: str | None = None,
        no_extensions: bool = False,
        waiting: Callable[[float], None] | None = None,
        kept_root: str | None = None,
    ) -> None:
        self.kept_root = kept_root
        self.state_file = state_file
        self.runtime_root = runtime_root
        self.containment = containment
        self.no_extensions = no_extensions
        self.waiting = waiting

    @property
    def root(self) -> str | None:
        """The runtime root that was given or kept; None for that of the environment."""
        return self.runtime_root or self.kept_root

    @property
    def options(self) -> tuple[str, ...]:
        """The global options that a suggested command must repeat to mean the same state."""
        from loopx_host.core.text import visible

        given = (
            ("--state-file", self.state_file),
            ("--runtime-root", self.runtime_root),
            ("--containment", self.containment),
        )
        return tuple(part for flag, value in given if value is not None for part in (flag, visible(value)))


class Container:
    """The adapters of one command, or of one call of an embedding program.

    What an adapter keeps of one call, the files it looked at first of all, is never shared with another. Only
    `supervisors` is, the helper of a program that makes many calls, from several threads; without it a process that
    serves one command forks its supervisors itself.
    """

    def __init__(self, settings: Settings | None = None, supervisors: WarmSupervisors | None = None) -> None:
        self.settings = settings or Settings()
        self.supervisors = supervisors

    @property
    def is_off(self) -> bool:
        """Whether the host runs bare: nothing that an extension brought is started or loaded."""
        import os

        return self.settings.no_extensions or os.environ.get("LOOPX_NO_EXTENSIONS", "") not in ("", "0")

    @lazy
    def level(self) -> Level | None:
        """The level of containment asked for. Raises Refused `containment_unknown`."""
        import os

        asked_for = self.settings.containment
        named = asked_for if asked_for is not None else os.environ.get("LOOPX_CONTAINMENT")
        if not named:
            return None
        from loopx_host.adapters.process.confinement import level_named

        return level_named(named)

    @lazy
    def interrupts(self) -> Interrupts:
        """The signals that ask the host to stop."""
        from loopx_host.adapters.process.interrupts import Interrupts

        return Interrupts()

    @lazy
    def clock(self) -> SystemClock:
        """Time and unique names."""
        from loopx_host.adapters.clock import SystemClock

        return SystemClock()

    @lazy
    def store(self) -> FileStateStore:
        """The activation state file."""
        from loopx_host.adapters.files.state_store import FileStateStore

        settings = self.settings
        return FileStateStore.at(settings.state_file, settings.root, self.interrupts.check)

    @lazy
    def bindings(self) -> FileStateStore:
        """The bindings of goals, beside the state file."""
        from loopx_host.adapters.files.state_store import FileStateStore

        settings = self.settings
        return FileStateStore.beside(settings.state_file, settings.root, "bindings.json", self.interrupts.check)

    @lazy
    def projections(self) -> FileProjections:
        """The views that extensions published."""
        from loopx_host.adapters.files.projections import FileProjections

        return FileProjections.at(self.settings.state_file, self.settings.root)

    @lazy
    def references(self) -> LocalReferences:
        """The paths of context references."""
        from loopx_host.adapters.files.references import LocalReferences

        return LocalReferences()

    @lazy
    def inputs(self) -> Inputs:
        """Files and standard input that a caller hands over."""
        from loopx_host.adapters.files.inputs import Inputs

        return Inputs(self.interrupts)

    @lazy
    def exports(self) -> ExportFiles:
        """Export files."""
        from loopx_host.adapters.files.exports import ExportFiles

        return ExportFiles()

    @lazy
    def new_trees(self) -> NewDirectories:
        """Directories that do not exist yet."""
        from loopx_host.adapters.files.new_tree import NewDirectories

        return NewDirectories()

    @lazy
    def temporary_homes(self) -> TemporaryHomes:
        """Homes that a provider under test may write to."""
        from loopx_host.adapters.files.temporary_home import TemporaryHomes

        return TemporaryHomes()

    @lazy
    def taken_names(self) -> LocalNames:
        """The names that somebody holds in this environment."""
        from loopx_host.adapters.packages.taken_names import LocalNames

        return LocalNames()

    @lazy
    def reports(self) -> Reports:
        """Reports of internal errors."""
        from loopx_host.adapters.files.reports import Reports

        return Reports()

    @lazy
    def discovery(self) -> LocalEnvironment:
        """What the environment offers."""
        from loopx_host.adapters.packages.environment import LocalEnvironment

        return LocalEnvironment()

    @lazy
    def command_list(self) -> CommandList:
        """The commands that packages bring, as the top help shows them."""
        from loopx_host.adapters.packages.command_list import CommandList

        return CommandList()

    @lazy
    def sources(self) -> ManifestSources:
        """Manifests by path."""
        from loopx_host.adapters.packages.sources import ManifestSources

        return ManifestSources(self.discovery, self.judging.check)

    @lazy
    def package_sources(self) -> AuthorPackages:
        """Packages that an author points at."""
        from loopx_host.adapters.packages.sources import AuthorPackages

        return AuthorPackages(self.sources, self.inputs)

    @lazy
    def packages(self) -> InstalledPackages:
        """Launchers and identities; prerequisites are started only by a verb that may."""
        from loopx_host.adapters.packages.installed import InstalledPackages

        return InstalledPackages(lambda: self.programs)

    @lazy
    def programs(self) -> Programs:
        """Prerequisites, asked for their versions."""
        from loopx_host.adapters.packages.programs import Programs

        return Programs(self.processes)

    @lazy
    def processes(self) -> ProcessRunner:
        """Bounded processes."""
        from loopx_host.adapters.process.runner import ProcessRunner
        from loopx_host.lifecycle.dispatch.call_provider import refuse_when_off

        return ProcessRunner(
            self.interrupts,
            warm=self.supervisors,
            waiting=self.settings.waiting,
            level=self.level,
            before_start=lambda: refuse_when_off(self),
        )

    @lazy
    def containment_probe(self) -> ForkedContainmentProbe:
        """The levels of containment that this machine reaches."""
        from loopx_host.adapters.process.containment_probe import ForkedContainmentProbe

        return ForkedContainmentProbe()

    @lazy
    def judging(self) -> ForkedJudge:
        """Third parties' schemas, judged in a child: of this process, or of the helper of an embedding program."""
        if self.supervisors is not None:
            from loopx_host.adapters.process.warm_judge import WarmJudge

            return WarmJudge(self.supervisors)
        from loopx_host.adapters.process.judge import ForkedJudge

        return ForkedJudge(self.interrupts)

    @lazy
    def plugins(self) -> ForkedPlugins:
        """What packages bring into the host, run in a child."""
        from loopx_host.adapters.packages.plugin_loading import load
        from loopx_host.adapters.process.plugin_process import ForkedPlugins

        return ForkedPlugins(self.interrupts, load)

    @lazy
    def start_up(self) -> StartUp:
        """How long this installation takes to start."""
        from loopx_host.adapters.startup import StartUp

        return StartUp(self.interrupts)

    def command_host(self, *, execute: bool) -> LocalCommandHost:
        """Return the host as a package's command sees it; without `execute` all it does is preview."""
        from loopx_host.assembly.command_host import LocalCommandHost

        return LocalCommandHost(self, execute=execute)
