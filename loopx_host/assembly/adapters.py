"""What the operations are made of: one method per adapter, which is built and imported where it is needed."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypedDict

    from loopx_host.adapters.clock import SystemClock
    from loopx_host.adapters.files.projections import FileProjections
    from loopx_host.adapters.files.state_store import FileStateStore
    from loopx_host.adapters.packages.installed import InstalledPackages
    from loopx_host.adapters.packages.programs import Programs
    from loopx_host.adapters.process.confinement import Level
    from loopx_host.adapters.process.interrupts import Interrupts
    from loopx_host.adapters.process.judge import ForkedJudge
    from loopx_host.adapters.process.plugin_process import ForkedPlugins
    from loopx_host.adapters.process.runner import ProcessRunner
    from loopx_host.adapters.process.warm import WarmSupervisors
    from loopx_host.lifecycle.extensions.admission import Source

    class Ports(TypedDict):
        """The ports of a verb by the names its function takes."""

        store: FileStateStore
        packages: InstalledPackages
        processes: ProcessRunner
        clock: SystemClock


class Adapters:
    """The adapters of one command, or of one embedding program.

    `owns_process` says that this process serves one command only; `waiting` hears of long runs (see `ProcessRunner`).
    `containment` names the level at which providers run or else do not run; without it, it is the default one.
    With `no_extensions` nothing that an extension brought is run.
    """

    def __init__(
        self,
        state_file: str | None = None,
        runtime_root: str | None = None,
        *,
        owns_process: bool = False,
        waiting: Callable[[float], None] | None = None,
        containment: str | None = None,
        no_extensions: bool = False,
    ) -> None:
        self._no_extensions = no_extensions
        self._containment = containment
        self._warm: WarmSupervisors | None = None
        self._state_file = state_file
        self._runtime_root = runtime_root
        self._owns_process = owns_process
        self._waiting = waiting
        self._interrupts: Interrupts | None = None

    @property
    def options(self) -> tuple[str, ...]:
        """The global options that a suggested command must repeat to mean the same state."""
        from loopx_host.core.text import visible

        given = (
            ("--state-file", self._state_file),
            ("--runtime-root", self._runtime_root),
            ("--containment", self._containment),
        )
        return tuple(part for flag, value in given if value is not None for part in (flag, visible(value)))

    def handle_signals(self) -> None:
        """Turn INT, TERM and HUP into Interrupted; for the command line only."""
        self._signals().install()

    def begin_answer(self) -> None:
        """Say that only the answer is left to write, which a signal does not cut in half."""
        self._signals().answer()

    def check_signals(self) -> None:
        """Raise Interrupted if a signal came while the verb was at work."""
        self._signals().check()

    def close(self) -> None:
        """Let the helper process of an embedding program end."""
        if self._warm is not None:
            self._warm.close()

    def _source(self, manifest_path: str, *, by_id: bool = False) -> Source:
        """Load a manifest file. Raises Refused with the codes of `registry.load`."""
        from loopx_host.adapters.files.author_package import manifest_of
        from loopx_host.adapters.files.manifest_folder import open_manifest
        from loopx_host.adapters.files.paths import absolute
        from loopx_host.adapters.process.judge import ForkedJudge
        from loopx_host.core.text import visible
        from loopx_host.lifecycle.extensions.admission import Source
        from loopx_host.registry.load import load

        path = manifest_of(absolute(manifest_path))
        folder, name = open_manifest(path)
        manifest = load(folder, name, ForkedJudge(self._signals()).check)
        return Source(manifest, visible(path), folder.location, by_id=by_id, carrier=self._carrier(path))

    def _carrier(self, manifest_path: str) -> dict[str, str] | None:
        """Return the distribution that advertises the manifest at a path, or None."""
        from os.path import realpath

        from loopx_host.adapters.packages.environment import LocalEnvironment

        rows, _ = LocalEnvironment().offers(rebuild=False)
        same = (
            row for row in rows if row["manifest_path"] and realpath(row["manifest_path"]) == realpath(manifest_path)
        )
        return next((row["distribution"] for row in same), None)

    def _marked(self, receipt: dict[str, Any]) -> dict[str, Any]:
        """Bring the list of packages' commands, which help shows, up to date; pass the receipt on."""
        if receipt.get("changed", True):
            from loopx_host.adapters.packages import command_list
            from loopx_host.core.errors import Refused
            from loopx_host.lifecycle.extensions.activation import active_commands
            from loopx_host.lifecycle.extensions.state import State

            store = self._store()
            try:
                command_list.mark(active_commands(State.parse(store.read(), store.location)))
            except Refused:  # a damaged state says nothing of commands, and is told where it matters
                pass
        return receipt

    def _ports(self) -> Ports:
        """Return the adapters of a verb that may start a provider."""
        from loopx_host.adapters.clock import SystemClock

        return {
            "store": self._store(),
            "packages": self._packages(),
            "processes": self._processes(),
            "clock": SystemClock(),
        }

    def _store(self) -> FileStateStore:
        from loopx_host.adapters.files.state_store import FileStateStore

        return FileStateStore.at(self._state_file, self._runtime_root, self._signals().check)

    def _processes(self) -> ProcessRunner:
        from loopx_host.adapters.process.runner import ProcessRunner

        level = self._level()
        return ProcessRunner(
            self._signals(),
            warm=self._supervisors(),
            waiting=self._waiting,
            level=level,
            admit=self._refuse_when_off,
        )

    def _level(self) -> Level | None:
        """Return the level asked for. Raises Refused `containment_unknown`."""
        import os

        named = self._containment if self._containment is not None else os.environ.get("LOOPX_CONTAINMENT")
        if not named:
            return None
        from loopx_host.adapters.process.confinement import level_named

        return level_named(named)

    def load_ahead(self) -> None:
        """Import what a run needs: a program that forks while a thread imports may leave the child a held lock."""
        import contextlib
        import csv  # noqa: F401
        import email.headerregistry
        import email.parser
        import email.policy  # noqa: F401
        import glob  # noqa: F401
        import json  # noqa: F401
        import socket  # noqa: F401
        import subprocess  # noqa: F401

        import importlib_metadata
        import jsonschema_rs  # noqa: F401
        import packaging.requirements  # noqa: F401

        import loopx_host.adapters.clock
        import loopx_host.adapters.files.state_store
        import loopx_host.adapters.packages.content
        import loopx_host.adapters.packages.installed
        import loopx_host.adapters.packages.owners
        import loopx_host.adapters.packages.programs
        import loopx_host.adapters.process.confinement
        import loopx_host.adapters.process.descendants
        import loopx_host.adapters.process.environment
        import loopx_host.adapters.process.judge
        import loopx_host.adapters.process.run_spec
        import loopx_host.adapters.process.runner
        import loopx_host.adapters.process.supervisor
        import loopx_host.lifecycle.dispatch.run
        import loopx_host.lifecycle.dispatch.schemas
        import loopx_host.lifecycle.extensions.listing
        import loopx_host.registry.schemas  # noqa: F401
        from loopx_host.core.digest import new

        new()
        with contextlib.suppress(ImportError):  # what metadata are read with, today
            import importlib_metadata._adapters  # noqa: F401
        self._supervisors()

    def check_level(self) -> None:
        """Refuse a level of containment that is none, also for what starts nothing. Raises `containment_unknown`."""
        if self._containment is not None:
            self._level()

    def _supervisors(self) -> WarmSupervisors | None:
        """Return what forks supervisors for a program that is more than one command."""
        if self._owns_process:
            return None
        from loopx_host.adapters.process.warm import WarmSupervisors as Supervisors

        if self._warm is None:
            self._warm = Supervisors()
        return self._warm

    def _packages(self) -> InstalledPackages:
        """Return the packages port of a verb that may start something, prerequisites included."""
        from loopx_host.adapters.packages.installed import InstalledPackages

        return InstalledPackages(self._programs)

    def _programs(self) -> Programs:
        from loopx_host.adapters.packages.programs import Programs

        return Programs(self._processes())

    def _signals(self) -> Interrupts:
        from loopx_host.adapters.process.interrupts import Interrupts

        if self._interrupts is None:
            self._interrupts = Interrupts()
        return self._interrupts

    def _judging(self) -> ForkedJudge:
        from loopx_host.adapters.process.judge import ForkedJudge

        return ForkedJudge(self._signals())

    def _plugins(self) -> ForkedPlugins:
        from loopx_host.adapters.packages.plugin_loading import load
        from loopx_host.adapters.process.plugin_process import ForkedPlugins

        return ForkedPlugins(self._signals(), load)

    def _bindings(self) -> FileStateStore:
        from loopx_host.adapters.files.state_store import FileStateStore

        return FileStateStore.beside(self._state_file, self._runtime_root, "bindings.json", self._signals().check)

    def _projections(self) -> FileProjections:
        from loopx_host.adapters.files.projections import FileProjections

        return FileProjections.at(self._state_file, self._runtime_root)

    @property
    def is_off(self) -> bool:
        """Whether the host runs bare: nothing that an extension brought is started or loaded."""
        import os

        return self._no_extensions or os.environ.get("LOOPX_NO_EXTENSIONS", "") not in ("", "0")

    def _refuse_when_off(self) -> None:
        """Refuse to run anything of an extension when the host runs bare. Raises Refused `extensions_off`."""
        if self.is_off:
            from loopx_host.core.errors import refuse

            summary = "extensions are off: --no-extensions, or LOOPX_NO_EXTENSIONS in the environment"
            raise refuse("extensions_off", "loopx", summary, hint="leave it out to run what is installed")
