"""Manifest files of this machine, opened and checked, with the distribution that advertises them."""

from __future__ import annotations

from os.path import realpath

from loopx_host.adapters.files.author_package import example_of, manifest_of
from loopx_host.adapters.files.manifest_folder import open_manifest
from loopx_host.adapters.files.paths import absolute
from loopx_host.core.text import visible
from loopx_host.lifecycle.extensions.source import Source
from loopx_host.registry.load import load

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from loopx_host.adapters.files.inputs import Inputs
    from loopx_host.authoring.package_names import PackageNames
    from loopx_host.documents.parts import Distribution
    from loopx_host.lifecycle.extensions.ports import Discovery
    from loopx_host.registry.schemas import Bundle


class ManifestSources:
    """The port `extensions.source.Sources`; `check` refuses a schema that could not be applied."""

    def __init__(self, discovery: Discovery, check: Callable[[Bundle], None]) -> None:
        self._discovery = discovery
        self._check = check

    def open(self, manifest_path: str, *, by_id: bool = False) -> Source:
        """Load a manifest file (see the port); a folder stands for the manifest in it."""
        path = manifest_of(absolute(manifest_path))
        folder, name = open_manifest(path)
        manifest = load(folder, name, self._check)
        return Source(manifest, visible(path), folder.location, by_id=by_id, carrier=self._carrier(path))

    def _carrier(self, manifest_path: str) -> Distribution | None:
        """Return the distribution that advertises the manifest at a path, or None."""
        rows, _ = self._discovery.offers(rebuild=False)
        real = realpath(manifest_path)
        same = (row for row in rows if row["manifest_path"] and realpath(row["manifest_path"]) == real)
        return next((row["distribution"] for row in same), None)


class AuthorPackages:
    """The port `authoring.ports.PackageSources`."""

    def __init__(self, sources: ManifestSources, inputs: Inputs) -> None:
        self._sources = sources
        self._inputs = inputs

    def package(self, path: str) -> tuple[Source, tuple[str, bytes] | None]:
        """Return the manifest of a package and its example request (see the port)."""
        example = example_of(manifest_of(absolute(path)))
        request = (visible(example), self._inputs.example(example)) if example else None
        return self._sources.open(path), request

    def names(self, source: Source) -> PackageNames | None:
        """Return the names a project takes (see the port)."""
        from loopx_host.adapters.packages.project_names import names_of

        return names_of(source.manifest.id, source.path, source.folder)
