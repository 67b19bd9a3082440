"""What the package of an extension is called: as modules, as a distribution, as commands."""

from __future__ import annotations


class PackageNames:
    """The names that installing the package of an extension takes; `folder` is where its manifest lies, if any."""

    __slots__ = ("commands", "distribution", "extension_id", "folder", "modules")

    def __init__(
        self,
        extension_id: str,
        modules: list[str],
        distribution: str | None,
        commands: list[str],
        folder: str | None = None,
    ) -> None:
        self.extension_id = extension_id
        self.modules = modules
        self.distribution = distribution
        self.commands = commands
        self.folder = folder
