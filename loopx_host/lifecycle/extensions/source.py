"""A checked manifest with the place it came from: what a verb that trusts one starts with, and what it keeps."""

from __future__ import annotations

from loopx_host.core.diagnostics import WARNING, Problem
from loopx_host.lifecycle.extensions.offers import offered_manifest
from loopx_host.lifecycle.extensions.pins import pins

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Protocol

    from loopx_host.core.diagnostics import ProblemRow
    from loopx_host.documents import state as shapes
    from loopx_host.documents.parts import Distribution
    from loopx_host.lifecycle.extensions.identity import Launcher
    from loopx_host.lifecycle.extensions.ports import HasDiscovery, Packages
    from loopx_host.lifecycle.extensions.requests import TrustRequest
    from loopx_host.registry.manifest import Manifest

    class Sources(Protocol):
        """Manifest files, opened and checked."""

        def open(self, manifest_path: str, *, by_id: bool = False) -> Source:
            """Load the manifest at a path; `by_id`: an id led there. Raises Refused as `registry.load` does."""
            ...

    class HasSources(HasDiscovery, Protocol):
        """Has manifests, and what leads to one from an id."""

        @property
        def sources(self) -> Sources:
            """The port."""
            ...


class Source:
    """A checked manifest and where it came from; `path` is absolute, as text that can be shown.

    `by_id` says that the caller named the extension and its package's metadata led to the manifest; `carrier` is
    the distribution the manifest lies in, if one advertises it.
    """

    __slots__ = ("by_id", "carrier", "folder", "manifest", "path")

    def __init__(
        self,
        manifest: Manifest,
        path: str,
        folder: str,
        *,
        by_id: bool = False,
        carrier: Distribution | None = None,
    ) -> None:
        self.manifest = manifest
        self.path = path
        self.folder = folder
        self.by_id = by_id
        self.carrier = carrier

    def preview(self, verb: str, *flags: str) -> tuple[str, ...]:
        """Return the command that says what `verb` would do with this manifest."""
        named = (self.manifest.id,) if self.by_id else ("--manifest", self.path)
        return ("extension", verb, *named, *flags)

    def command(self, verb: str, *flags: str) -> tuple[str, ...]:
        """Return the command that does it."""
        return (*self.preview(verb, *flags), "--execute")

    def warnings(self, owner: Distribution | None) -> list[ProblemRow]:
        """Return the warning rows of a receipt: the manifest's own, and what is odd about the launcher's owner."""
        return [problem.row() for problem in (*self.manifest.warnings, *_owner_problems(self, owner))]

    def revision(self, launcher: Launcher, packages: Packages, at: str) -> shapes.Revision:
        """Return the revision as the state file keeps it, pinned to `launcher` and to what its package brings."""
        return {**self.unpinned(at), **pins(launcher, self.manifest.id, packages)}

    def unpinned(self, at: str) -> shapes.Revision:
        """Return the revision as far as the manifest alone decides it."""
        manifest = self.manifest
        return {
            "revision": manifest.revision,
            "version": manifest.version,
            "manifest": manifest.form,
            "digest": manifest.digest,
            "manifest_path": self.path,
            "installed_at": at,
            "source": "discovered" if self.by_id else "manifest",
        }


def _owner_problems(source: Source, owner: Distribution | None) -> list[Problem]:
    manifest = source.manifest
    if owner is None:
        if not manifest.capabilities and not manifest.implementations:
            return []
        summary = "no installed distribution carries the launcher; an unowned command serves no capability"
        return [Problem("entrypoint_unowned", "runtime.entrypoint", summary, severity=WARNING)]
    others = {"the manifest": manifest.version}
    if source.carrier is not None and source.carrier["name"] == owner["name"]:
        others["the package the manifest lies in"] = source.carrier["version"]
    return [
        Problem(
            "entrypoint_version_differs",
            "runtime.entrypoint",
            f"the launcher comes from {owner['name']} {owner['version']}, and {what} is version {version}",
            severity=WARNING,
        )
        for what, version in others.items()
        if version != owner["version"]
    ]


def source_to_trust(verb: str, request: TrustRequest, ports: HasSources) -> Source:
    """Load the manifest a request names by path or by id; the package's metadata lead from id to path.

    Raises Refused: those of `offered_manifest` and of `registry.load`.
    """
    if request.manifest_path is not None:
        return ports.sources.open(request.manifest_path)
    return ports.sources.open(offered_manifest(str(request.extension_id), verb, ports.discovery), by_id=True)
