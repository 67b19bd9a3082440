"""What the package of an extension is called: as modules, as a distribution, as commands."""

from __future__ import annotations


class PackageNames:
    """The names that installing the package of an extension takes; `folder` is where its manifest lies, if any.

    `version` is that of the project, where its file says one.
    """

    __slots__ = ("commands", "distribution", "extension_id", "folder", "modules", "version")

    def __init__(
        self,
        extension_id: str,
        modules: list[str],
        distribution: str | None,
        commands: list[str],
        folder: str | None = None,
        version: str | None = None,
    ) -> None:
        self.version = version
        self.extension_id = extension_id
        self.modules = modules
        self.distribution = distribution
        self.commands = commands
        self.folder = folder
