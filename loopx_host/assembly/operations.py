# ruff: noqa: D102
"""What the command line calls until its commands call the use cases themselves: one line a verb."""

from __future__ import annotations

from loopx_host.assembly.container import Container, Settings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    Receipt = Any


class Operations:
    """Plain receipts out, Refused or Interrupted raised."""

    def __init__(
        self,
        state_file: str | None = None,
        runtime_root: str | None = None,
        *,
        owns_process: bool = False,  # noqa: ARG002
        waiting: Callable[[float], None] | None = None,
        containment: str | None = None,
        no_extensions: bool = False,
    ) -> None:
        self.container = Container(
            Settings(state_file, runtime_root, containment=containment, no_extensions=no_extensions, waiting=waiting)
        )

    @property
    def options(self) -> tuple[str, ...]:
        return self.container.settings.options

    def check_level(self) -> None:
        if self.container.settings.containment is not None:
            _ = self.container.level

    def handle_signals(self) -> None:
        self.container.interrupts.install()

    def begin_answer(self) -> None:
        self.container.interrupts.answer()

    def check_signals(self) -> None:
        self.container.interrupts.check()

    def _marked(self, receipt: Receipt) -> Receipt:
        if receipt.get("changed", True):
            from loopx_host.lifecycle.extensions.activation import refresh_command_list

            refresh_command_list(self.container)
        return receipt

    def install(
        self, extension_id: str | None, manifest_path: str | None, *, execute: bool, plan: str | None = None
    ) -> Receipt:
        from loopx_host.lifecycle.extensions.install import install
        from loopx_host.lifecycle.extensions.requests import TrustRequest

        request = TrustRequest(extension_id, manifest_path, execute=execute, plan=plan)
        return self._marked(install(request, self.container))

    def upgrade(
        self,
        extension_id: str | None,
        manifest_path: str | None,
        *,
        execute: bool,
        plan: str | None = None,
        accept_permissions: bool = False,
    ) -> Receipt:
        from loopx_host.lifecycle.extensions.requests import TrustRequest
        from loopx_host.lifecycle.extensions.upgrade import upgrade

        request = TrustRequest(
            extension_id, manifest_path, execute=execute, plan=plan, accept_permissions=accept_permissions
        )
        return self._marked(upgrade(request, self.container))

    def rollback(
        self, extension_id: str, *, execute: bool, plan: str | None = None, to: str | None = None
    ) -> Receipt:
        from loopx_host.lifecycle.extensions.requests import RollbackRequest
        from loopx_host.lifecycle.extensions.rollback import rollback

        return self._marked(
            rollback(RollbackRequest(extension_id, execute=execute, plan=plan, to=to), self.container)
        )

    def enable(self, extension_id: str, *, execute: bool, plan: str | None = None) -> Receipt:
        from loopx_host.lifecycle.extensions.enable import enable
        from loopx_host.lifecycle.extensions.requests import ChangeRequest

        return self._marked(enable(ChangeRequest(extension_id, execute=execute, plan=plan), self.container))

    def disable(self, extension_id: str, *, execute: bool, plan: str | None = None) -> Receipt:
        from loopx_host.lifecycle.extensions.disable import disable
        from loopx_host.lifecycle.extensions.requests import ChangeRequest

        return self._marked(disable(ChangeRequest(extension_id, execute=execute, plan=plan), self.container))

    def uninstall(self, extension_id: str, *, execute: bool, plan: str | None = None) -> Receipt:
        from loopx_host.lifecycle.extensions.requests import ChangeRequest
        from loopx_host.lifecycle.extensions.uninstall import uninstall

        return self._marked(uninstall(ChangeRequest(extension_id, execute=execute, plan=plan), self.container))

    def doctor(self, extension_id: str, *, execute: bool, plan: str | None = None) -> Receipt:
        from loopx_host.lifecycle.extensions.doctor import doctor
        from loopx_host.lifecycle.extensions.requests import ChangeRequest

        return doctor(ChangeRequest(extension_id, execute=execute, plan=plan), self.container)

    def history(self, extension_id: str) -> Receipt:
        from loopx_host.lifecycle.extensions.history import history

        return history(extension_id, self.container)

    def export(self) -> Receipt:
        from loopx_host.lifecycle.extensions.export import export

        return export(self.container)

    def write_export(self, path: str, text: str) -> None:
        self.container.exports.write(path, text)

    def restore(self, path: str, *, execute: bool, plan: str | None = None) -> Receipt:
        from loopx_host.lifecycle.extensions.restore import RestoreRequest, restore

        data, shown = self.container.inputs.export(path)
        return restore(RestoreRequest(data, shown, execute=execute, plan=plan), self.container)

    def repair(self, *, execute: bool, plan: str | None = None) -> Receipt:
        from loopx_host.lifecycle.extensions.repair import RepairRequest, repair

        return repair(RepairRequest(execute=execute, plan=plan), self.container)

    def discover(self, *, rebuild: bool) -> Receipt:
        from loopx_host.lifecycle.extensions.discover import DiscoverRequest, discover

        return self._marked(discover(DiscoverRequest(rebuild=rebuild), self.container))

    def host_doctor(self) -> Receipt:
        from loopx_host.lifecycle.extensions.host_doctor import host_doctor

        return host_doctor(self.container)

    def init(
        self, extension_id: str, *, destination: str | None, version: str, execute: bool, plan: str | None = None
    ) -> Receipt:
        from loopx_host.authoring.init import InitRequest, init

        request = InitRequest(extension_id, destination=destination, version=version, execute=execute, plan=plan)
        return init(request, self.container)

    def validate(self, path: str, *, strict: bool) -> Receipt:
        from loopx_host.authoring.validate import ValidateRequest, validate

        return validate(ValidateRequest(path, strict=strict), self.container)

    def conformance(self, path: str, *, execute: bool) -> Receipt:
        from loopx_host.authoring.conformance import ConformanceRequest, hold_to_rules

        return hold_to_rules(ConformanceRequest(path, execute=execute), self.container)

    def performance_diagnosis(self, *, pairs: int) -> Receipt:
        from loopx_host.adapters.startup import diagnose

        with self.container.interrupts.waiting():
            return diagnose(pairs)

    def list(self) -> Receipt:
        from loopx_host.lifecycle.extensions.listing import list_extensions

        return list_extensions(self.container)

    def show(self, extension_id: str) -> Receipt:
        from loopx_host.lifecycle.extensions.listing import show

        return show(extension_id, self.container)

    def run(
        self, extension_id: str, request: bytes, *, execute: bool, timeout_seconds: float | None = None
    ) -> Receipt:
        from loopx_host.lifecycle.dispatch.run import RunRequest, run

        return run(
            RunRequest(extension_id, request, execute=execute, timeout_seconds=timeout_seconds), self.container
        )

    def read_request(self, path: str) -> bytes:
        return self.container.inputs.request(path)

    def report_path(self, text: str) -> str | None:
        return self.container.reports.keep(text)

    def list_capabilities(self, manifest_path: str | None) -> Receipt:
        from loopx_host.lifecycle.goals.capabilities import list_capabilities

        return self._marked(list_capabilities(manifest_path, self.container))

    def show_capability(self, capability_id: str, manifest_path: str | None) -> Receipt:
        from loopx_host.lifecycle.goals.capabilities import show_capability

        return show_capability(capability_id, manifest_path, self.container)

    def bind(
        self,
        capability_id: str,
        *,
        goal_id: str,
        operations: list[str],  # type: ignore[valid-type]
        provider_id: str | None,
        execute: bool,
        plan: str | None = None,
    ) -> Receipt:
        from loopx_host.lifecycle.goals.bind import BindRequest, bind

        request = BindRequest(
            capability_id, goal_id=goal_id, operations=operations, provider_id=provider_id, execute=execute, plan=plan
        )
        return bind(request, self.container)

    def unbind(self, capability_id: str, *, goal_id: str, execute: bool, plan: str | None = None) -> Receipt:
        from loopx_host.lifecycle.goals.bind import UnbindRequest, unbind

        return unbind(UnbindRequest(capability_id, goal_id=goal_id, execute=execute, plan=plan), self.container)

    def invoke(
        self,
        capability_id: str,
        request: bytes,
        *,
        goal_id: str,
        operation: str,
        references: dict[str, str],
        execute: bool,
    ) -> Receipt:
        from loopx_host.lifecycle.goals.invoke import InvokeRequest, invoke

        asked = InvokeRequest(
            capability_id,
            request,
            goal_id=goal_id,
            operation_id=operation,
            references=references,
            execute=execute,
        )
        return invoke(asked, self.container)

    def publish_projection(
        self,
        extension_id: str,
        surface_id: str,
        request: bytes,
        *,
        execute: bool,
        references: dict[str, str] | None = None,
    ) -> Receipt:
        from loopx_host.lifecycle.dispatch.publish_projection import PublishRequest, publish_projection

        asked = PublishRequest(extension_id, surface_id, request, execute=execute, references=references)
        return publish_projection(asked, self.container)

    def package_commands(self) -> list[list[str]] | None:  # type: ignore[valid-type]
        rows = self.container.command_list.read()
        if rows is None or not self.container.is_off:
            return rows
        return [[name, summary, "off"] for name, summary, _ in rows]

    def package_command(self, name: str, arguments: list[str]) -> Receipt | None:  # type: ignore[valid-type]
        from loopx_host.lifecycle.dispatch.package_command import PackageCommandRequest, package_command

        return package_command(PackageCommandRequest(name, arguments), self.container)
