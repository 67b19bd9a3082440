"""One git call at a time on a repository nobody trusts: no shell, no configured program, bounded time and output."""

from __future__ import annotations

import os
import selectors
import shutil
import subprocess
import tempfile
import time
from dataclasses import dataclass
from typing import IO

from loopx_host import OperationFailed

CALL_SECONDS = 10.0
TOTAL_SECONDS = 40.0
OUTPUT_BYTES = 16 * 1024 * 1024
STDERR_BYTES = 4096
_CHUNK = 65536

# Command-line values win over every file, so whatever the repository (or a file it includes) sets is not in effect.
# Only plumbing is called beside them: no alias, hook, filter, text conversion, pager, editor or signature check is on
# its way. What is left is the fetch of a missing object from a promisor remote: off, and no transport is allowed.
OVERRIDES = (
    "safe.directory=*",
    "core.fsmonitor=false",
    "core.hooksPath=/dev/null",
    "core.attributesFile=/dev/null",
    "core.excludesFile=/dev/null",
    "core.pager=cat",
    "core.sshCommand=false",
    "core.gitProxy=false",
    "core.askPass=false",
    "credential.helper=",
    "protocol.allow=never",
    "submodule.recurse=false",
    "color.ui=never",
    "core.precomposeUnicode=false",
)
# HOME is a place below which nothing can exist: git asks there for settings, and where it may not look it would end.
ENVIRONMENT = {
    "HOME": "/dev/null",
    "LC_ALL": "C",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_SYSTEM": "/dev/null",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_ALLOW_PROTOCOL": "",
    "GIT_PROTOCOL_FROM_USER": "0",
    "GIT_SSH_COMMAND": "false",
    "GIT_ASKPASS": "false",
    "SSH_ASKPASS": "false",
    "GIT_EDITOR": "false",
    "GIT_PAGER": "cat",
}


@dataclass(frozen=True, slots=True)
class Answer:
    """What one call gave: its exit status (negative when it was ended), its output and whether that is all of it."""

    status: int
    output: bytes
    complained: bool
    cut: bool
    late: bool

    @property
    def succeeded(self) -> bool:
        """Whether git ended by itself with status 0."""
        return self.status == 0 and not self.cut and not self.late


class Repository:
    """Git calls on one directory; nothing above it is searched, and nothing in it chooses another working tree."""

    def __init__(self, path: str, *, total_seconds: float = TOTAL_SECONDS, output_bytes: int = OUTPUT_BYTES) -> None:
        self.path = os.path.realpath(path)
        self.has_work_tree = os.path.lexists(os.path.join(self.path, ".git"))
        if not self.has_work_tree and not _looks_bare(self.path):
            raise OperationFailed(
                "not_a_repository", "the directory holds no .git and is no bare git repository; name one that is"
            )
        self._program = _git()
        self._deadline = time.monotonic() + total_seconds
        self._output_bytes = output_bytes

    def call(self, *arguments: str, stdin: bytes | None = None) -> Answer:
        """Run git with `arguments` and return its answer, complete or not."""
        with tempfile.TemporaryFile() as source:
            source.write(stdin or b"")
            source.seek(0)
            process = subprocess.Popen(
                self._argv(arguments),
                stdin=source,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env={**ENVIRONMENT, "PATH": os.environ.get("PATH", os.defpath)},
                bufsize=0,
            )
            with process:
                try:
                    return self._collect(process)
                finally:
                    process.kill()

    def _argv(self, arguments: tuple[str, ...]) -> list[str]:
        place = ["-C", self.path, "--bare", f"--git-dir={self.path}"]
        if self.has_work_tree:
            place = ["-C", self.path, f"--git-dir={self.path}/.git", f"--work-tree={self.path}"]
        settings = [part for override in OVERRIDES for part in ("-c", override)]
        return [self._program, *settings, "--no-pager", "--no-optional-locks", *place, *arguments]

    def _collect(self, process: subprocess.Popen[bytes]) -> Answer:
        """Read both streams until they end, the time is up or there is too much of it."""
        deadline = min(self._deadline, time.monotonic() + CALL_SECONDS)
        kept: dict[str, bytearray] = {"output": bytearray(), "complaint": bytearray()}
        with selectors.DefaultSelector() as selector:
            for name, stream in (("output", process.stdout), ("complaint", process.stderr)):
                if stream is not None:
                    selector.register(stream, selectors.EVENT_READ, name)
            while selector.get_map() and len(kept["output"]) <= self._output_bytes:
                ready = selector.select(max(0.0, deadline - time.monotonic()))
                if not ready:
                    return Answer(-1, b"", bool(kept["complaint"]), cut=False, late=True)
                for key, _ in ready:
                    _take(selector, key, kept[key.data])
        cut = len(kept["output"]) > self._output_bytes
        return Answer(
            -1 if cut else _status(process, deadline),
            bytes(kept["output"][: self._output_bytes]),
            bool(kept["complaint"]),
            cut=cut,
            late=False,
        )


def _take(selector: selectors.BaseSelector, key: selectors.SelectorKey, kept: bytearray) -> None:
    stream: IO[bytes] = key.fileobj  # type: ignore[assignment]
    data = stream.read(_CHUNK)
    if not data:
        selector.unregister(stream)
    elif key.data == "output":
        kept += data
    else:
        kept += data[: STDERR_BYTES - len(kept)]


def _status(process: subprocess.Popen[bytes], deadline: float) -> int:
    try:
        return process.wait(max(0.1, deadline - time.monotonic()))
    except subprocess.TimeoutExpired:
        return -1


def _looks_bare(path: str) -> bool:
    return os.path.lexists(f"{path}/HEAD") and os.path.isdir(f"{path}/objects") and os.path.isdir(f"{path}/refs")


def _git() -> str:
    """Return git's absolute path; a relative folder on PATH could be one that the repository fills."""
    folders = [folder for folder in os.environ.get("PATH", os.defpath).split(os.pathsep) if os.path.isabs(folder)]
    found = shutil.which("git", path=os.pathsep.join(folders))
    if found is None:
        raise OperationFailed("git_unavailable", "git is not on PATH; install it and ask again")
    return found
