"""What the process port is given (`Launch`) and what it gives back (`Ended`); plain data, no process."""

from __future__ import annotations

from loopx_host.core.limits import FILE_SIZE_MB, OPEN_FILES_DEFAULT, STDERR_BYTES, STDOUT_BYTES, SYSTEM_PATH

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from loopx_host.documents.parts import Containment

# Why a run was stopped before the provider ended by itself; `None` in Ended.stopped_by means it was not.
TIMEOUT, STDOUT, STDERR = "timeout", "response_too_large", "stderr_too_large"


class Limits:
    """The bounds of one run: seconds, bytes, descriptors, MiB (None: unlimited).

    `reserves_memory` says that the runtime reserves far more address space than it uses (Node), so that only what
    it can write to is counted. `file_size_mb` bounds each file.
    """

    __slots__ = (
        "file_size_mb",
        "memory_mb",
        "open_files",
        "reserves_memory",
        "stderr_bytes",
        "stdout_bytes",
        "timeout_seconds",
    )

    def __init__(
        self,
        timeout_seconds: float,
        *,
        stdout_bytes: int = STDOUT_BYTES,
        stderr_bytes: int = STDERR_BYTES,
        open_files: int = OPEN_FILES_DEFAULT,
        memory_mb: int | None = None,
        reserves_memory: bool = False,
        file_size_mb: int = FILE_SIZE_MB,
    ) -> None:
        self.timeout_seconds = timeout_seconds
        self.stdout_bytes = stdout_bytes
        self.stderr_bytes = stderr_bytes
        self.open_files = open_files
        self.memory_mb = memory_mb
        self.reserves_memory = reserves_memory
        self.file_size_mb = file_size_mb


class Grants:
    """What one process may do beyond running: nothing, unless a permission names it (contract section 2).

    `reads` are the files and directories that running it needs, `lists` directories whose names it needs to see
    and whose files it does not. `permissions` are the tokens granted for this run; `references` maps the name in
    ``fs.read:<name>`` and ``fs.write:<name>`` to an absolute path.
    """

    __slots__ = ("lists", "permissions", "reads", "references")

    def __init__(
        self,
        reads: list[str] | None = None,
        lists: list[str] | None = None,
        *,
        permissions: list[str] | None = None,
        references: dict[str, str] | None = None,
    ) -> None:
        self.reads = reads or []
        self.lists = lists or []
        self.permissions = permissions or []
        self.references = references or {}


class Launch:
    """One process to run: absolute argv, names to pass on, variables to set, bounds, standard input.

    `search_path` are the directories of its PATH. `bytecode_to`, where given, is a directory that
    does not exist yet: the process gets a byte-code cache inside its private directory, and what it left there is
    moved to this place when it has ended with status 0.
    """

    __slots__ = ("argv", "bytecode_to", "env_names", "env_set", "grants", "limits", "search_path", "stdin")

    def __init__(
        self,
        argv: list[str],
        limits: Limits,
        *,
        env_names: list[str] | None = None,
        env_set: dict[str, str] | None = None,
        search_path: Sequence[str] = SYSTEM_PATH,
        stdin: bytes = b"",
        grants: Grants | None = None,
        bytecode_to: str | None = None,
    ) -> None:
        self.argv = argv
        self.limits = limits
        self.env_names = env_names or []
        self.env_set = env_set or {}
        self.search_path = [*search_path]
        self.stdin = stdin
        self.grants = grants or Grants()
        self.bytecode_to = bytecode_to


class Ended:
    """How a process ended.

    `stopped_by` names the bound that ended it; `start_error` why it never started; `lacks`, a code and a sentence,
    why this machine could start nothing. `exit_code` is None after a signal, whose name is `signal`. `containment`
    says what is known of its descendants.
    """

    __slots__ = (
        "containment",
        "duration_ms",
        "exit_code",
        "lacks",
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
        lacks: tuple[str, str] | None = None,
        stdout: bytes = b"",
        stderr: bytes = b"",
        duration_ms: int = 0,
        containment: Containment | None = None,
    ) -> None:
        self.exit_code = exit_code
        self.signal = signal
        self.stopped_by = stopped_by
        self.start_error = start_error
        self.lacks = lacks
        self.stdout = stdout
        self.stderr = stderr
        self.duration_ms = duration_ms
        self.containment: Containment = containment or {}

    @property
    def failure(self) -> tuple[str, str] | None:
        """(failure kind, sentence) when the process itself failed, whatever it printed; else None."""
        if self.start_error is not None:
            return "start_failed", f"the provider could not be started: {self.start_error}"
        if self.stopped_by is not None:
            return self.stopped_by, _STOPPED[self.stopped_by]
        if self.signal is not None:
            return "signalled", f"the provider was ended by signal {self.signal}"
        if self.exit_code != 0:
            return "exit_nonzero", f"the provider exited with status {self.exit_code}"
        return None


_STOPPED = {
    TIMEOUT: "the provider ran longer than its timeout",
    STDOUT: "the provider wrote more to standard output than the limit",
    STDERR: "the provider wrote more to standard error than the limit",
}
