"""A fresh private directory per run; what dead hosts left behind is swept at the next one.

A living host holds a lock on its directory, and the kernel lets go of it when the host dies in any way.
"""

from __future__ import annotations

import fcntl
import os
import stat

_PREFIX = "loopx-"
_NAME_LENGTH = len(_PREFIX) + 16
_OPEN = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_ATTEMPTS = 8


class PrivateDirectory:
    """One directory, mode 0700, locked by this process until `remove`."""

    def __init__(self, path: str, descriptor: int) -> None:
        self.path = path
        self._descriptor = descriptor

    @classmethod
    def create(cls) -> PrivateDirectory:
        """Make and lock a new one. Raises OSError when no place can hold it."""
        base = _base()
        for _ in range(_ATTEMPTS):
            path = os.path.join(base, f"{_PREFIX}{os.urandom(8).hex()}")
            os.mkdir(path, 0o700)
            descriptor = _lock(path)
            if descriptor is not None:
                return cls(path, descriptor)
        raise OSError("no private directory could be kept")

    def remove(self) -> bool:
        """Remove the directory and all in it; return whether it is gone."""
        try:
            return _remove(self.path)
        finally:
            os.close(self._descriptor)


def sweep() -> None:
    """Remove the private directories of hosts that are dead; best effort, never waits."""
    base = _base()
    try:
        names = [name for name in os.listdir(base) if name.startswith(_PREFIX) and len(name) == _NAME_LENGTH]
    except OSError:
        return
    for name in names:
        path = os.path.join(base, name)
        descriptor = _lock(path) if _is_ours(path) else None
        if descriptor is not None:
            _remove(path)
            os.close(descriptor)


def _base() -> str:
    for variable in ("XDG_RUNTIME_DIR", "TMPDIR"):
        place = os.environ.get(variable, "")
        if os.path.isabs(place) and os.path.isdir(place) and os.access(place, os.W_OK | os.X_OK):
            return place
    return "/tmp"  # noqa: S108 (the names made in it are unpredictable and exclusive)


def _is_ours(path: str) -> bool:
    try:
        status = os.lstat(path)
    except OSError:
        return False
    return stat.S_ISDIR(status.st_mode) and status.st_uid == os.geteuid()


def _lock(path: str) -> int | None:
    """Lock the directory; None when somebody holds it or it is gone from under the lock."""
    try:
        descriptor = os.open(path, _OPEN)
    except OSError:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if os.path.samestat(os.fstat(descriptor), os.lstat(path)):
            return descriptor
    except OSError:
        pass
    os.close(descriptor)
    return None


def _remove(path: str) -> bool:
    try:
        os.rmdir(path)
    except OSError:
        return _remove_tree(path)
    return True


def _remove_tree(path: str) -> bool:
    """Remove a tree whose directories may have been made unreadable; links in it are never followed."""
    import shutil

    for directory, names, _ in os.walk(path, topdown=True):
        for name in names:
            inner = os.path.join(directory, name)
            if not os.path.islink(inner):
                _open_up(inner)
    shutil.rmtree(path, ignore_errors=True)
    return not os.path.lexists(path)


def _open_up(directory: str) -> None:
    try:
        os.chmod(directory, 0o700, follow_symlinks=os.chmod not in os.supports_follow_symlinks)
    except OSError:
        pass
