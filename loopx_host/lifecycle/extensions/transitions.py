"""Which verb is possible in which state, and what it leads to: a table, whose missing row is the refusal."""

from __future__ import annotations

from loopx_host.core.errors import refusal
from loopx_host.core.text import one_line
from loopx_host.lifecycle.extensions.state import BadEntry

TYPE_CHECKING = False
if TYPE_CHECKING:
    from loopx_host.core.errors import Refused
    from loopx_host.lifecycle.extensions.state import Entry, State

ABSENT, ENABLED, DISABLED = "absent", "enabled", "disabled"

# (state, verb): state afterwards. Whether a verb probes first is the verb's own affair.
NEXT = {
    (ABSENT, "install"): ENABLED,
    (ENABLED, "doctor"): ENABLED,
    (ENABLED, "enable"): ENABLED,
    (DISABLED, "enable"): ENABLED,
    (ENABLED, "disable"): DISABLED,
    (DISABLED, "disable"): DISABLED,
    (ENABLED, "upgrade"): ENABLED,
    (DISABLED, "upgrade"): DISABLED,
    (ENABLED, "rollback"): ENABLED,
    (DISABLED, "rollback"): DISABLED,
    (ENABLED, "uninstall"): ABSENT,
    (DISABLED, "uninstall"): ABSENT,
}


def state_of(entry: Entry | None) -> str:
    """Name the state an entry is in; no entry is `absent`."""
    if entry is None:
        return ABSENT
    return ENABLED if entry.enabled else DISABLED


def starting_entry(state: State, extension_id: str, verb: str) -> Entry | None:
    """Return the entry that `verb` starts from, None when it starts from nothing.

    Raises Refused: the code of a bad entry, `already_installed`, `extension_not_installed`, `extension_disabled`.
    """
    found = state.find(extension_id)
    if isinstance(found, BadEntry):
        raise found.refusal()
    if (state_of(found), verb) not in NEXT:
        raise _impossible(extension_id, found, verb)
    return found


def installed_entry(state: State, extension_id: str, verb: str) -> Entry:
    """Return the entry of a verb that needs one; raises as `starting_entry` does."""
    entry = starting_entry(state, extension_id, verb)
    if entry is None:  # no row lets such a verb start from `absent`
        raise _impossible(extension_id, None, verb)
    return entry


def enabled_after(entry: Entry | None, verb: str) -> bool:
    """Whether the extension is enabled after `verb` succeeded."""
    return NEXT[state_of(entry), verb] == ENABLED


def _impossible(extension_id: str, found: Entry | None, verb: str) -> Refused:
    shown = one_line(extension_id, 60)
    if found is None:
        return refusal(
            "extension_not_installed",
            shown,
            f"extension `{shown}` is not installed",
            hint="see what is",
            next_command=("extension", "list"),
        )
    if verb == "install":
        return refusal(
            "already_installed",
            shown,
            f"extension `{shown}` is already installed",
            hint="a changed manifest is trusted by `upgrade`; see what is active",
            next_command=("extension", "show", shown),
        )
    return refusal(
        "extension_disabled",
        found.id,
        f"extension `{found.id}` is disabled",
        hint="enabling it probes it first",
        next_command=("extension", "enable", found.id, "--execute"),
    )
