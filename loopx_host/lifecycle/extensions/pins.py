"""What a trusted revision is pinned to: its launcher, its distribution, and what that brings into the host."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypedDict

    from loopx_host.documents import state as shapes
    from loopx_host.documents.parts import Distribution, EntryPoint, Pin
    from loopx_host.lifecycle.extensions.identity import Launcher
    from loopx_host.lifecycle.extensions.ports import Packages
    from loopx_host.lifecycle.extensions.state import Entry

    class Pins(TypedDict):
        """Launcher, its PATH, distribution and activation record of a revision."""

        launcher: Pin
        search_path: list[str]
        distribution: Distribution | None
        plugins: list[EntryPoint]
        commands: list[EntryPoint]


def pins(launcher: Launcher, extension_id: str, packages: Packages) -> Pins:
    """Return launcher, its PATH, distribution and activation record as a revision keeps them.

    The record names what of the package may run inside the host; an unowned launcher has none.
    """
    entry_points = packages.entry_points(launcher, extension_id)
    return {
        "launcher": launcher.pin(),
        "search_path": launcher.search_path,
        "distribution": packages.owner(launcher),
        "plugins": entry_points["plugins"],
        "commands": entry_points["commands"],
    }


def with_pin(entry: Entry, launcher: Launcher) -> shapes.Entry:
    """Return the entry with its active revision pinned to `launcher`, unless it is pinned already.

    An entry that a v0 tool wrote has no pin, and gets one when it is proved.
    """
    if entry.active.launcher is not None:
        return entry.raw
    revisions: list[shapes.Revision] = [
        {**revision.raw, "launcher": launcher.pin(), "search_path": launcher.search_path}
        if revision.id == entry.active.id
        else revision.raw
        for revision in entry.revisions
    ]
    return {**entry.raw, "revisions": revisions}
