"""Replace a file so that a crash at any point leaves the old bytes or the new ones."""

from __future__ import annotations

import os

from loopx_host.adapters.files import places

_PRIVATE = 0o600
_SUFFIX = ".tmp"
_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


def replace(path: str, data: bytes) -> None:
    """Write `data` to a private file beside `path`, sync it, rename it over `path`, sync the directory.

    The temporary name is unpredictable and opened exclusively, so nothing planted in a shared directory is
    followed or overwritten. Raises OSError (UntrustedError where somebody else could put another directory in the
    place of this one); the old file is then still there, unless the very last step, the sync of the directory,
    failed after the rename.
    """
    directory, name = os.path.split(path)
    directory = places.directory(directory)
    draft = os.path.join(directory, f"{_prefix(name)}{os.urandom(8).hex()}{_SUFFIX}")
    try:
        _write(draft, data)
        os.rename(draft, os.path.join(directory, name))
    except BaseException:
        _discard(draft)
        raise
    sync_directory(directory)


def discard_drafts(path: str) -> None:
    """Remove what killed writers of `path` left; call it only while no other writer can be at work."""
    directory, name = os.path.split(path)
    for entry in os.listdir(directory):
        if entry.startswith(_prefix(name)) and entry.endswith(_SUFFIX):
            _discard(os.path.join(directory, entry))


def _prefix(name: str) -> str:
    return f".{name}."


def sync_directory(directory: str) -> None:
    """Make renames and new names in `directory` survive a power cut. Raises OSError."""
    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _write(path: str, data: bytes) -> None:
    descriptor = os.open(path, _FLAGS, _PRIVATE)
    try:
        os.fchmod(descriptor, _PRIVATE)
        view = memoryview(data)
        while view:
            view = view[os.write(descriptor, view) :]
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _discard(path: str) -> None:
    try:
        os.unlink(path)
    except OSError:
        pass
