"""The domain check of a package: it judges a request of its own capability, and may only narrow."""

from __future__ import annotations

from loopx_host.core.errors import refusal
from loopx_host.core.limits import TIMEOUT_MAX_SECONDS
from loopx_host.core.text import one_line
from loopx_host.lifecycle.extensions.activation import Activation

TYPE_CHECKING = False
if TYPE_CHECKING:
    from loopx_host.lifecycle.dispatch.ports import Plugins
    from loopx_host.lifecycle.extensions.state import Entry
    from loopx_host.lifecycle.goals.governed_call import AnyRequest

_CHECK = "loopx_check_invocation"


def seconds_allowed(entry: Entry, request: AnyRequest, plugins: Plugins) -> float | None:
    """Ask the package's domain check; return the seconds it allows, None for the manifest's.

    Raises Refused `domain_check_denied`, and `plugin_hook_failed` for an answer that does more than narrow.
    """
    activation = Activation.of(entry)
    if not activation.plugins:
        return None
    verdicts = plugins.call(activation, _CHECK, {"request": request})
    return min((_narrowed(entry.id, verdict) for verdict in verdicts), default=None)


def _narrowed(extension_id: str, verdict: object) -> float:
    """Return the time a verdict leaves. Raises Refused for a denial, and for anything that widens."""
    if isinstance(verdict, dict) and set(verdict) == {"deny"} and isinstance(verdict["deny"], str):
        raise refusal(
            "domain_check_denied",
            extension_id,
            f"the domain check of `{extension_id}` denies this call: {one_line(verdict['deny'], 300)}",
            hint="nothing was started; ask for what it allows",
        )
    seconds = verdict.get("timeout_seconds") if isinstance(verdict, dict) and len(verdict) == 1 else None
    if isinstance(seconds, (int, float)) and not isinstance(seconds, bool) and seconds > 0:
        return float(min(seconds, TIMEOUT_MAX_SECONDS))  # an integer of many digits has no float
    raise refusal(
        "plugin_hook_failed",
        extension_id,
        f"the domain check of `{extension_id}` answered what is neither a denial nor a shorter time",
        hint="a domain check may only narrow; nothing was started",
        next_command=("extension", "disable", extension_id, "--execute"),
    )
