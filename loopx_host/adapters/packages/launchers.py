"""Find the launcher a manifest names, and pin the search path it was found on."""

from __future__ import annotations

import os
import stat
import sys

from loopx_host.adapters.packages import shebang
from loopx_host.core.errors import refusal
from loopx_host.core.limits import SYSTEM_PATH
from loopx_host.core.text import visible
from loopx_host.lifecycle.extensions.identity import ENTRYPOINT, MODULE, Launcher, LauncherNotFound

TYPE_CHECKING = False
if TYPE_CHECKING:
    from loopx_host.registry.manifest import Runtime


def resolve(runtime: Runtime, folder: str | None) -> Launcher | LauncherNotFound:
    """Return the launcher of a manifest (contract section 2, *entrypoint*). Raises Refused `entrypoint_path`."""
    if runtime.python_module is not None:
        return _keepable(_launcher(MODULE, _interpreter(), runtime))
    name = str(runtime.entrypoint)
    candidates = list(_candidates(name, folder))
    for candidate in candidates:
        if shebang.is_program(candidate):
            return _keepable(_launcher(ENTRYPOINT, candidate, runtime))
    searched = candidates if "/" in name else [os.path.dirname(candidate) for candidate in candidates]
    return LauncherNotFound(name, [visible(place) for place in searched], visible(sys.prefix))


def is_mounted_noexec(path: str) -> bool:
    """Whether a file has its executable bit and lies on a file system that is mounted noexec."""
    try:
        status = os.stat(path)
        flags = os.statvfs(path).f_flag
    except (OSError, ValueError):
        return False
    return stat.S_ISREG(status.st_mode) and bool(status.st_mode & 0o111) and bool(flags & getattr(os, "ST_NOEXEC", 0))


def search_path() -> list[str]:
    """Return the absolute entries of PATH; empty and relative ones would mean the caller's directory."""
    named = [place for place in os.environ.get("PATH", "").split(os.pathsep) if os.path.isabs(place)]
    return named or [*SYSTEM_PATH]


def _candidates(name: str, folder: str | None) -> list[str]:
    if os.path.isabs(name):
        return [name]
    if "/" in name:
        return [os.path.normpath(os.path.join(folder, name))] if folder else []
    import sysconfig

    places = dict.fromkeys([sysconfig.get_path("scripts"), *search_path()])
    return [os.path.join(place, name) for place in places]


def _launcher(kind: str, path: str, runtime: Runtime) -> Launcher:
    """Return a launcher as it is pinned: with the PATH of this moment, as far as a state file can keep it."""
    places = [place for place in search_path() if place.isprintable()]
    return Launcher(kind, path, runtime.python_module, runtime.env, search_path=places, requires=runtime.requires)


def _interpreter() -> str:
    from loopx_host.adapters import interpreter

    program = interpreter.likeliest()
    if program is None:
        summary = f"no interpreter for a Python module was found: {interpreter.named()}"
        raise refusal("entrypoint_path", "sys.executable", summary)
    return program


def _keepable(launcher: Launcher) -> Launcher:
    try:
        launcher.path.encode("utf-8")
    except UnicodeEncodeError:
        shown = visible(launcher.path)
        summary = f"{shown} is not a UTF-8 path, and a state file can only keep one that is"
        raise refusal("entrypoint_path", shown, summary, hint="install the package below a UTF-8 path") from None
    if launcher.module is None and not shebang.chain(launcher.path, launcher.search_path).is_known:
        shown = visible(launcher.path)
        summary = f"which program executes {shown} is decided when it starts: its first line leaves it to a variable"
        raise refusal("entrypoint_path", shown, summary, hint="name the program in the first line") from None
    return launcher
