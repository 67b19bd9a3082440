"""What the process port is given (`Launch`) and what it gives back (`Ended`); plain data, no process."""

from __future__ import annotations

from loopx_host.core.limits import OPEN_FILES_DEFAULT, STDERR_BYTES, STDOUT_BYTES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# Why a run was stopped before the provider ended by itself; `None` in Ended.stopped_by means it was not.
TIMEOUT, STDOUT, STDERR = "timeout", "response_too_large", "stderr_too_large"


class Limits:
    """The bounds of one run: seconds, bytes, descriptors, MiB (None: unlimited)."""

    __slots__ = ("memory_mb", "open_files", "stderr_bytes", "stdout_bytes", "timeout_seconds")

    def __init__(
        self,
        timeout_seconds: float,
        *,
        stdout_bytes: int = STDOUT_BYTES,
        stderr_bytes: int = STDERR_BYTES,
        open_files: int = OPEN_FILES_DEFAULT,
        memory_mb: int | None = None,
    ) -> None:
        self.timeout_seconds = timeout_seconds
        self.stdout_bytes = stdout_bytes
        self.stderr_bytes = stderr_bytes
        self.open_files = open_files
        self.memory_mb = memory_mb


class Launch:
    """One process to run: absolute argv, names to pass on, variables to set, bounds, standard input.

    `path_first` are directories that go before the caller's PATH.
    """

    __slots__ = ("argv", "env_names", "env_set", "limits", "path_first", "stdin")

    def __init__(
        self,
        argv: list[str],
        limits: Limits,
        *,
        env_names: list[str] | None = None,
        env_set: dict[str, str] | None = None,
        path_first: list[str] | None = None,
        stdin: bytes = b"",
    ) -> None:
        self.argv = argv
        self.limits = limits
        self.env_names = env_names or []
        self.env_set = env_set or {}
        self.path_first = path_first or []
        self.stdin = stdin


class Ended:
    """How a process ended.

    `stopped_by` names the bound that ended it; `start_error` why it never started. `exit_code` is None
    after a signal, whose name is `signal`. `containment` says what is known of its descendants.
    """

    __slots__ = (
        "containment",
        "duration_ms",
        "exit_code",
        "signal",
        "start_error",
        "stderr",
        "stdout",
        "stopped_by",
    )

    def __init__(
        self,
        *,
        exit_code: int | None = None,
        signal: str | None = None,
        stopped_by: str | None = None,
        start_error: str | None = None,
        stdout: bytes = b"",
        stderr: bytes = b"",
        duration_ms: int = 0,
        containment: dict[str, Any] | None = None,
    ) -> None:
        self.exit_code = exit_code
        self.signal = signal
        self.stopped_by = stopped_by
        self.start_error = start_error
        self.stdout = stdout
        self.stderr = stderr
        self.duration_ms = duration_ms
        self.containment = containment or {}
