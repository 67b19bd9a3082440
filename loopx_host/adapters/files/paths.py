"""Where things are kept: the runtime root, the cache, the state file; and private directories."""

from __future__ import annotations

import os
import sys

from loopx_host.adapters.files import atomic

APP = "loopx"
PRIVATE = 0o700
_GROUP_WRITES, _OTHERS_WRITE = 0o020, 0o002
_NOWHERE = os.path.join(os.devnull, APP)  # below a file, nothing can be made


def runtime_root(override: str | None = None) -> str:
    """Return the runtime root: `override`, else ``LOOPX_RUNTIME_ROOT``, else the platform's state directory."""
    chosen = override or os.environ.get("LOOPX_RUNTIME_ROOT")
    return absolute(chosen) if chosen else _platform("XDG_STATE_HOME", "~/.local/state", "user_state_dir")


def cache_root() -> str:
    """Return the platform's cache directory for loopx; everything in it is disposable.

    A directory that somebody else could write to is not used: byte code in it would run as this user. Then the
    answer is a path that can hold nothing.
    """
    path = _platform("XDG_CACHE_HOME", "~/.cache", "user_cache_dir")
    trusted = os.path.isabs(path) and all(_is_private(place) for place in (path, os.path.dirname(path)))
    return path if trusted else _NOWHERE


def bytecode(extension_id: str) -> str:
    """Return the cache directory for the byte code of one extension."""
    return os.path.join(cache_root(), "pycache", extension_id)


def state_file(runtime: str) -> str:
    """Return the path of the activation state under a runtime root."""
    return os.path.join(runtime, "extensions", "state.json")


def absolute(path: str) -> str:
    """Return `path` absolute, with ``~`` expanded and links left alone."""
    return os.path.abspath(os.path.expanduser(path))


def _is_private(place: str) -> bool:
    """Whether only this user and root can write to a directory; one that is not there yet is."""
    try:
        status = os.stat(place)
    except OSError:
        return True
    shared = status.st_mode & _OTHERS_WRITE or (status.st_mode & _GROUP_WRITES and status.st_gid != os.getegid())
    return status.st_uid in (0, os.geteuid()) and not shared


def _platform(variable: str, default: str, name: str) -> str:
    """Compute the directory on Linux; platformdirs (13 ms and more) answers elsewhere, and in a test."""
    if sys.platform != "linux":
        import platformdirs

        return str(getattr(platformdirs, name)(APP, appauthor=False))
    base = os.environ.get(variable, "").strip()
    return os.path.join(base if os.path.isabs(base) else os.path.expanduser(default), APP)


def make_private(path: str) -> None:
    """Create the directory `path` and every missing parent with mode 0700, durably. Raises OSError."""
    missing: list[str] = []
    while not os.path.isdir(path):
        missing.append(path)
        parent = os.path.dirname(path)
        if parent == path:
            break
        path = parent
    for directory in reversed(missing):
        try:
            os.mkdir(directory, PRIVATE)
            os.chmod(directory, PRIVATE)  # a umask can only have taken bits away
            atomic.sync_directory(os.path.dirname(directory))
        except FileExistsError:
            if not os.path.isdir(directory):
                raise
