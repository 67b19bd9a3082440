"""What a governed call needs from outside, beyond what a call of a provider needs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from loopx_host.lifecycle.extensions.ports import StateStore


class HasBindings(Protocol):
    """Has the bindings of goals, in a file kept as the activation state is."""

    @property
    def bindings(self) -> StateStore:
        """The port."""
        ...
