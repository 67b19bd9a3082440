"""Prerequisites: ask a program that a provider needs for its version."""

from __future__ import annotations

import re

from loopx_host.adapters.packages import needed_files, shebang
from loopx_host.adapters.packages.fingerprints import Memory, Watch
from loopx_host.core.canonical import canonical_digest
from loopx_host.lifecycle.extensions.process import Grants, Launch, Limits

TYPE_CHECKING = False
if TYPE_CHECKING:
    from loopx_host.lifecycle.extensions.ports import Processes

_VERSION_SECONDS = 5.0
_NUMBER = re.compile(r"[0-9]{1,9}(?:\.[0-9]{1,9}){0,3}")


class Programs:
    """Programs of this machine; asking one for its version is a bounded run like any other."""

    def __init__(self, processes: Processes) -> None:
        self._processes = processes

    def version(self, path: str, places: list[str], *, ask: bool) -> str | None:
        """Return the version that ``path --version`` prints with `places` as its PATH, or None.

        It is remembered by the stat of the program. Without `ask` the program is not started.
        """
        memory = Memory(f"version:{path}", canonical_digest(places))
        known = memory.result()
        if known is not None:
            said = known.get("version")
            return said if isinstance(said, str) else None
        if not ask:
            return None
        watch = Watch()
        behind = shebang.chain(path, places)
        for place in (path, *behind.programs, *behind.looked_at):
            watch.glance(place)
        reads = [*needed_files.of_programs([path, *behind.programs]), *needed_files.of_unowned(path)]
        limits = Limits(_VERSION_SECONDS, reserves_memory=True)
        ended = self._processes.run(Launch([path, "--version"], limits, search_path=places, grants=Grants(reads)))
        found = _NUMBER.search(ended.stdout[:200].decode("utf-8", "replace")) if ended.exit_code == 0 else None
        version = found[0] if found else None
        memory.keep(watch, {"version": version})
        return version
