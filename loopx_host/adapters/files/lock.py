"""One advisory lock: held across read-modify-write, waited for only so long, gone with its process."""

from __future__ import annotations

import errno
import fcntl
import os
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

_PRIVATE = 0o600
_FLAGS = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK
_PAUSE_SECONDS = 0.02


class LockBusyError(OSError):
    """Somebody else held the lock for the whole wait."""


class FileLock:
    """An exclusive lock on `path`, which is created 0600 and never removed (removing it would race).

    `check` is called while waiting and may raise.
    """

    def __init__(self, path: str, wait_seconds: float, check: Callable[[], None] | None = None) -> None:
        self._path = path
        self._wait_seconds = wait_seconds
        self._check = check
        self._descriptor = -1

    def __enter__(self) -> FileLock:
        self._descriptor = self._open()
        deadline = time.monotonic() + self._wait_seconds
        try:
            while not self._try():
                if time.monotonic() >= deadline:
                    raise LockBusyError(errno.EAGAIN, f"busy for {self._wait_seconds:g} s", self._path)
                if self._check is not None:
                    self._check()
                time.sleep(_PAUSE_SECONDS)
        except BaseException:
            self._close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._close()

    def _open(self) -> int:
        try:
            descriptor = os.open(self._path, _FLAGS | os.O_EXCL, _PRIVATE)
        except FileExistsError:
            return os.open(self._path, _FLAGS, _PRIVATE)
        os.fchmod(descriptor, _PRIVATE)
        return descriptor

    def _try(self) -> bool:
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def _close(self) -> None:
        os.close(self._descriptor)
        self._descriptor = -1
