"""A fresh private directory per run; what dead hosts left behind, processes included, is swept at the next one.

A living host holds a lock on its directory, and the kernel lets go of it when the host dies in any way.
"""

from __future__ import annotations

import fcntl
import os
import stat
import time

from loopx_host.adapters.files import places
from loopx_host.adapters.process.descriptors import is_lack

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

_PREFIX = "loopx-"
_RANDOM_BYTES = 8
_OPEN = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_ATTEMPTS = 8
_REMOVE_SECONDS = 5.0  # for a run's own directory; it is part of how long the run takes
_SWEEP_SECONDS = 0.2  # for all that others left
_WITHIN = "private"  # the name, in the host's own directory, of the one that the provider gets


class PrivateDirectory:
    """One directory for a provider, below one that is the host's alone: mode 0700, locked until `remove`.

    Whatever a provider does to the mode of its own directory, nobody else gets past the host's.
    """

    def __init__(self, outer: str, descriptor: int) -> None:
        self.path = os.path.join(outer, _WITHIN)
        self._outer = outer
        self._descriptor = descriptor

    @classmethod
    def create(cls) -> PrivateDirectory:
        """Make and lock a new one in the first place that takes it. Raises OSError when none does."""
        failed = OSError("others can rename in each of XDG_RUNTIME_DIR, TMPDIR and /tmp, or they are not there")
        for base in places.temporary():
            try:
                return cls._create_in(base)
            except OSError as error:
                failed = error
        raise failed

    @classmethod
    def _create_in(cls, base: str) -> PrivateDirectory:
        for _ in range(_ATTEMPTS):
            outer = os.path.join(base, f"{_PREFIX}{os.urandom(_RANDOM_BYTES).hex()}")
            _make(outer)
            try:
                descriptor = _lock(outer)
            except OSError:
                os.rmdir(outer)
                raise
            if descriptor is not None:
                made = cls(outer, descriptor)
                try:
                    _make(made.path)
                except OSError:
                    made.remove()
                    raise
                return made
            _remove(outer, _REMOVE_SECONDS)
        raise OSError("no private directory could be kept")

    def remove(self) -> bool:
        """Remove the directory and all in it; return whether it is gone. What takes too long is left to the sweep."""
        try:
            return _remove(self._outer, _REMOVE_SECONDS)
        finally:
            os.close(self._descriptor)


def sweep() -> None:
    """Remove the private directories of dead supervisors, wherever one could have been made; never waits.

    It takes little time, however much there is, and removes something each time; the rest is for the next one.
    """
    deadline = time.monotonic() + _SWEEP_SECONDS
    for base in places.temporary():
        _sweep(base, deadline)


def _sweep(base: str, deadline: float) -> None:
    try:
        with os.scandir(base) as entries:
            for entry in entries:
                if _is_made_here(entry.name) and _sweep_one(entry.path, deadline):
                    return
    except OSError:
        return


def _sweep_one(path: str, deadline: float) -> bool:
    """Remove one directory if it is a dead supervisor's; return whether that was all there is time for."""
    descriptor = _lock(path) if _is_ours(path) else None
    if descriptor is None:
        return False
    from loopx_host.adapters.process.remains import end_all_of

    end_all_of(os.path.join(path, _WITHIN))
    _remove(path, deadline - time.monotonic())
    os.close(descriptor)
    return time.monotonic() >= deadline


def _make(path: str) -> None:
    os.mkdir(path, 0o700)
    try:
        os.chmod(path, 0o700)  # a umask can have taken bits away
    except OSError:
        os.rmdir(path)
        raise


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
    except OSError as error:
        if is_lack(error):
            raise
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
    """Remove a tree of any depth and width, directories its owner cannot read included; links are never followed.

    After `seconds` the rest stays, but something is removed in any case, so that calling often enough removes all;
    return whether all of it is gone.

    Entries are removed as they are read, because reading all names of a directory first can take longer than there
    is time. What lies deeper than the top is first moved up to it, so that neither the depth of the tree nor the
    length of its paths can be in the way.
    """
    deadline = time.monotonic() + seconds
    try:
        top = _open_up(path, None)
    except OSError:
        return not os.path.lexists(path)
    try:
        while _reduce(top, lambda name: _dissolve(name, top, deadline), deadline) and time.monotonic() < deadline:
            pass
    finally:
        os.close(top)
    try:
        os.rmdir(path)
    except OSError:
        pass
    return not os.path.lexists(path)


def _reduce(directory: int, otherwise: Callable[[str], bool], deadline: float) -> bool:
    """Go once through a directory and remove each entry, or do `otherwise` with one that has something in it.

    Ends when time is up, but not before something was done; return whether anything was.
    """
    did_something = False
    with os.scandir(directory) as entries:
        for entry in entries:
            did_something = _discard(entry.name, directory) or otherwise(entry.name) or did_something
            if did_something and time.monotonic() >= deadline:
                break
    return did_something


def _dissolve(name: str, top: int, deadline: float) -> bool:
    """Empty the directory `name` of `top`, its own directories into `top`, and remove it; whether it did anything."""
    try:
        directory = _open_up(name, top)
    except OSError:
        return False
    try:
        did_something = _reduce(directory, lambda below: _lift(below, directory, top), deadline)
    finally:
        os.close(directory)
    return _discard(name, top) or did_something


def _lift(name: str, directory: int, top: int) -> bool:
    """Move a directory up to `top`, under a name that nothing there has."""
    try:
        os.close(_open_up(name, directory))  # only a writable directory can get another parent
        os.rename(name, os.urandom(8).hex(), src_dir_fd=directory, dst_dir_fd=top)
    except OSError:
        return False
    return True


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
