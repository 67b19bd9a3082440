"""The provider's environment: a short list, what the manifest declares, what the host sets (contract section 6)."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

PASSED_ON = ("PATH", "HOME", "USER", "LOGNAME", "LANG", "LANGUAGE", "TZ")
PASSED_ON_PREFIX = "LC_"
# Never the caller's, whatever a manifest declares.
HOSTS_OWN = (
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
    path_first: list[str] | None = None,
) -> dict[str, str]:
    """Return the variables of one provider; nothing of the caller's gets in unless it is on the list.

    The names of its private directory, TMPDIR among them, are added where that is made.
    """
    wanted = {*PASSED_ON, *names} - {*HOSTS_OWN}
    passed = {name: value for name, value in caller.items() if name in wanted or name.startswith(PASSED_ON_PREFIX)}
    if path_first:
        passed["PATH"] = ":".join([*path_first, *([passed["PATH"]] if passed.get("PATH") else [])])
    return {**passed, **settings}
