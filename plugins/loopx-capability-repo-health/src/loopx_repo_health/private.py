"""Which names may be shown: the host's classifier decides, and no rule of it is copied here."""

from __future__ import annotations

from loopx_host.assembly.presentation import private_findings


def is_private(name: str) -> bool:
    """Whether a name holds private material or a path of somebody's home."""
    return bool(private_findings(name))
