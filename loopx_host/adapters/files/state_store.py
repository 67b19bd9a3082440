"""The activation state file on disk (contract section 5, *Activation state*)."""

from __future__ import annotations

import os

from loopx_host.adapters.files import atomic, bounded, paths
from loopx_host.adapters.files.lock import FileLock, LockBusyError
from loopx_host.core.errors import refuse
from loopx_host.core.limits import LOCK_WAIT_SECONDS, STATE_BYTES
from loopx_host.core.text import visible

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from loopx_host.core.errors import Refused


class FileStateStore:
    """One state file, its lock beside it, and the directory of what is kept with it."""

    def __init__(self, path: str, kept: str, wait_seconds: float = LOCK_WAIT_SECONDS) -> None:
        self._path = path
        self._kept = kept
        self._wait_seconds = wait_seconds
        self.location = visible(path)

    @classmethod
    def at(cls, state_file: str | None, runtime_root: str | None) -> FileStateStore:
        """Return the store for the caller's options; `state_file` wins and keeps the rest in ``P.d``."""
        if state_file is not None:
            path = paths.absolute(state_file)
            return cls(path, f"{path}.d")
        path = paths.state_file(paths.runtime_root(runtime_root))
        return cls(path, os.path.dirname(path))

    def read(self) -> bytes | None:
        """Return the file's bytes or None. Raises Refused (see the port)."""
        return self._read(self._target())

    def change(self, edit: Callable[[bytes | None], bytes]) -> None:
        """Replace the file under the lock, durably. Raises Refused (see the port)."""
        target = self._target()
        try:
            paths.make_private(os.path.dirname(target))
            with FileLock(f"{target}.lock", self._wait_seconds):
                new = edit(self._read(target))
                atomic.replace(target, new)
        except LockBusyError as error:
            raise refuse(
                "lock_busy",
                self.location,
                f"another command holds the lock of {self.location} ({error.strerror})",
                hint="try again when it has finished",
            ) from None
        except OSError as error:
            raise self._unwritable(error) from error

    def keep_schema(self, digest: str, data: bytes) -> None:
        """Keep `data` as ``schemas/<digest>.json``; a file already there has that name for its content."""
        directory = os.path.join(self._kept, "schemas")
        path = os.path.join(directory, f"{digest}.json")
        try:
            paths.make_private(directory)
            atomic.replace(path, data)
        except OSError as error:
            raise self._unwritable(error) from error

    def _target(self) -> str:
        """Follow a link to its target; refuse one that leads nowhere, since its maker chose the place."""
        if os.path.islink(self._path):
            target = os.path.realpath(self._path)
            if not os.path.isfile(target):
                raise refuse(
                    "state_unsafe",
                    self.location,
                    f"the state file {self.location} is a link to {visible(target)}, which is not a file",
                    hint="remove the link, or create the file it names",
                )
            return target
        return self._path

    def _read(self, path: str) -> bytes | None:
        try:
            return bounded.read_regular(path, STATE_BYTES)
        except FileNotFoundError:
            return None
        except bounded.NotRegularError as error:
            raise refuse("state_unsafe", self.location, f"the state file {self.location}: {error}") from None
        except bounded.TooLargeError as error:
            raise refuse("state_damaged", self.location, f"the state file {self.location}: {error}") from None
        except OSError as error:
            summary = f"the state file {self.location} cannot be read: {error.strerror}"
            raise refuse("state_unreadable", self.location, summary) from error

    def _unwritable(self, error: OSError) -> Refused:
        return refuse(
            "state_unwritable",
            self.location,
            f"the state file {self.location} cannot be written: {error.strerror}",
            hint="the old state is still in place; make room or set permissions, then repeat the command",
        )
