"""What of a package may run inside the host: pinned when its extension was installed and proved, and nothing else."""

from __future__ import annotations

from loopx_host.core.errors import Refused
from loopx_host.lifecycle.extensions.identity import BytecodeKey
from loopx_host.lifecycle.extensions.state import Entry, State

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Protocol

    from loopx_host.documents.parts import Distribution, EntryPoint
    from loopx_host.lifecycle.extensions.ports import HasStore

    class CommandList(Protocol):
        """The commands that packages bring, as the top help can afford to read them."""

        def read(self) -> list[list[str]] | None:
            """Return rows of name, summary and state; None where the environment changed since they were written."""
            ...

        def mark(self, active: set[str]) -> None:
            """Say which of them are on; a list that is stale stays as it is."""
            ...

    class CommandListPorts(HasStore, Protocol):
        """What keeping the list true needs."""

        @property
        def command_list(self) -> CommandList:
            """The port."""
            ...


class Activation:
    """The entry points of one extension: `plugins` and `commands` are rows of name and value.

    `distribution` is the name and version of the package that carries them, `bytecode_key` whose byte code their
    imports may read; without one they read and leave none.
    """

    __slots__ = ("bytecode_key", "commands", "distribution", "extension_id", "plugins")

    def __init__(
        self,
        extension_id: str,
        distribution: Distribution | None,
        plugins: list[EntryPoint],
        commands: list[EntryPoint],
        bytecode_key: BytecodeKey | None = None,
    ) -> None:
        self.bytecode_key = bytecode_key
        self.extension_id = extension_id
        self.distribution = distribution
        self.plugins = plugins
        self.commands = commands

    @classmethod
    def of(cls, entry: Entry) -> Activation:
        """Return what the active revision of an entry pinned."""
        raw, proof = entry.active.raw, entry.proof
        identity = proof["identity"] if proof else None
        key = BytecodeKey(entry.id, entry.manifest.digest, identity) if identity else None
        return cls(entry.id, raw.get("distribution"), _rows(raw.get("plugins")), _rows(raw.get("commands")), key)

    @property
    def is_empty(self) -> bool:
        """Whether nothing of the package runs inside the host."""
        return not self.plugins and not self.commands


def active_commands(state: State) -> set[str]:
    """Return the names of the commands that enabled extensions bring."""
    entries = (entry for entry in state.entries() if isinstance(entry, Entry) and entry.enabled)
    return {row["name"] for entry in entries for row in Activation.of(entry).commands}


def refresh_command_list(ports: CommandListPorts) -> None:
    """Bring the list of packages' commands, which help shows, in line with what is enabled now."""
    try:
        state = State.parse(ports.store.read(), ports.store.location)
    except Refused:  # a damaged state says nothing of commands, and is told where it matters
        return
    ports.command_list.mark(active_commands(state))


def _rows(found: object) -> list[EntryPoint]:
    """Return the rows of a state file that have the shape of entry points."""
    rows = found if isinstance(found, list) else []
    return [
        {"name": row["name"], "value": row["value"]}
        for row in rows
        if isinstance(row, dict) and isinstance(row.get("name"), str) and isinstance(row.get("value"), str)
    ]
