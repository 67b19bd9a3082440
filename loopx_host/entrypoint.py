"""argv → one route. Imports nothing else until the route is known (architecture, *Small start-up*)."""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

_INTERRUPTED = 130
_NO_MORE_FILES = (23, 24)  # ENFILE, EMFILE


def main() -> NoReturn:
    """Run the command line of this process and end it with its exit status."""
    _forget_the_folder_of_the_script()
    status = run(sys.argv[1:])
    _flush()
    # Interpreter shutdown would cost 2.7 ms and has nothing left to do here.
    os._exit(status)


def _forget_the_folder_of_the_script() -> None:
    """Drop what Python puts first on the path for a script or for ``-m``: no module is wanted from there.

    A file in the scripts directory, or in the directory the caller happens to be in, would be imported in place
    of a module of the standard library. It stays only where loopx itself is imported from, in a checkout.
    """
    home = os.path.dirname(os.path.dirname(_absolute(__file__)))
    if sys.path and not sys.flags.safe_path and _absolute(sys.path[0]) != home:
        script = os.path.dirname(_absolute(sys.argv[0]))
        if _absolute(sys.path[0]) in (script, _absolute(os.curdir)):
            del sys.path[0]


def _absolute(path: str) -> str:
    """Return a path absolute; as it is where that would take a working directory that was deleted."""
    try:
        return os.path.abspath(path)
    except OSError:
        return os.path.normpath(path)


def run(argv: list[str]) -> int:
    """Return the exit status of one command (contract section 4)."""
    if sys.platform == "win32":
        sys.stderr.write("loopx does not run on Windows yet; use Linux, for example in WSL\n")
        return 2
    try:
        return _served(argv)
    except OSError as error:
        if error.errno not in _NO_MORE_FILES:
            raise
        return _no_files(str(error.strerror))
    except KeyboardInterrupt:  # before the route is known there is nothing to say and nothing to undo
        return _INTERRUPTED


def _served(argv: list[str]) -> int:
    from loopx_host import __version__

    _fill_standard_streams()
    if sys.stdout is None:
        return _no_output("standard output is closed")
    if argv == ["--version"]:
        return _write(f"loopx {__version__}\n")
    if argv in (["--help"], ["-h"], []):
        return _help()
    from loopx_host.cli.dispatch import dispatch

    return dispatch(argv, __version__)


def _help() -> int:
    from loopx_host.assembly.container import Container
    from loopx_host.cli.help import top_help_of

    return _write(top_help_of(Container()))


def _write(text: str) -> int:
    """Write one of the two answers that need no route."""
    try:
        os.write(1, text.encode("utf-8", "backslashreplace"))
    except BrokenPipeError:
        return 141
    except OSError as error:
        return _no_output(str(error.strerror))
    return 0


def _no_output(reason: str) -> int:
    try:
        os.write(2, f"loopx: error [output_unwritable]: {reason}\n".encode())
    except OSError:
        pass
    return 74


def _no_files(reason: str) -> int:
    """Say that not even a module can be opened; written by hand, since nothing can be loaded."""
    try:
        os.write(2, f"loopx: error [no_processes]: there is not enough left to run anything: {reason}\n".encode())
    except OSError:
        pass
    return 75


def _fill_standard_streams() -> None:
    """Give a closed standard stream a file that reads as empty and takes no byte.

    Otherwise the next file opened, a state file perhaps, would stand in its place.
    """
    for descriptor, stream in enumerate((sys.stdin, sys.stdout, sys.stderr)):
        if stream is None:
            opened = os.open(os.devnull, os.O_RDONLY)
            if opened != descriptor:
                os.close(opened)


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (AttributeError, OSError, ValueError):
            pass
