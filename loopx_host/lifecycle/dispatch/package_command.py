"""A command that a package brings: run when its extension is activated, refused with the way there when not."""

from __future__ import annotations

from loopx_host.core.errors import refusal
from loopx_host.lifecycle.dispatch.call_provider import refuse_when_off
from loopx_host.lifecycle.extensions.activation import Activation
from loopx_host.lifecycle.extensions.readiness import readiness, why_not_ready
from loopx_host.lifecycle.extensions.refusals import not_installed
from loopx_host.lifecycle.extensions.state import BadEntry, State

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Protocol

    from loopx_host.core.errors import Refused
    from loopx_host.lifecycle.dispatch.ports import HasPlugins, HasSwitch
    from loopx_host.lifecycle.extensions.ports import Discovery, HasDiscovery, HasPackages, HasStore, Packages
    from loopx_host.lifecycle.extensions.state import Entry

    class PackageCommandPorts(HasStore, HasPackages, HasDiscovery, HasPlugins, HasSwitch, Protocol):
        """What running a package's command needs."""

        def command_host(self, *, execute: bool) -> object:
            """Return what the command may ask of the host (`hookspecs.specs.CommandHost`)."""
            ...


class PackageCommandRequest:
    """Run the command `name` of a package with `arguments`, everything after its name but the host's own options.

    Without `execute` whatever it asks of the host is a preview.
    """

    __slots__ = ("arguments", "execute", "name")

    def __init__(self, name: str, arguments: list[str], *, execute: bool) -> None:
        self.name = name
        self.arguments = arguments
        self.execute = execute


def package_command(request: PackageCommandRequest, ports: PackageCommandPorts) -> dict[str, object] | None:
    """Run a command of the one activated package that brings it; None when nobody does.

    No byte of the package runs unless its extension is installed, enabled and proved (requirement X15). Raises
    Refused: `command_not_activated`, `package_not_installed`, `extension_ambiguous`, `extensions_off`, and those of
    `Plugins.command`.
    """
    name, packages = request.name, ports.packages
    state = State.parse(ports.store.read(), ports.store.location)
    entries = [entry for entry in state.entries() if not isinstance(entry, BadEntry)]
    carrying = [entry for entry in entries if any(row["name"] == name for row in Activation.of(entry).commands)]
    if carrying:
        refuse_when_off(ports)
        entry = _activated(name, carrying, packages)
        host = ports.command_host(execute=request.execute)
        document = ports.plugins.command(Activation.of(entry), name, request.arguments, host)
        return _stamped(_checked(name, entry, document), execute=request.execute)
    refused = _not_trusted(name, ports.discovery, {entry.id for entry in entries})
    if refused is not None:
        refuse_when_off(ports)
        raise refused
    member = next((member for member in ports.discovery.train() if name in member["commands"]), None)
    if member is None:
        return None
    raise not_installed(name, f"the command `{name}`", member, packages)


def _checked(name: str, entry: Entry, document: dict[str, object]) -> dict[str, object]:
    """Return what a command answered, if it says whether it went well and what it is. Raises `plugin_hook_failed`."""
    if isinstance(document.get("ok"), bool) and isinstance(document.get("schema_version"), str):
        return document
    raise refusal(
        "plugin_hook_failed",
        entry.id,
        f"the command `{name}` of `{entry.id}` answered without `ok`, true or false, and a `schema_version`",
        hint="a command answers with one JSON object that has both",
        next_command=("extension", "disable", entry.id, "--execute"),
    )


def _stamped(document: dict[str, object], *, execute: bool) -> dict[str, object]:
    """Return what a command answered with the host's word on whether it was executed; its own may only be a no."""
    executed = execute and document.get("executed") is not False
    return {**document, "dry_run": not execute, "executed": executed}


def _activated(name: str, carrying: list[Entry], packages: Packages) -> Entry:
    judged = [readiness(entry, packages) for entry in carrying]
    ready = [now.entry for now in judged if now.is_ready]
    if len({_carrier(entry) for entry in ready}) > 1:
        owners = " and ".join(f"`{entry.id}`" for entry in ready)
        summary = f"the command `{name}` is brought by {owners}"
        next_command = ("extension", "disable", ready[-1].id, "--execute")
        raise refusal("extension_ambiguous", name, summary, hint="disable one of them", next_command=next_command)
    if ready:
        return ready[0]
    refused = why_not_ready(judged[0])
    why = refused.diagnostic
    clause = f"its extension `{judged[0].entry.id}` is not ready: {why.summary}"
    raise _not_activated(name, clause, why.next_command, why.hint, **refused.blocks)


def _carrier(entry: Entry) -> str:
    distribution = entry.active.raw.get("distribution")
    return str(distribution["name"]) if isinstance(distribution, dict) else entry.id


def _not_trusted(name: str, discovery: Discovery, known: set[str]) -> Refused | None:
    """Return the refusal for a command of a package that is installed and not trusted, or None.

    An extension that is `known` was trusted before its package brought this command.
    """
    rows, _ = discovery.offers(rebuild=False)
    row = next((offer for offer in rows if name in offer["commands"] and offer["id"]), None)
    if row is None or row["id"] is None:
        return None
    if row["id"] in known:
        why = f"its extension `{row['id']}` was trusted without it"
        return _not_activated(name, why, ("extension", "upgrade", row["id"]))
    why = f"nobody trusted its extension `{row['id']}` yet; installing a package runs nothing of it"
    return _not_activated(name, why, ("extension", "install", row["id"]))


def _not_activated(
    name: str, why: str, next_command: tuple[str, ...] | None, hint: str | None = None, **blocks: object
) -> Refused:
    return refusal(
        "command_not_activated",
        name,
        f"the command `{name}` is off: {why}",
        hint=hint or "activate it",
        next_command=next_command or ("extension", "list"),
        **blocks,
    )
