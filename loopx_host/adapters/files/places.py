"""Directories that are written to, removed from or changed in mode: nobody else can put another in their place.

A path is walked component by component, each held by descriptor while the next is looked at. A component belongs to
root or to this user, in a directory where nobody else can rename; such a one may be a link, which is followed once.
What the walk returns has no link in it and stays what it is, whoever else is on the machine. Below a directory of
loopx's own there are no links at all (`own`).
"""

from __future__ import annotations

import os
import stat

from loopx_host.core.text import visible

PRIVATE = 0o700
# What is there itself, be it a link; macOS has a flag of its own for that.
_LOOK = os.O_RDONLY | os.O_CLOEXEC | getattr(os, "O_PATH", 0) | (getattr(os, "O_SYMLINK", 0) or os.O_NOFOLLOW)
_NOT_PERMITTED = 1  # EPERM
_NO_MORE_FILES = (23, 24)  # ENFILE, EMFILE: says nothing about the place
_LINKS = 40  # as many as the kernel follows
_GROUP_WRITES, _OTHERS_WRITE = 0o020, 0o002
_EVERY_USER = 1 << 31
_NOEXEC = getattr(os, "ST_NOEXEC", 0)


class UntrustedError(OSError):
    """Somebody else could put something else in the place of a directory."""

    def __init__(self, path: str, why: str) -> None:
        super().__init__(_NOT_PERMITTED, f"{visible(path)} {why}", path)


def directory(path: str, *, make: bool = False) -> str:
    """Return the absolute `path` of a directory without links; with `make`, missing ones are made, durably, 0700.

    Raises UntrustedError, or OSError as looking at it does, also for a path that is not absolute.
    """
    if not os.path.isabs(path):
        raise _failed("EINVAL", path)
    wanted = _parts(os.path.normpath(path))
    here, names, links = os.open("/", _LOOK), list[str](), 0
    try:
        _refuse_directory(os.fstat(here), "/")
        while wanted:
            name = wanted.pop(0)
            if name == os.pardir:  # of a link's target
                names = names[:-1]
                here = _swapped(here, os.open("/" + "/".join(names), _LOOK))
                continue
            inner, status = _opened(name, here, "/".join(["", *names, name]), make=make)
            if stat.S_ISLNK(status.st_mode):
                os.close(inner)
                links += 1
                if links > _LINKS:
                    raise _failed("ELOOP", path)
                target = os.readlink(name, dir_fd=here)
                wanted = [*_parts(target), *wanted]
                if os.path.isabs(target):
                    names = []
                    here = _swapped(here, os.open("/", _LOOK))
                continue
            names.append(name)
            here = _swapped(here, inner)
    finally:
        os.close(here)
    return "/" + "/".join(names)


def own(base: str, *names: str, make: bool = False) -> str:
    """Return the directory at `names` below `base`, which is loopx's own: none of them is a link.

    `base` is walked as `directory` does. Raises UntrustedError, or OSError.
    """
    path = directory(base, make=make)
    for name in names:
        path = os.path.join(path, name)
        try:
            status = os.lstat(path)
        except FileNotFoundError:
            if not make:
                raise
            _make(name, path, None)
            status = os.lstat(path)
        if not stat.S_ISDIR(status.st_mode):
            what = "a link" if stat.S_ISLNK(status.st_mode) else "no directory"
            raise UntrustedError(path, f"is {what}, where loopx keeps a directory of its own")
        _refuse_owner(status, path)
        _refuse_directory(status, path)
    return path


def temporary() -> list[str]:
    """Return where temporary directories may be made, the best first. Raises OSError where no more can be opened.

    Those on a file system that executes nothing come last: a provider may unpack a program and start it.
    """
    named = (os.environ.get(variable, "") for variable in ("XDG_RUNTIME_DIR", "TMPDIR"))
    kept: list[str] = []
    for place in (*(place for place in named if os.path.isabs(place)), "/tmp"):  # noqa: S108 (names nobody can guess)
        try:
            kept.append(directory(place))
        except OSError as error:
            if error.errno in _NO_MORE_FILES:
                raise
    return sorted(kept, key=_executes_nothing)


def holds(path: str) -> bool:
    """Whether the absolute `path`, or what is there of the way to it, is a directory that may be written to."""
    while True:
        try:
            directory(path)
        except FileNotFoundError:
            path = os.path.dirname(path)
        except OSError:
            return False
        else:
            return True


def _executes_nothing(place: str) -> bool:
    try:
        return bool(os.statvfs(place).f_flag & _NOEXEC)
    except OSError:
        return False


def _failed(name: str, path: str) -> OSError:
    """Return the error that the system has under a name."""
    import errno

    number = int(getattr(errno, name))
    return OSError(number, os.strerror(number), path)


def _parts(path: str) -> list[str]:
    return [part for part in path.split("/") if part not in ("", os.curdir)]


def _swapped(old: int, new: int) -> int:
    os.close(old)
    return new


def _opened(name: str, here: int, path: str, *, make: bool) -> tuple[int, os.stat_result]:
    """Return a component and its status, made where it is missing and may be. Raises UntrustedError, OSError."""
    try:
        inner = os.open(name, _LOOK, dir_fd=here)
    except FileNotFoundError:
        if not make:
            raise
        _make(name, path, here)
        inner = os.open(name, _LOOK, dir_fd=here)
    try:
        status = os.fstat(inner)
        _refuse_owner(status, path)
        if stat.S_ISDIR(status.st_mode):
            _refuse_directory(status, path)
        elif not stat.S_ISLNK(status.st_mode):
            raise _failed("ENOTDIR", path)
    except OSError:
        os.close(inner)
        raise
    return inner, status


def _make(name: str, path: str, here: int | None) -> None:
    """Make a directory at `path`, `name` of the directory `here` where that is open, so that it survives."""
    try:
        os.mkdir(path if here is None else name, PRIVATE, dir_fd=here)
    except FileExistsError:
        return
    made = os.open(path if here is None else name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=here)
    try:
        os.fchmod(made, PRIVATE)  # a umask can only have taken bits away
    finally:
        os.close(made)
    above = os.open(os.path.dirname(path), os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(above)
    finally:
        os.close(above)


def _refuse_owner(status: os.stat_result, path: str) -> None:
    if status.st_uid not in (0, os.geteuid()) and not _stands_for_root(status.st_uid):
        raise UntrustedError(path, f"belongs to another user ({status.st_uid}), who could put something else there")


def _refuse_directory(status: os.stat_result, path: str) -> None:
    """Refuse a directory in which somebody else could rename what is in it."""
    shared = status.st_mode & _OTHERS_WRITE or (status.st_mode & _GROUP_WRITES and status.st_gid != os.getegid())
    if shared and not status.st_mode & stat.S_ISVTX:
        raise UntrustedError(path, "can be written to by other users, who could put something else there")


def _stands_for_root(user: int) -> bool:
    """Whether a user is who root appears as: in a user namespace without root, all the rest is one number."""
    try:
        with open("/proc/self/uid_map", encoding="ascii") as known, open("/proc/sys/kernel/overflowuid") as other:
            rows = [[int(word) for word in line.split()] for line in known]
            rest = int(other.read())
    except (OSError, ValueError):
        return False
    is_whole = any(first == 0 and count >= _EVERY_USER for first, _, count in rows)
    return user == rest and not is_whole and all(first > 0 for first, _, _ in rows)
