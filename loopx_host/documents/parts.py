"""Rows and blocks that stand in more than one document."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NotRequired, TypedDict

    from loopx_host.core.errors import Refused

    # The lifecycle says a suggested command as its parts; whoever knows the caller's global options writes it out.
    Command = tuple[str, ...] | str

    class Distribution(TypedDict):
        """An installed distribution, as its metadata name it."""

        name: str
        version: str

    class Pin(TypedDict):
        """The launcher a revision is pinned to: `kind` is `entrypoint` or `python_module`, `path` is absolute."""

        kind: str
        path: str

    Owner = Distribution | str  # the text is `UNOWNED`

    class EntryPoint(TypedDict):
        """One entry point of a package, unloaded."""

        name: str
        value: str

    class EntryPoints(TypedDict):
        """What of a package runs inside the host once its extension is trusted."""

        plugins: list[EntryPoint]
        commands: list[EntryPoint]

    class Violation(TypedDict):
        """Where an instance breaks a third party's schema (a JSON pointer), and how."""

        pointer: str
        message: str

    class PrivateFinding(TypedDict):
        """Where a value holds private material (a JSON pointer), and of which kind; never the value."""

        pointer: str
        kind: str

    class WouldRefuse(TypedDict):
        """The refusal that executing would meet, as far as the environment alone decides it."""

        code: str
        error: str
        hint: str | None
        next_command: Command | None

    class BadEntry(TypedDict):
        """An extension whose entry or offer cannot be used, with the code that says why."""

        id: str | None
        code: str | None

    class Limit(TypedDict):
        """One bound of a run, whether this machine enforces it, and with what."""

        limit: str
        value: float | str
        enforced: bool
        by: str
        not_counted: NotRequired[list[str]]  # what passes by this mechanism

    class Containment(TypedDict, total=False):
        """What is known of a process and its descendants; a run that never started knows less."""

        rung: str
        group: bool
        subreaper: bool
        left_running: int | None
        survivors: int | None
        proof: str
        killed: bool
        ended_by: str
        limits: list[Limit]
        host_death: str
        private_directory: str

    class Facts(TypedDict):
        """How far a provider is from being usable; each fact implies the one before it."""

        declared: bool
        installed: bool
        enabled: bool
        ready: bool

    class OtherCode(TypedDict):
        """The code that is installed where another was proved for a revision: manifests go back, packages do not.

        Null for what no distribution carries. `install_package` is the command that would bring back what was
        proved, where that was another version; it is never run.
        """

        installed: Distribution | None
        proved: Distribution | None
        install_package: str | None

    class ContextReference(TypedDict):
        """A path that the host opened for one call, under the name its provider knows."""

        name: str
        kind: str
        path: str


UNOWNED = "unowned"  # in place of a distribution, for a launcher that none carries


def code_sentence(revision: str, code: OtherCode) -> str:
    """Return as a clause for people that the code is not the one of a revision, and what would bring that back."""
    said = f"the code is not what was proved for revision {revision}"
    if code["installed"] and code["proved"]:
        now, then = (f"{one['name']} {one['version']}" for one in (code["installed"], code["proved"]))
        said += f": {now} is installed, {then} was proved"
    return f"{said}; bring it back with: {code['install_package']}" if code["install_package"] else said


def would_refuse(refused: Refused | None) -> WouldRefuse | None:
    """Return what a preview says of a refusal that only the environment decides, or None."""
    if refused is None:
        return None
    said = refused.diagnostic
    return {"code": said.code, "error": said.summary, "hint": said.hint, "next_command": said.next_command}
