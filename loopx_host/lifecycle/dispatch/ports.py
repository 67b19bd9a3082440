"""What a call of a provider needs from outside, beyond what proving it needs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from loopx_host.lifecycle.extensions.ports import HasClock, HasPackages, HasProcesses, HasStore

if TYPE_CHECKING:
    from typing import Any

    from loopx_host.documents.parts import Violation
    from loopx_host.lifecycle.extensions.activation import Activation
    from loopx_host.registry.schemas import Bundle

    Verdict = list[Violation] | None


class Judging(Protocol):
    """Applies a third party's schema to an instance, within a bound of its own."""

    def violations(self, bundle: Bundle, instance: object) -> Verdict:
        """Return rows of pointer and message, empty when the instance is valid; None when it cannot be told."""
        ...


class Plugins(Protocol):
    """Runs what packages bring into the host, in a process that can be ended (contract section 7)."""

    def call(self, activation: Activation, hook: str, arguments: dict[str, object]) -> list[Any]:
        """Call a hook of one package; return what its implementations answered, without None.

        Raises Refused: `activation_changed`, `plugin_load_failed`, `plugin_signature`, `plugin_hook_failed`.
        """
        ...

    def command(self, activation: Activation, name: str, arguments: list[str], host: object) -> dict[str, object]:
        """Run a command of one package and return its document; `host` is what the command may ask for.

        Raises Refused as `call` does, and whatever the command's own request to `host` was refused with.
        """
        ...


class References(Protocol):
    """The paths that a caller's context references stand for."""

    def resolve(self, name: str, path: str) -> str:
        """Return the absolute path, links resolved, of a directory or file. Raises Refused `reference_invalid`."""
        ...

    def standing(self, path: str) -> list[int]:
        """Return what says that a resolved path still is the same directory, or the same file unchanged."""
        ...


class HasSwitch(Protocol):
    """Knows whether the host runs bare."""

    @property
    def is_off(self) -> bool:
        """Whether nothing that an extension brought is started or loaded (``--no-extensions``)."""
        ...


class HasJudging(Protocol):
    """Has the judging of third parties' schemas."""

    @property
    def judging(self) -> Judging:
        """The port."""
        ...


class HasPlugins(Protocol):
    """Has what packages bring into the host."""

    @property
    def plugins(self) -> Plugins:
        """The port."""
        ...


class HasReferences(Protocol):
    """Has what context references stand for."""

    @property
    def references(self) -> References:
        """The port."""
        ...


class CanCall(HasStore, HasPackages, HasProcesses, HasClock, HasSwitch, HasJudging, Protocol):
    """Has what a request to a provider takes."""
