"""Whether the code that is installed now is what was proved for a revision, and what would bring that back."""

from __future__ import annotations

from loopx_host.lifecycle.extensions.identity import Launcher

TYPE_CHECKING = False
if TYPE_CHECKING:
    from loopx_host.documents import state as shapes
    from loopx_host.documents.parts import OtherCode
    from loopx_host.lifecycle.extensions.candidate import Candidate, Program
    from loopx_host.lifecycle.extensions.ports import Packages


def code_other_than_proved(
    revision: shapes.Revision, now: Candidate | Program, packages: Packages
) -> OtherCode | None:
    """Return how the program that is there differs from what was proved for a revision.

    None where it is the same, and where nothing was ever proved for it. A program that is gone differs.
    """
    proved, identity = revision.get("proved_identity"), now.identity
    if proved is None or (identity is not None and identity.digest == proved):
        return None
    launcher = now.launcher if isinstance(now.launcher, Launcher) else None
    owner = packages.owner(launcher) if launcher is not None and identity is not None else None
    before = revision.get("proved_distribution", revision.get("distribution"))
    command = None
    if not (isinstance(before, dict) and all(isinstance(before.get(key), str) for key in ("name", "version"))):
        before = None  # a state file may say anything
    if before is not None and before != owner:
        command = packages.pip_command(before, launcher.path if launcher is not None else None)
    return {"installed": owner, "proved": before, "install_package": command}
