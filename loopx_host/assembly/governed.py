"""Capabilities and what packages bring into the host: the operations behind `capability …` and packages' commands."""

from __future__ import annotations

from loopx_host.assembly.adapters import Adapters

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class GovernedOperations(Adapters):
    """Catalogue, bindings, governed calls, presentation surfaces, commands of packages."""

    def list_capabilities(self, manifest_path: str | None) -> dict[str, Any]:
        """Return the capability catalogue, with what a manifest would add to it."""
        from loopx_host.adapters.clock import SystemClock
        from loopx_host.adapters.packages.environment import LocalEnvironment
        from loopx_host.adapters.packages.installed import InstalledPackages
        from loopx_host.lifecycle.goals.capabilities import list_capabilities

        receipt = list_capabilities(
            store=self._store(),
            packages=InstalledPackages(),
            discovery=LocalEnvironment(),
            projections=self._projections(),
            declared=self._source(manifest_path) if manifest_path else None,
            now=SystemClock().now(),
            is_off=self.is_off,
        )
        return self._marked(receipt)

    def show_capability(self, capability_id: str, manifest_path: str | None) -> dict[str, Any]:
        """Show one capability."""
        from loopx_host.adapters.packages.environment import LocalEnvironment
        from loopx_host.adapters.packages.installed import InstalledPackages
        from loopx_host.lifecycle.goals.capabilities import show_capability

        return show_capability(
            capability_id,
            store=self._store(),
            packages=InstalledPackages(),
            discovery=LocalEnvironment(),
            declared=self._source(manifest_path) if manifest_path else None,
            is_off=self.is_off,
        )

    def bind(
        self,
        capability_id: str,
        *,
        goal_id: str,
        operations: list[str],
        provider_id: str | None,
        execute: bool,
        plan: str | None = None,
    ) -> dict[str, Any]:
        """Bind a goal to operations of one provider."""
        from loopx_host.adapters.packages.environment import LocalEnvironment
        from loopx_host.adapters.packages.installed import InstalledPackages
        from loopx_host.lifecycle.goals.bind import bind

        if execute:
            self._refuse_when_off()
        return bind(
            capability_id,
            goal_id=goal_id,
            operations=operations,
            provider_id=provider_id,
            store=self._store(),
            bindings=self._bindings(),
            packages=InstalledPackages(),
            discovery=LocalEnvironment(),
            plugins=self._plugins(),
            execute=execute,
            plan=plan,
        )

    def unbind(self, capability_id: str, *, goal_id: str, execute: bool, plan: str | None = None) -> dict[str, Any]:
        """Take a binding away."""
        from loopx_host.lifecycle.goals.bind import unbind

        return unbind(capability_id, goal_id=goal_id, bindings=self._bindings(), execute=execute, plan=plan)

    def invoke(
        self,
        capability_id: str,
        request: bytes,
        *,
        goal_id: str,
        operation: str,
        references: dict[str, str],
        execute: bool,
    ) -> dict[str, Any]:
        """Invoke one read-only operation for a goal."""
        from loopx_host.adapters.files.references import LocalReferences
        from loopx_host.lifecycle.goals.invoke import Governed, invoke

        self._refuse_when_off()
        ports = Governed(
            **self._ports(),
            bindings=self._bindings(),
            judging=self._judging(),
            plugins=self._plugins(),
            references=LocalReferences(),
        )
        return invoke(
            capability_id,
            request,
            goal_id=goal_id,
            operation_id=operation,
            references=references,
            ports=ports,
            execute=execute,
        )

    def publish_projection(
        self,
        extension_id: str,
        surface_id: str,
        request: bytes,
        *,
        execute: bool,
        references: dict[str, str] | None = None,
    ) -> dict[str, Any]:
        """Run a provider and publish the view it answers with, on one of its surfaces."""
        from loopx_host.adapters.files.references import LocalReferences
        from loopx_host.lifecycle.dispatch.publish_projection import publish_projection

        self._refuse_when_off()
        resolver = LocalReferences()
        opened = {name: resolver.resolve(name, path) for name, path in (references or {}).items()}
        return publish_projection(
            extension_id,
            surface_id,
            request,
            **self._ports(),
            judging=self._judging(),
            plugins=self._plugins(),
            projections=self._projections(),
            execute=execute,
            permissions=[f"fs.read:{name}" for name in opened] or None,
            references=opened or None,
        )

    def package_commands(self) -> list[list[str]] | None:
        """Return the commands that packages bring (name, summary, state), or None when that is not known."""
        from loopx_host.adapters.packages.command_list import read

        rows = read()
        if rows is None or not self.is_off:
            return rows
        return [[name, summary, "off"] for name, summary, _ in rows]

    def package_command(self, name: str, arguments: list[str]) -> dict[str, Any] | None:
        """Run a command that a package brings; None when no package, here or in the release train, has it.

        Raises Refused: `command_not_activated`, `package_not_installed`, `extensions_off`, those of the plugins.
        """
        from loopx_host.adapters.packages.environment import LocalEnvironment
        from loopx_host.adapters.packages.installed import InstalledPackages
        from loopx_host.assembly.command_host import CommandHost
        from loopx_host.lifecycle.dispatch.package_command import package_command

        return package_command(
            name,
            arguments,
            CommandHost(self),
            store=self._store(),
            packages=InstalledPackages(),
            discovery=LocalEnvironment(),
            plugins=self._plugins(),
            refuse_when_off=self._refuse_when_off,
        )
