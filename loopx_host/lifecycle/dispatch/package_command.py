"""A command that a package brings: run when its extension is activated, refused with the way there when not."""

from __future__ import annotations

from loopx_host.core.errors import refuse
from loopx_host.lifecycle.extensions.activation import Activation
from loopx_host.lifecycle.extensions.readiness import readiness, refusal
from loopx_host.lifecycle.extensions.state import BadEntry, State

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from loopx_host.core.errors import Refused
    from loopx_host.lifecycle.extensions.ports import Discovery, Packages, Plugins, StateStore
    from loopx_host.lifecycle.extensions.state import Entry


def package_command(
    name: str,
    arguments: list[str],
    host: object,
    *,
    store: StateStore,
    packages: Packages,
    discovery: Discovery,
    plugins: Plugins,
    refuse_when_off: Callable[[], None],
) -> dict[str, Any] | None:
    """Run the command `name` of the one activated package that brings it; None when nobody does.

    No byte of the package runs unless its extension is installed, enabled and proved (requirement X15). Raises
    Refused: `command_not_activated`, `package_not_installed`, `extension_ambiguous`, and those of `Plugins.command`.
    """
    entries = [one for one in State.parse(store.read(), store.location).entries() if not isinstance(one, BadEntry)]
    carrying = [entry for entry in entries if any(row["name"] == name for row in Activation.of(entry).commands)]
    if carrying:
        refuse_when_off()
        entry = _activated(name, carrying, packages)
        return _checked(name, entry, plugins.command(Activation.of(entry), name, arguments, host))
    offered = _offered(name, discovery, {entry.id for entry in entries})
    if offered is not None:
        refuse_when_off()
        raise offered
    member = next((one for one in discovery.train() if name in one["commands"]), None)
    if member is None:
        return None
    owner = {"name": member["distribution"], "version": member["version"]}
    command = packages.pip_command(owner)
    raise refuse(
        "package_not_installed",
        name,
        f"the command `{name}` comes with the package {member['distribution']}, which is not installed",
        hint=f"bring it with: {command}",
        install_package=command,
    )


def _checked(name: str, entry: Entry, document: dict[str, Any]) -> dict[str, Any]:
    """Return what a command answered, if it says whether it went well and what it is. Raises `plugin_hook_failed`."""
    if isinstance(document.get("ok"), bool) and isinstance(document.get("schema_version"), str):
        return document
    raise refuse(
        "plugin_hook_failed",
        entry.id,
        f"the command `{name}` of `{entry.id}` answered without `ok`, true or false, and a `schema_version`",
        hint="a command answers with one JSON object that has both",
        next_command=("extension", "disable", entry.id, "--execute"),
    )


def _activated(name: str, carrying: list[Entry], packages: Packages) -> Entry:
    found = [(entry, readiness(entry, packages)) for entry in carrying]
    ready = [entry for entry, state in found if state.is_ready]
    if len({_carrier(entry) for entry in ready}) > 1:
        owners = " and ".join(f"`{entry.id}`" for entry in ready)
        summary = f"the command `{name}` is brought by {owners}"
        next_command = ("extension", "disable", ready[-1].id, "--execute")
        raise refuse("extension_ambiguous", name, summary, hint="disable one of them", next_command=next_command)
    if ready:
        return ready[0]
    entry, state = found[0]
    why = refusal(entry, state).diagnostic
    raise _not_activated(name, f"its extension `{entry.id}` is not ready: {why.summary}", why.next_command, why.hint)


def _carrier(entry: Entry) -> str:
    distribution = entry.active.raw.get("distribution")
    return str(distribution["name"]) if isinstance(distribution, dict) else entry.id


def _offered(name: str, discovery: Discovery, known: set[str]) -> Refused | None:
    """Return the refusal for a command of a package that is installed and not trusted, or None.

    An extension that is `known` was trusted before its package brought this command.
    """
    rows, _ = discovery.offers(rebuild=False)
    row = next((one for one in rows if name in one["commands"] and one["id"]), None)
    if row is None:
        return None
    if row["id"] in known:
        why = f"its extension `{row['id']}` was trusted without it"
        return _not_activated(name, why, ("extension", "upgrade", row["id"]))
    why = f"nobody trusted its extension `{row['id']}` yet; installing a package runs nothing of it"
    return _not_activated(name, why, ("extension", "install", row["id"]))


def _not_activated(name: str, why: str, next_command: tuple[str, ...] | None, hint: str | None = None) -> Refused:
    return refuse(
        "command_not_activated",
        name,
        f"the command `{name}` is off: {why}",
        hint=hint or "activate it",
        next_command=next_command or ("extension", "list"),
    )
