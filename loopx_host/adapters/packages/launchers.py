"""Find the launcher a manifest names, and read from its first lines which interpreter runs it."""

from __future__ import annotations

import os
import sys

from loopx_host.core.errors import refusal
from loopx_host.core.text import visible
from loopx_host.lifecycle.extensions.identity import ENTRYPOINT, MODULE, Launcher, LauncherNotFound

TYPE_CHECKING = False
if TYPE_CHECKING:
    from loopx_host.registry.manifest import Runtime

_HEAD_BYTES = 4096
_SHELL_TRICK = "'''exec' "  # how installers write a launcher whose interpreter path is too long for `#!`


def resolve(runtime: Runtime, folder: str | None) -> Launcher | LauncherNotFound:
    """Return the launcher of a manifest (contract section 2, *entrypoint*). Raises Refused `entrypoint_path`."""
    if runtime.python_module is not None:
        return _keepable(Launcher(MODULE, _interpreter(), runtime.python_module, runtime.env))
    name = str(runtime.entrypoint)
    candidates = list(_candidates(name, folder))
    for candidate in candidates:
        if is_program(candidate):
            return _keepable(Launcher(ENTRYPOINT, candidate, None, runtime.env))
    searched = candidates if "/" in name else [os.path.dirname(candidate) for candidate in candidates]
    return LauncherNotFound(name, [visible(place) for place in searched], visible(sys.prefix))


def is_program(path: str) -> bool:
    """Whether `path` is a regular file that this user may execute."""
    return os.path.isfile(path) and os.access(path, os.X_OK)


def search_path() -> list[str]:
    """Return the absolute entries of PATH; empty and relative ones would mean the caller's directory."""
    return [place for place in os.environ.get("PATH", os.defpath).split(os.pathsep) if os.path.isabs(place)]


def interpreters(path: str) -> list[str]:
    """Return the chain of programs that execute `path`: its `#!` interpreter, that one's, and so on.

    ``env`` counts together with the program it finds. What a shell script executes further on cannot be known.
    """
    chain: list[str] = []
    while len(chain) < 8:  # noqa: PLR2004 (the kernel itself stops after a few)
        found = _direct_interpreters(path)
        if not found:
            break
        chain += found
        path = found[-1]
    return chain


def is_python_script(path: str) -> bool:
    """Whether a Python interpreter stands anywhere in the chain that executes `path`."""
    return any("python" in os.path.basename(program) for program in interpreters(path))


def _candidates(name: str, folder: str | None) -> list[str]:
    if os.path.isabs(name):
        return [name]
    if "/" in name:
        return [os.path.normpath(os.path.join(folder, name))] if folder else []
    import sysconfig

    places = dict.fromkeys([sysconfig.get_path("scripts"), *search_path()])
    return [os.path.join(place, name) for place in places]


def _interpreter() -> str:
    if not sys.executable:
        raise refusal("entrypoint_path", "python", "the interpreter that runs loopx does not know its own path")
    return sys.executable


def _keepable(launcher: Launcher) -> Launcher:
    try:
        launcher.path.encode("utf-8")
    except UnicodeEncodeError:
        shown = visible(launcher.path)
        summary = f"{shown} is not a UTF-8 path, and a state file can only keep one that is"
        raise refusal("entrypoint_path", shown, summary, hint="install the package below a UTF-8 path") from None
    return launcher


def _direct_interpreters(path: str) -> list[str]:
    lines = head(path)
    if not lines or not lines[0].startswith("#!"):
        return []
    interpreter, _, rest = lines[0][2:].strip().partition(" ")
    found = [interpreter] if os.path.isabs(interpreter) else []
    if os.path.basename(interpreter) == "env":
        found += _found_by_env(rest.split())
    elif len(lines) > 1 and lines[1].startswith(_SHELL_TRICK):
        found += [part.strip('"') for part in lines[1][len(_SHELL_TRICK) :].split()[:1]]
    return found


def _found_by_env(words: list[str]) -> list[str]:
    program = next((word for word in words if not word.startswith("-") and "=" not in word), None)
    if program is None:
        return []
    places = [program] if "/" in program else [os.path.join(place, program) for place in search_path()]
    return [place for place in places if is_program(place)][:1]


def head(path: str) -> list[str]:
    """Return the first two lines of a file, as far as a kernel would look at them."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except OSError:
        return []
    try:
        return os.fsdecode(os.read(descriptor, _HEAD_BYTES)).split("\n", 2)[:2]
    except OSError:
        return []
    finally:
        os.close(descriptor)
