"""A fresh private directory per run; what dead hosts left behind is swept at the next one.

A living host holds a lock on its directory, and the kernel lets go of it when the host dies in any way.
"""

from __future__ import annotations

import fcntl
import os
import stat
import time

_PREFIX = "loopx-"
_RANDOM_BYTES = 8
_OPEN = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_ATTEMPTS = 8
_REMOVE_SECONDS = 5.0  # for a run's own directory; it is part of how long the run takes
_SWEEP_SECONDS = 0.2  # for what somebody else left


class PrivateDirectory:
    """One directory, mode 0700, locked by this process until `remove`."""

    def __init__(self, path: str, descriptor: int) -> None:
        self.path = path
        self._descriptor = descriptor

    @classmethod
    def create(cls) -> PrivateDirectory:
        """Make and lock a new one in the first place that takes it. Raises OSError when none does."""
        failed = OSError("no private directory could be kept")
        for base in _places():
            try:
                return cls._create_in(base)
            except OSError as error:
                failed = error
        raise failed

    @classmethod
    def _create_in(cls, base: str) -> PrivateDirectory:
        for _ in range(_ATTEMPTS):
            path = os.path.join(base, f"{_PREFIX}{os.urandom(_RANDOM_BYTES).hex()}")
            os.mkdir(path, 0o700)
            os.chmod(path, 0o700)  # a umask can have taken bits away
            descriptor = _lock(path)
            if descriptor is not None:
                return cls(path, descriptor)
            _remove(path, _REMOVE_SECONDS)
        raise OSError("no private directory could be kept")

    def remove(self) -> bool:
        """Remove the directory and all in it; return whether it is gone. What takes too long is left to the sweep."""
        try:
            return _remove(self.path, _REMOVE_SECONDS)
        finally:
            os.close(self._descriptor)


def sweep() -> None:
    """Remove the private directories of dead supervisors, wherever one could have been made; never waits."""
    for base in _places():
        _sweep(base)


def _sweep(base: str) -> None:
    try:
        status = os.stat(base)
        if status.st_uid != os.geteuid() and not status.st_mode & stat.S_ISVTX:
            return  # somebody else could have given our names to what is not ours to remove
        names = [name for name in os.listdir(base) if _is_made_here(name)]
    except OSError:
        return
    for name in names:
        path = os.path.join(base, name)
        descriptor = _lock(path) if _is_ours(path) else None
        if descriptor is not None:
            _remove(path, _SWEEP_SECONDS)
            os.close(descriptor)


def _places() -> list[str]:
    named = (os.environ.get(variable, "") for variable in ("XDG_RUNTIME_DIR", "TMPDIR"))
    # The names made in /tmp are unpredictable and exclusive.
    return [*(place for place in named if os.path.isabs(place)), "/tmp"]  # noqa: S108


def _is_made_here(name: str) -> bool:
    """Whether the name is one that `create` gives; a directory that merely begins alike is somebody's work."""
    number = name.removeprefix(_PREFIX)
    return number != name and len(number) == 2 * _RANDOM_BYTES and not number.strip("0123456789abcdef")


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


def _remove(path: str, seconds: float) -> bool:
    try:
        os.rmdir(path)
    except OSError:
        return remove_tree(path, seconds)
    return True


def remove_tree(path: str, seconds: float) -> bool:
    """Remove a tree of any depth, directories its owner cannot read included; links are never followed.

    After `seconds` the rest stays; return whether all of it is gone.

    What lies deeper than the top is first moved up to it, so that neither the depth of the tree nor the length
    of its paths can be in the way.
    """
    try:
        top = _open_up(path, None)
    except OSError:
        return not os.path.lexists(path)
    deadline = time.monotonic() + seconds
    try:
        waiting = _lift(top, top, deadline)
        while waiting and time.monotonic() < deadline:
            waiting += _remove_directory(waiting.pop(), top, deadline)
    finally:
        os.close(top)
    try:
        os.rmdir(path)
    except OSError:
        pass
    return not os.path.lexists(path)


def _remove_directory(name: str, top: int, deadline: float) -> list[str]:
    """Remove the directory `name` of `top`; return the names under which its own directories now lie in `top`."""
    try:
        directory = _open_up(name, top)
    except OSError:
        return []
    try:
        lifted = _lift(directory, top, deadline)
    finally:
        os.close(directory)
    try:
        os.rmdir(name, dir_fd=top)
    except OSError:
        pass
    return lifted


def _lift(directory: int, top: int, deadline: float) -> list[str]:
    """Empty `directory`; directories that are not empty move to `top`, and their names there are returned."""
    lifted: list[str] = []
    for name in os.listdir(directory):
        if time.monotonic() >= deadline:
            break
        if _discard(name, directory):
            continue
        if directory == top:
            lifted.append(name)
            continue
        moved = os.urandom(8).hex()
        try:
            os.close(_open_up(name, directory))  # only a writable directory can get another parent
            os.rename(name, moved, src_dir_fd=directory, dst_dir_fd=top)
        except OSError:
            continue
        lifted.append(moved)
    return lifted


def _discard(name: str, directory: int) -> bool:
    for remove in (os.unlink, os.rmdir):
        try:
            remove(name, dir_fd=directory)
        except OSError:
            continue
        return True
    return False


def _open_up(name: str, parent: int | None) -> int:
    """Open a directory and give its owner all rights to it. Raises OSError."""
    try:
        descriptor = os.open(name, _OPEN, dir_fd=parent)
    except PermissionError:
        _make_readable(name, parent)
        descriptor = os.open(name, _OPEN, dir_fd=parent)
    try:
        os.fchmod(descriptor, stat.S_IRWXU)
    except OSError:
        os.close(descriptor)
        raise
    return descriptor


def _make_readable(name: str, parent: int | None) -> None:
    """Change the mode of a directory that cannot be opened, without following a link put in its place."""
    if os.chmod in os.supports_follow_symlinks:
        os.chmod(name, stat.S_IRWXU, dir_fd=parent, follow_symlinks=False)
        return
    handle = os.open(name, os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=parent)
    try:
        os.chmod(f"/proc/self/fd/{handle}", stat.S_IRWXU)
    finally:
        os.close(handle)
