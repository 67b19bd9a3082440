"""`[runtime.requires]`: what must be there before anything is started (contract section 2)."""

from __future__ import annotations

from loopx_host.core.codes import CODES
from loopx_host.core.errors import refusal
from loopx_host.core.text import one_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from loopx_host.core.errors import Refused
    from loopx_host.lifecycle.extensions.identity import RuntimeIdentity
    from loopx_host.lifecycle.extensions.ports import Packages
    from loopx_host.registry.manifest import Runtime


def prerequisite_refusal(
    extension_id: str, runtime: Runtime, identity: RuntimeIdentity, packages: Packages, *, may_start: bool
) -> Refused | None:
    """Return the refusal for the first prerequisite that is absent or too old, or None.

    They are those that the identity covers, so that what is asked for its version is what would be started.

    Only an executed verb may start a program for its version (`may_start`); for a preview one that is there will
    do, unless it is remembered to be too old.

    The code is ``<name>_unavailable`` where the table knows the name, else `prerequisite_unavailable`; exit 69.
    """
    for name, wanted in sorted(runtime.requires.items()):
        path = (identity.details.get("programs", {}).get(name) or [None])[0]
        version = packages.version(path, identity.details.get("search_path", []), ask=may_start) if path else None
        unknown = path is not None and version is None and not may_start
        if not unknown and (path is None or version is None or not satisfies(version, wanted)):
            return _unavailable(extension_id, name, wanted, path, version)
    return None


def satisfies(version: str, wanted: str) -> bool:
    """Whether a dotted version meets every clause of a constraint such as ``>=22.22.3,<25``."""
    have = _numbers(version)
    return bool(have) and all(_holds(have, clause.strip()) for clause in wanted.split(","))


def _holds(have: list[int], clause: str) -> bool:
    operator = clause.rstrip("0123456789. ")
    want = _numbers(clause[len(operator) :])
    length = max(len(have), len(want))
    left, right = ([*numbers, *[0] * (length - len(numbers))] for numbers in (have, want))
    return {
        ">=": left >= right,
        "<=": left <= right,
        "==": left == right,
        ">": left > right,
        "<": left < right,
    }[operator]


def _numbers(version: str) -> list[int]:
    parts = version.strip().split(".")
    return [int(part) for part in parts] if all(part.isascii() and part.isdigit() for part in parts) else []


def _unavailable(extension_id: str, name: str, wanted: str, path: str | None, version: str | None) -> Refused:
    code = f"{name}_unavailable" if f"{name}_unavailable" in CODES else "prerequisite_unavailable"
    have = f"{path} is version {one_line(version or 'unknown', 40)}" if path else "it is not installed"
    return refusal(
        code,
        name,
        f"extension `{extension_id}` needs {name} {wanted}, and {have}; nothing was started",
        hint="the extra `runtime` of loopx-core brings Node"
        if name == "node"
        else f"install {name} on the PATH that `extension upgrade` is called with, and upgrade",
        prerequisite={"name": name, "requires": wanted, "path": path, "version": version},
    )
