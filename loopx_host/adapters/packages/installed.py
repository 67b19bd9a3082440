"""The packages port: launchers found, identities computed, byte code kept by identity."""

from __future__ import annotations

import os
import sys

from loopx_host.adapters.files import paths
from loopx_host.adapters.packages import launchers
from loopx_host.adapters.packages.fingerprints import Fingerprints
from loopx_host.core.canonical import canonical_digest
from loopx_host.lifecycle.identity import RuntimeIdentity

TYPE_CHECKING = False
if TYPE_CHECKING:
    from loopx_host.lifecycle.identity import Missing, Target
    from loopx_host.registry.manifest import Runtime


class InstalledPackages:
    """What is installed on this machine."""

    def resolve(self, runtime: Runtime, folder: str | None) -> Target | Missing:
        """Find the launcher a manifest names (see the port)."""
        return launchers.resolve(runtime, folder)

    def identify(self, target: Target) -> RuntimeIdentity | None:
        """Return the identity of `target`: the launcher, and the interpreters with their `pyvenv.cfg`.

        Paths are not part of it: a byte-identical file elsewhere is the same thing.
        """
        if not launchers.is_program(target.path):
            return None
        known = Fingerprints(target.path)
        launcher = known.digest(target.path)
        if launcher is None:
            return None
        chain = [target.path] if target.module else launchers.interpreters(target.path)
        groups = {
            "launcher": canonical_digest([target.kind, launcher]),
            "interpreter": canonical_digest([_interpreter(path, known) for path in chain]),
        }
        known.save()
        return RuntimeIdentity(groups, launcher)

    def owner(self, target: Target) -> dict[str, str] | None:
        """Return the distribution that carries the launcher (see the port)."""
        from loopx_host.adapters.packages.owners import owner

        return owner(target)

    def pip_command(self, owner: dict[str, str]) -> str:
        """Return the command that would put a distribution back (see the port)."""
        from loopx_host.adapters.packages.owners import pip_command

        return pip_command(owner)

    def bytecode_cache(self, identity: RuntimeIdentity) -> str | None:
        """Return ``<cache>/pycache/<identity>``, made 0700, or None when it cannot be made."""
        path = os.path.join(paths.cache_root(), "pycache", identity.digest)
        try:
            paths.make_private(path)
        except OSError:
            return None
        return path

    def platform(self) -> str:
        """Name kernel and machine, such as ``linux-x86_64``."""
        return f"{sys.platform}-{os.uname().machine}"


def _interpreter(path: str, known: Fingerprints) -> list[str | None]:
    """Return the digests of an interpreter and of the `pyvenv.cfg` that makes it a venv's."""
    directory = os.path.dirname(path)
    places = (directory, os.path.dirname(directory))
    settings = (os.path.join(place, "pyvenv.cfg") for place in places)
    config = next((place for place in settings if os.path.isfile(place)), None)
    return [known.digest(path), known.digest(config) if config else None]
