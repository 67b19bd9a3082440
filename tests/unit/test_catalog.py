"""The catalogue is a function of manifests and facts, and each fact implies the one before it."""

from __future__ import annotations

import itertools

import pytest

from loopx_host.registry.catalog import Provider, catalog, detail
from loopx_host.registry.load import load
from tests.support.fakes import MemoryFolder
from tests.support.packages import manifest

FACTS = ("declared", "installed", "enabled", "ready")
PROVIDES = """
[[provides]]
id = "{id}"
kind = "report"
title = "A report"
status = "available"
user_value = "shows something"
next_real_step = "use it"
visibility = "{visibility}"
real_world_anchor = "a place"
entry_command = "loopx capability show {id}"
"""
IMPLEMENTS = '[[implements]]\ncapability_id = "{id}"\nprotocol = "test_v0"\n'


def provider(
    extension_id: str, top: str = "", *, installed: bool = True, enabled: bool = True, ready: bool = True
) -> Provider:
    text = manifest(extension_id, top=top)
    return Provider(
        load(MemoryFolder({"extension.toml": text}), "extension.toml"),
        installed=installed,
        enabled=enabled,
        ready=ready,
        reason=None if ready else "extension_disabled",
        next_command=None,
    )


def declares(name: str, visibility: str = "public") -> str:
    return PROVIDES.format(id=name, visibility=visibility)


@pytest.mark.parametrize("given", list(itertools.product([False, True], repeat=3)))
def test_ready_implies_enabled_implies_installed_implies_declared(given: tuple[bool, bool, bool]) -> None:
    installed, enabled, ready = given
    made = provider("one", installed=installed, enabled=enabled, ready=ready)

    state = [made.state[fact] for fact in FACTS]

    assert state == sorted(state, reverse=True)
    assert state[:2] == [True, installed]


def test_capabilities_and_providers_are_listed_by_id_whatever_the_order() -> None:
    providers = [provider("b", declares("z")), provider("a", declares("y"))]

    forward, backward = catalog(providers), catalog(providers[::-1])

    assert forward == backward
    assert [row["id"] for row in forward["capabilities"]] == ["y", "z"]
    assert [row["id"] for row in forward["providers"]] == ["loopx-core", "a", "b"]


def test_implementations_and_their_protocols_are_counted() -> None:
    providers = [
        provider("owner", declares("report")),
        provider("one", IMPLEMENTS.format(id="report")),
        provider("two", IMPLEMENTS.format(id="report")),
    ]

    (row,) = catalog(providers)["capabilities"]

    assert (row["implementation_provider_count"], row["implemented_protocol_count"]) == (2, 1)


def test_an_internal_capability_has_no_row_and_no_detail() -> None:
    providers = [provider("owner", declares("shown") + declares("hidden", "internal"))]

    assert [row["id"] for row in catalog(providers)["capabilities"]] == ["shown"]
    assert detail("hidden", providers) is None
    assert detail("unheard-of", providers) is None


def test_a_detail_carries_the_facts_and_the_reason_of_its_provider() -> None:
    found = detail("report", [provider("owner", declares("report"), enabled=False, ready=False)])

    assert found is not None
    assert found["provider_state"] == {"declared": True, "installed": True, "enabled": False, "ready": False}
    assert found["reason"] == "extension_disabled"
