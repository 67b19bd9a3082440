"""The provider's environment: a short list, what the manifest declares, what the host sets (contract section 6)."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

PASSED_ON = ("HOME", "USER", "LOGNAME", "LANG", "LANGUAGE", "TZ")
PASSED_ON_PREFIX = "LC_"
# Never the caller's, whatever a manifest declares.
HOSTS_OWN = (
    "PATH",
    "TMPDIR",
    "PYTHONPYCACHEPREFIX",
    "LOOPX_EXPECTED_ID",
    "LOOPX_EXPECTED_REVISION",
    "LOOPX_EXPECTED_REQUEST_SHA256",
)


def provider_environment(
    caller: Mapping[str, str],
    names: list[str],
    settings: dict[str, str],
    search_path: list[str],
) -> dict[str, str]:
    """Return the variables of one provider; nothing of the caller's gets in unless it is on the list.

    PATH is `search_path` and never the caller's: what was found there when it was proved is found there now. The
    names of its private directory, TMPDIR among them, are added where that is made.
    """
    wanted = {*PASSED_ON, *names} - {*HOSTS_OWN}
    passed = {name: value for name, value in caller.items() if name in wanted or name.startswith(PASSED_ON_PREFIX)}
    return {"PATH": ":".join(search_path), **passed, **settings}
