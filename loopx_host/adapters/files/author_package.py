"""Where an author keeps manifest and example: in the package, with a link or a folder above it."""

from __future__ import annotations

import os

MANIFEST = "extension.toml"
_EXAMPLE = os.path.join("examples", "request.json")
_LEVELS = 4  # src/<package>/extension.toml lies two below its project


def manifest_of(path: str) -> str:
    """Return the manifest of a package folder; any other path is taken for the manifest itself."""
    return os.path.join(path, MANIFEST) if os.path.isdir(path) else path


def example_of(manifest: str) -> str | None:
    """Return the example request beside a manifest, or in one of the few folders above it, or None."""
    return _above(manifest, _EXAMPLE)


def project_of(manifest: str) -> str | None:
    """Return the pyproject.toml that a manifest belongs to, or None."""
    return _above(manifest, "pyproject.toml")


def _above(manifest: str, name: str) -> str | None:
    folder = os.path.dirname(manifest)
    for _ in range(_LEVELS):
        path = os.path.join(folder, name)
        if os.path.isfile(path):
            return path
        folder = os.path.dirname(folder)
    return None
