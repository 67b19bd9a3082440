"""The composition root: one method per verb, each building just the adapters it needs in its body."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from loopx_host.adapters.files.state_store import FileStateStore
    from loopx_host.adapters.process.interrupts import Interrupts
    from loopx_host.adapters.process.runner import ProcessRunner

# Capabilities that stay in core; their names belong to `loopx-core` and to nobody else.
CORE_CAPABILITIES: frozenset[str] = frozenset()


class Operations:
    """What the command line and `Host` can do; plain receipts out, Refused or Interrupted raised.

    `owns_process` says that this process serves one command only (see `ProcessRunner`).
    """

    def __init__(
        self,
        state_file: str | None = None,
        runtime_root: str | None = None,
        *,
        owns_process: bool = False,
    ) -> None:
        self._state_file = state_file
        self._runtime_root = runtime_root
        self._owns_process = owns_process
        self._interrupts: Interrupts | None = None

    @property
    def options(self) -> tuple[str, ...]:
        """The global options that a suggested command must repeat to mean the same state."""
        from loopx_host.core.text import visible

        given = (("--state-file", self._state_file), ("--runtime-root", self._runtime_root))
        return tuple(part for flag, value in given if value is not None for part in (flag, visible(value)))

    def handle_signals(self) -> None:
        """Turn INT, TERM and HUP into Interrupted; for the command line only."""
        self._signals().install()

    def install(self, manifest_path: str, *, execute: bool) -> dict[str, Any]:
        """Install from a manifest file."""
        from loopx_host.adapters.clock import SystemClock
        from loopx_host.adapters.files.manifest_folder import open_manifest
        from loopx_host.adapters.files.paths import absolute
        from loopx_host.adapters.packages.installed import InstalledPackages
        from loopx_host.core.text import visible
        from loopx_host.lifecycle.install import Source, install
        from loopx_host.registry.load import load

        path = absolute(manifest_path)
        folder, name = open_manifest(path)
        return install(
            Source(load(folder, name), visible(path), folder.location),
            store=self._store(),
            packages=InstalledPackages(),
            processes=self._processes(),
            clock=SystemClock(),
            core_capabilities=CORE_CAPABILITIES,
            execute=execute,
        )

    def list(self) -> dict[str, Any]:
        """List what is installed."""
        from loopx_host.adapters.packages.installed import InstalledPackages
        from loopx_host.lifecycle.listing import list_extensions

        return list_extensions(store=self._store(), packages=InstalledPackages())

    def show(self, extension_id: str) -> dict[str, Any]:
        """Show one extension."""
        from loopx_host.adapters.packages.installed import InstalledPackages
        from loopx_host.lifecycle.listing import show

        return show(extension_id, store=self._store(), packages=InstalledPackages())

    def doctor(self, extension_id: str, *, execute: bool) -> dict[str, Any]:
        """Probe one extension."""
        from loopx_host.adapters.clock import SystemClock
        from loopx_host.adapters.packages.installed import InstalledPackages
        from loopx_host.lifecycle.doctor import doctor

        return doctor(
            extension_id,
            store=self._store(),
            packages=InstalledPackages(),
            processes=self._processes(),
            clock=SystemClock(),
            execute=execute,
        )

    def run(
        self, extension_id: str, request: bytes, *, execute: bool, timeout_seconds: float | None = None
    ) -> dict[str, Any]:
        """Run one request."""
        from loopx_host.adapters.clock import SystemClock
        from loopx_host.adapters.packages.installed import InstalledPackages
        from loopx_host.lifecycle.run import run

        return run(
            extension_id,
            request,
            store=self._store(),
            packages=InstalledPackages(),
            processes=self._processes(),
            clock=SystemClock(),
            execute=execute,
            timeout_seconds=timeout_seconds,
        )

    def read_request(self, path: str) -> bytes:
        """Return the bytes of a request file, or of standard input for ``-``; bounded while reading.

        Raises Refused: `request_too_large`, `input_unreadable`.
        """
        from loopx_host.adapters.files import bounded
        from loopx_host.adapters.files.paths import absolute
        from loopx_host.core.errors import refuse
        from loopx_host.core.limits import REQUEST_BYTES
        from loopx_host.core.text import visible

        shown = "standard input" if path == "-" else visible(path)
        try:
            if path == "-":
                return bounded.read_bounded(0, REQUEST_BYTES)
            return bounded.read_any(absolute(path), REQUEST_BYTES)
        except bounded.TooLargeError:
            summary = f"the request in {shown} is larger than {REQUEST_BYTES} bytes"
            raise refuse("request_too_large", shown, summary, hint="send less in one request") from None
        except (OSError, ValueError) as error:
            reason = (isinstance(error, OSError) and error.strerror) or str(error)
            summary = f"the request cannot be read from {shown}: {reason}"
            raise refuse(
                "input_unreadable", shown, summary, hint="name a readable file, or - for standard input"
            ) from None

    def report_path(self, text: str) -> str | None:
        """Keep the report of an internal error in a private file; return its path, or None."""
        import os

        from loopx_host.adapters.files import atomic, paths

        directory = os.path.join(paths.cache_root(), "reports")
        path = os.path.join(directory, f"{os.urandom(8).hex()}.txt")
        try:
            paths.make_private(directory)
            atomic.replace(path, text.encode("utf-8", "backslashreplace"))
        except OSError:
            return None
        return path

    def _store(self) -> FileStateStore:
        from loopx_host.adapters.files.state_store import FileStateStore

        return FileStateStore.at(self._state_file, self._runtime_root)

    def _processes(self) -> ProcessRunner:
        from loopx_host.adapters.process.runner import ProcessRunner

        return ProcessRunner(self._signals(), owns_process=self._owns_process)

    def _signals(self) -> Interrupts:
        from loopx_host.adapters.process.interrupts import Interrupts

        if self._interrupts is None:
            self._interrupts = Interrupts()
        return self._interrupts
