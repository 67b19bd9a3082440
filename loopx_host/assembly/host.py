"""`Host`: the embedding API (extension-formats, *Embedding*)."""

from __future__ import annotations

from loopx_host.assembly.container import Container, Settings
from loopx_host.assembly.encoding import encode_request
from loopx_host.core.diagnostics import with_commands
from loopx_host.core.errors import Refused

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from loopx_host.adapters.process.warm import WarmSupervisors
    from loopx_host.documents.extension_list import ExtensionList
    from loopx_host.documents.run_receipt import RunReceipt


class Host:
    """Runs installed extensions from another program.

    Requests and receipts are plain dictionaries, the same documents the command line prints. A refusal
    raises `Refused`, whose `document` is the error document. The host handles no signal, never becomes a
    subreaper and never waits for a child it did not start: a helper process, started at the first run and gone
    with this program, supervises each run and is no child of it. It may be used from several threads, green ones
    among them, and as a context manager.

    >>> host = Host.open(state_file="/srv/app/loopx.json")  # doctest: +SKIP
    >>> host.run("loopx-text-stats", {"schema_version": "…", "text": "hello"})["provider_result"]  # doctest: +SKIP
    """

    def __init__(self, settings: Settings, supervisors: WarmSupervisors) -> None:
        self._settings = settings
        self._supervisors = supervisors

    @classmethod
    def open(
        cls, state_file: str | None = None, runtime_root: str | None = None, *, containment: str | None = None
    ) -> Host:
        """Return a host over one activation state; nothing is read or created yet.

        `containment` demands a level, as ``--containment`` does.

        Without arguments the state is the one the command line uses: ``LOOPX_RUNTIME_ROOT``, else the
        platform's state directory. Which one that is, is settled here: what the program does to its environment or
        current directory later changes nothing.
        """
        from loopx_host.adapters.files import paths
        from loopx_host.adapters.process.warm import WarmSupervisors as Supervisors
        from loopx_host.assembly.load_ahead import load_ahead

        load_ahead()
        settings = Settings(
            paths.absolute(state_file) if state_file else state_file,
            paths.absolute(runtime_root) if runtime_root else runtime_root,
            containment=containment,
            kept_root=None if state_file or runtime_root else _present_root(),
        )
        return cls(settings, Supervisors())

    def close(self) -> None:
        """End the helper process; the next run starts another."""
        self._supervisors.close()

    def __enter__(self) -> Host:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def list(self) -> ExtensionList:
        """Return the document of ``loopx extension list``. Raises Refused `state_damaged` and its kin."""
        from loopx_host.lifecycle.extensions.listing import list_extensions

        with self._refusals():
            return with_commands(list_extensions(self._container()), self._settings.options)

    def run(self, extension_id: str, request: Mapping[str, object], *, timeout: float | None = None) -> RunReceipt:
        """Run one request and return its receipt; ``ok`` is false when the provider failed.

        `timeout` in seconds only shortens the manifest's. Raises Refused before anything starts: the
        extension is not installed, disabled, stale, declares permissions, or the request is out of bounds.
        """
        from loopx_host.lifecycle.dispatch.run import RunRequest, run

        with self._refusals():
            wanted = RunRequest(extension_id, encode_request(request), execute=True, timeout_seconds=timeout)
            return with_commands(run(wanted, self._container()), self._settings.options)

    def _container(self) -> Container:
        return Container(self._settings, self._supervisors)

    def _refusals(self) -> _Repeating:
        return _Repeating(self._settings.options)


def _present_root() -> str | None:
    """Return the runtime root of the environment as it is now; None where it has none, which each call refuses."""
    import os

    from loopx_host.adapters.files import paths

    root = paths.runtime_root()
    return root if os.path.isabs(root) else None


class _Repeating:
    """Gives a passing Refused the options its suggested command must repeat."""

    def __init__(self, options: tuple[str, ...]) -> None:
        self._options = options

    def __enter__(self) -> None:
        return None

    def __exit__(self, _kind: object, error: BaseException | None, _trace: object) -> None:
        if isinstance(error, Refused):
            error.options = self._options
