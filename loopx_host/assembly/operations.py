"""The composition root: one method per verb, each building just the adapters it needs in its body."""

from __future__ import annotations

from loopx_host.assembly.governed import GovernedOperations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from loopx_host.lifecycle.extensions.admission import Source

# Capabilities that stay in core; their names belong to `loopx-core` and to nobody else.
CORE_CAPABILITIES: frozenset[str] = frozenset()


class Operations(GovernedOperations):
    """What the command line and `Host` can do; plain receipts out, Refused or Interrupted raised."""

    def install(
        self, extension_id: str | None, manifest_path: str | None, *, execute: bool, plan: str | None = None
    ) -> dict[str, Any]:
        """Install what a package offers under an id, or from a manifest file."""
        from loopx_host.lifecycle.extensions.install import install

        return self._marked(
            install(
                self._chosen("install", extension_id, manifest_path),
                **self._ports(),
                core_capabilities=CORE_CAPABILITIES,
                execute=execute,
                plan=plan,
            )
        )

    def upgrade(
        self,
        extension_id: str | None,
        manifest_path: str | None,
        *,
        execute: bool,
        plan: str | None = None,
        accept_permissions: bool = False,
    ) -> dict[str, Any]:
        """Upgrade to what a package offers now, or to a manifest file."""
        from loopx_host.lifecycle.extensions.upgrade import upgrade

        return self._marked(
            upgrade(
                self._chosen("upgrade", extension_id, manifest_path),
                **self._ports(),
                core_capabilities=CORE_CAPABILITIES,
                execute=execute,
                plan=plan,
                accept_permissions=accept_permissions,
            )
        )

    def rollback(
        self, extension_id: str, *, execute: bool, plan: str | None = None, to: str | None = None
    ) -> dict[str, Any]:
        """Return to an earlier revision."""
        from loopx_host.lifecycle.extensions.rollback import rollback

        return self._marked(
            rollback(
                extension_id, **self._ports(), core_capabilities=CORE_CAPABILITIES, execute=execute, plan=plan, to=to
            )
        )

    def enable(self, extension_id: str, *, execute: bool, plan: str | None = None) -> dict[str, Any]:
        """Probe and enable."""
        from loopx_host.lifecycle.extensions.enable import enable

        return self._marked(enable(extension_id, **self._ports(), execute=execute, plan=plan))

    def disable(self, extension_id: str, *, execute: bool, plan: str | None = None) -> dict[str, Any]:
        """Disable."""
        from loopx_host.adapters.clock import SystemClock
        from loopx_host.lifecycle.extensions.disable import disable

        return self._marked(
            disable(extension_id, store=self._store(), clock=SystemClock(), execute=execute, plan=plan)
        )

    def uninstall(self, extension_id: str, *, execute: bool, plan: str | None = None) -> dict[str, Any]:
        """Uninstall."""
        from loopx_host.adapters.clock import SystemClock
        from loopx_host.lifecycle.extensions.uninstall import uninstall

        return self._marked(
            uninstall(
                extension_id,
                store=self._store(),
                projections=self._projections(),
                clock=SystemClock(),
                execute=execute,
                plan=plan,
            )
        )

    def history(self, extension_id: str) -> dict[str, Any]:
        """Show what was done to one extension."""
        from loopx_host.lifecycle.extensions.history import history

        return history(extension_id, store=self._store())

    def export(self) -> dict[str, Any]:
        """Return the export document."""
        from loopx_host.lifecycle.extensions.export import export

        return export(store=self._store())

    def write_export(self, path: str, text: str) -> None:
        """Write an export to a new file, or over an earlier export; whole or not at all.

        Raises Refused: `destination_exists` for anything else that is there, `output_unwritable`.
        """
        from loopx_host.adapters.files import exports
        from loopx_host.adapters.files.paths import absolute
        from loopx_host.core.errors import refuse
        from loopx_host.core.text import visible

        shown = visible(path)
        if not exports.may_replace(absolute(path)):
            summary = f"{shown} exists and is not an export; nothing of yours is written over"
            raise refuse("destination_exists", shown, summary, hint="name another file")
        try:
            exports.write(absolute(path), text)
        except OSError as error:
            raise refuse("output_unwritable", shown, f"{shown} cannot be written: {error.strerror}") from None

    def restore(self, path: str, *, execute: bool, plan: str | None = None) -> dict[str, Any]:
        """Install what an export names."""
        from loopx_host.adapters.files.paths import absolute
        from loopx_host.core.limits import EXPORT_BYTES
        from loopx_host.core.text import visible
        from loopx_host.lifecycle.extensions.restore import restore

        return restore(
            self._read_input(path, EXPORT_BYTES, "export"),
            "-" if path == "-" else visible(absolute(path)),
            open_source=self._source,
            **self._ports(),
            core_capabilities=CORE_CAPABILITIES,
            execute=execute,
            plan=plan,
        )

    def repair(self, *, execute: bool, plan: str | None = None) -> dict[str, Any]:
        """Move what is damaged out of the way."""
        from loopx_host.adapters.clock import SystemClock
        from loopx_host.lifecycle.extensions.repair import repair

        return repair(store=self._store(), clock=SystemClock(), execute=execute, plan=plan)

    def discover(self, *, rebuild: bool) -> dict[str, Any]:
        """List what the environment offers."""
        from loopx_host.adapters.packages.environment import LocalEnvironment
        from loopx_host.lifecycle.extensions.discover import discover

        return self._marked(discover(store=self._store(), discovery=LocalEnvironment(), rebuild=rebuild))

    def host_doctor(self) -> dict[str, Any]:
        """Check state, extensions and environment."""
        from loopx_host.adapters.packages.environment import LocalEnvironment
        from loopx_host.adapters.process.containment_probe import ForkedContainmentProbe
        from loopx_host.lifecycle.extensions.host_doctor import host_doctor

        return host_doctor(
            store=self._store(),
            packages=self._packages(),
            discovery=LocalEnvironment(),
            containment=ForkedContainmentProbe(),
        )

    def init(
        self,
        extension_id: str,
        *,
        destination: str | None,
        version: str,
        execute: bool,
        plan: str | None = None,
    ) -> dict[str, Any]:
        """Write a new extension."""
        import sys

        from loopx_host.adapters.files.new_tree import NewDirectory
        from loopx_host.authoring.init import init

        tree = NewDirectory(destination or f"./{extension_id}", is_default=destination is None)
        return init(
            extension_id,
            version=version,
            tree=tree,
            standard_modules=sys.stdlib_module_names,
            execute=execute,
            plan=plan,
        )

    def validate(self, path: str, *, strict: bool) -> dict[str, Any]:
        """Check a manifest, its schemas and its example."""
        from loopx_host.adapters.process.judge import ForkedJudge
        from loopx_host.authoring.validate import validate

        source, example = self._package(path)
        return validate(source, example, judging=ForkedJudge(self._signals()), strict=strict)

    def conformance(self, path: str, *, execute: bool) -> dict[str, Any]:
        """Hold a provider to the conformance rules."""
        from loopx_host.adapters.process.judge import ForkedJudge
        from loopx_host.authoring.conformance import preview, subject_of

        source, example = self._package(path)
        if not execute:
            return preview(source)
        ports = self._ports()
        return subject_of(
            source,
            example,
            packages=ports["packages"],
            processes=ports["processes"],
            judging=ForkedJudge(self._signals()),
            again=("extension", "conformance", source.path, "--execute"),
        ).report()

    def performance_diagnosis(self, *, pairs: int) -> dict[str, Any]:
        """Measure the start-up of this installation."""
        from loopx_host.adapters.startup import diagnose

        with self._signals().waiting():
            return diagnose(pairs)

    def list(self) -> dict[str, Any]:
        """List what is installed."""
        from loopx_host.adapters.packages.installed import InstalledPackages
        from loopx_host.lifecycle.extensions.listing import list_extensions

        return list_extensions(store=self._store(), packages=InstalledPackages())

    def show(self, extension_id: str) -> dict[str, Any]:
        """Show one extension."""
        from loopx_host.adapters.packages.installed import InstalledPackages
        from loopx_host.lifecycle.extensions.listing import show

        return show(extension_id, store=self._store(), packages=InstalledPackages())

    def doctor(self, extension_id: str, *, execute: bool, plan: str | None = None) -> dict[str, Any]:
        """Probe one extension."""
        from loopx_host.lifecycle.extensions.doctor import doctor

        return doctor(extension_id, **self._ports(), execute=execute, plan=plan)

    def run(
        self, extension_id: str, request: bytes, *, execute: bool, timeout_seconds: float | None = None
    ) -> dict[str, Any]:
        """Run one request."""
        from loopx_host.lifecycle.dispatch.run import run

        self._refuse_when_off()
        return run(
            extension_id,
            request,
            **self._ports(),
            judging=self._judging(),
            execute=execute,
            timeout_seconds=timeout_seconds,
        )

    def read_request(self, path: str) -> bytes:
        """Return the bytes of a request file, or of standard input for ``-``; bounded while reading.

        Raises Refused: `request_too_large`, `input_unreadable`.
        """
        from loopx_host.core.limits import REQUEST_BYTES

        return self._read_input(path, REQUEST_BYTES, "request")

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

    def _read_input(self, path: str, limit: int, what: str) -> bytes:
        from loopx_host.adapters.files import bounded
        from loopx_host.adapters.files.paths import absolute
        from loopx_host.core.errors import refuse
        from loopx_host.core.text import visible

        shown = "standard input" if path == "-" else visible(path)
        try:
            with self._signals().waiting():
                return bounded.read_bounded(0, limit) if path == "-" else bounded.read_any(absolute(path), limit)
        except bounded.TooLargeError:
            summary = f"the {what} in {shown} is larger than {limit} bytes"
            raise refuse("request_too_large", shown, summary, hint=f"send a smaller {what}") from None
        except (OSError, ValueError) as error:
            reason = (isinstance(error, OSError) and error.strerror) or str(error)
            summary = f"the {what} cannot be read from {shown}: {reason}"
            hint = "name a readable file, or - for standard input"
            raise refuse("input_unreadable", shown, summary, hint=hint) from None

    def _chosen(self, verb: str, extension_id: str | None, manifest_path: str | None) -> Source:
        """Load the manifest a caller named by path or by id; the package's metadata lead from id to path."""
        if manifest_path is not None:
            return self._source(manifest_path)
        from loopx_host.adapters.packages.environment import LocalEnvironment
        from loopx_host.lifecycle.extensions.discover import offered

        return self._source(offered(str(extension_id), verb, LocalEnvironment()), by_id=True)

    def _package(self, path: str) -> tuple[Source, tuple[str, bytes] | None]:
        """Load the manifest of a package an author points at, and its example request if there is one."""
        from loopx_host.adapters.files.author_package import example_of, manifest_of
        from loopx_host.adapters.files.paths import absolute
        from loopx_host.core.limits import REQUEST_BYTES
        from loopx_host.core.text import visible

        manifest = manifest_of(absolute(path))
        example = example_of(manifest)
        data = (visible(example), self._read_input(example, REQUEST_BYTES, "example")) if example else None
        return self._source(manifest), data
