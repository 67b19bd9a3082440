"""Where things are kept: the runtime root, the cache, the state file; and private directories."""

from __future__ import annotations

import os
import sys

from loopx_host.adapters.files import places

APP = "loopx"
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
    return path if os.path.isabs(path) and places.holds(path) else _NOWHERE


def bytecode(extension_id: str) -> str:
    """Return the cache directory for the byte code of one extension."""
    return os.path.join(cache_root(), "pycache", extension_id)


def state_file(runtime: str) -> str:
    """Return the path of the activation state under a runtime root."""
    return os.path.join(runtime, "extensions", "state.json")


def absolute(path: str) -> str:
    """Return `path` absolute, with ``~`` expanded and links left alone.

    Raises Refused `directory_gone` for a relative path, where the working directory was deleted.
    """
    try:
        return os.path.abspath(os.path.expanduser(path))
    except OSError:
        from loopx_host.core.errors import refusal
        from loopx_host.core.text import one_line

        shown = one_line(path, 200)
        raise refusal(
            "directory_gone",
            shown,
            f"`{shown}` is relative to the working directory, which was deleted or cannot be asked for",
            hint="change to a directory that is there, or give an absolute path",
        ) from None


def _platform(variable: str, default: str, name: str) -> str:
    """Compute the directory on Linux; platformdirs (13 ms and more) answers elsewhere, and in a test."""
    if sys.platform != "linux":
        import platformdirs

        return str(getattr(platformdirs, name)(APP, appauthor=False))
    base = os.environ.get(variable, "").strip()
    return os.path.join(base if os.path.isabs(base) else os.path.expanduser(default), APP)


def make_private(path: str) -> None:
    """Create the directory `path` and every missing parent with mode 0700, durably.

    Raises OSError, and UntrustedError where somebody else could put another in its place.
    """
    places.directory(path, make=True)
