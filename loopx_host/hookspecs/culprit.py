"""Who is to blame when a package fails inside the host: the extension, its distribution and the entry point."""

from __future__ import annotations

from loopx_host.core.errors import refusal
from loopx_host.core.text import one_line, redact

TYPE_CHECKING = False
if TYPE_CHECKING:
    from loopx_host.core.errors import Refused
    from loopx_host.documents.parts import Distribution

_REASON = 400


class Culprit:
    """One entry point of one distribution; `group` is `loopx.plugins` or `loopx.commands`."""

    __slots__ = ("distribution", "extension_id", "group", "name", "value")

    def __init__(
        self, extension_id: str, distribution: Distribution | None, group: str, name: str, value: str
    ) -> None:
        self.extension_id = extension_id
        self.distribution = distribution
        self.group = group
        self.name = name
        self.value = value

    def refusal(self, code: str, reason: str, *, hook: str | None = None, output: str | None = None) -> Refused:
        """Return the refusal that names this entry point; `reason` is a clause and may hold a package's own words."""
        shown = " ".join(map(str, (self.distribution or {"name": "an unknown package"}).values()))
        entry = one_line(f"{self.group}: {self.name} = {self.value}", 200)
        said = one_line(redact(reason), _REASON)
        return refusal(
            code,
            self.extension_id,
            f"{shown} of extension `{self.extension_id}` ({entry}) {said}",
            hint="report it to whoever made the package; without it, everything else goes on",
            next_command=("extension", "disable", self.extension_id, "--execute"),
            distribution=self.distribution,
            entry_point={"group": self.group, "name": self.name, "value": self.value},
            hook=hook,
            output=output,
        )


class HookError(Exception):
    """An implementation does not fit its hook; found when it is registered, never at a call."""

    def __init__(self, culprit: Culprit, hook: str | None, reason: str) -> None:
        super().__init__(reason)
        self.culprit = culprit
        self.hook = hook
        self.reason = reason


def described(error: BaseException) -> str:
    """Return what an exception of a package says, whatever its `__str__` does."""
    try:
        text = one_line(str(error), _REASON)
    except Exception:  # noqa: BLE001 (foreign code)
        text = "(its text cannot be had)"
    return f"{one_line(type(error).__name__, 80)}: {text}" if text else one_line(type(error).__name__, 80)
