"""The shapes of what the registry says of packages; for the type checker, nothing here is imported at run time."""

from __future__ import annotations

from typing import Any, TypedDict


class Declares(TypedDict):
    """What of a manifest a catalogue of capabilities shows; profiles are left to the manifest."""

    requires_loopx_api: str
    permissions: list[str]
    capabilities: list[dict[str, Any]]
    implementations: list[dict[str, Any]]


class TrainMember(TypedDict):
    """One extension of the release train, with the distribution that carries it."""

    distribution: str
    version: str
    extension_id: str
    commands: list[str]
    declares: Declares
