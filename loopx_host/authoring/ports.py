"""What authoring needs from outside."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from loopx_host.authoring.package_names import PackageNames
    from loopx_host.lifecycle.extensions.source import Source


class NewTree(Protocol):
    """A directory that does not exist yet."""

    @property
    def shown(self) -> str:
        """The destination as the caller wrote it, as text."""
        ...

    @property
    def place(self) -> str:
        """The destination as an absolute path, as text."""
        ...

    @property
    def flags(self) -> tuple[str, ...]:
        """The flags that name the destination again; empty for the default one."""
        ...

    def refuse_existing(self) -> None:
        """Raise Refused `destination_exists` for a file, a directory, even an empty one, or a link to nowhere."""
        ...

    def write(self, files: dict[str, str]) -> None:
        """Write path → content (``link:`` makes a symbolic link), whole or not at all. Raises Refused."""
        ...


class NewTrees(Protocol):
    """Where new directories may go."""

    def at(self, destination: str | None, name: str) -> NewTree:
        """Return the directory a caller names, or the one called `name` below the current directory."""
        ...


class PackageSources(Protocol):
    """Packages that an author points at."""

    def package(self, path: str) -> tuple[Source, tuple[str, bytes] | None]:
        """Return the manifest at a path or in a folder, and (path, bytes) of its example request if there is one.

        Raises Refused with the codes of `registry.load`, and `input_unreadable`.
        """
        ...

    def names(self, source: Source) -> PackageNames | None:
        """Return the names that the project of a manifest would take; None where no project is to be found."""
        ...


class HasPackageSources(Protocol):
    """Has packages by path."""

    @property
    def package_sources(self) -> PackageSources:
        """The port."""
        ...


class TakenNames(Protocol):
    """Who holds a name here, as a phrase; what the package `of` which it is asked holds itself is not taken."""

    def module(self, name: str, of: PackageNames) -> str | None:
        """Return who holds an import name: Python, a distribution, or a path."""
        ...

    def distribution(self, name: str, of: PackageNames) -> str | None:
        """Return the installed distribution that has a name, in any spelling."""
        ...

    def command(self, name: str, of: PackageNames) -> str | None:
        """Return who holds a command: a path of the environment or of PATH, or the distribution that brings it."""
        ...


class HasTakenNames(Protocol):
    """Has the names that are taken here."""

    @property
    def taken_names(self) -> TakenNames:
        """The port."""
        ...


class InitPorts(HasTakenNames, Protocol):
    """What writing a new package needs."""

    @property
    def new_trees(self) -> NewTrees:
        """The port."""
        ...


class TemporaryHome(Protocol):
    """A directory that is gone when its block ends."""

    @property
    def path(self) -> str:
        """Its absolute path, links resolved."""
        ...

    def names(self) -> list[str]:
        """Return what lies in it now, sorted."""
        ...


class TemporaryHomes(Protocol):
    """Homes that a provider under test may write to."""

    def make(self) -> AbstractContextManager[TemporaryHome]:
        """Return the block in which a new, empty one is there."""
        ...


class HasTemporaryHomes(Protocol):
    """Has homes for providers under test."""

    @property
    def temporary_homes(self) -> TemporaryHomes:
        """The port."""
        ...
