"""Where the host keeps byte code: one folder for each extension, and in it one for each thing that was proved.

``<cache>/pycache/<extension>/<key>`` is what a provider's doctor compiled, ``…/host-<key>`` what its hooks and
commands did. Nothing is shared between extensions, whatever their launcher is, and a folder goes with its extension.
"""

from __future__ import annotations

import os

from loopx_host.adapters.files import paths

TYPE_CHECKING = False
if TYPE_CHECKING:
    from loopx_host.lifecycle.extensions.identity import BytecodeKey


def of_hooks(key: BytecodeKey) -> str:
    """Return the directory with the byte code of what runs inside the host."""
    return os.path.join(paths.bytecode(key.extension_id), f"host-{key.digest}")


def new(key: BytecodeKey) -> str | None:
    """Return a path that is not there yet, in the folder of an extension; None where nothing can be kept."""
    folder = paths.bytecode(key.extension_id)
    try:
        paths.make_private(folder)
    except OSError:
        return None
    return os.path.join(folder, f"new-{os.urandom(8).hex()}")


def keep(key: BytecodeKey, brought: str) -> None:
    """Make the directory `brought`, which may be missing, all that is kept for an extension."""
    folder = paths.bytecode(key.extension_id)
    aside = _aside(key.extension_id)
    if aside is None:
        return
    try:
        paths.make_private(folder)
        os.rename(os.path.join(aside, os.path.basename(brought)), os.path.join(folder, key.digest))
    except OSError:  # nothing was brought, or another doctor was faster
        pass
    drop(aside)


def drop(place: str) -> None:
    """Remove a directory, if it is there."""
    import shutil

    shutil.rmtree(place, ignore_errors=True)


def forget(extension_id: str) -> None:
    """Remove all that is kept for an extension."""
    aside = _aside(extension_id)
    if aside is not None:
        drop(aside)


def _aside(extension_id: str) -> str | None:
    """Move the folder of an extension to a name that nothing is read from; None when there is none."""
    folder = paths.bytecode(extension_id)
    aside = f"{folder}.{os.urandom(8).hex()}"  # no id holds a dot
    try:
        os.rename(folder, aside)
    except OSError:
        return None
    return aside
