"""Binding to a capability that nothing installed serves: untrusted, missing and unknown are three answers (S5)."""

from __future__ import annotations

from typing import Any

import pytest

from loopx_host.adapters.packages.train import members
from loopx_host.core.errors import Refused
from tests.support.fakes import World

MEMBER = next(one for one in members() if one["declares"]["capabilities"])
CAPABILITY = MEMBER["declares"]["capabilities"][0]["id"]


def refused(world: World, capability_id: str) -> Refused:
    with pytest.raises(Refused) as refusal:
        world.bind(capability_id)
    return refusal.value


def offered(capability_id: str) -> dict[str, Any]:
    declares = {
        "requires_loopx_api": "1",
        "permissions": [],
        "capabilities": [{"id": capability_id}],
        "implementations": [],
    }
    return {"id": "offered", "declares": declares, "commands": [], "state": "available"}


@pytest.mark.req("S5")
def test_a_missing_package_of_the_train_is_named_with_the_command_that_brings_it() -> None:
    world = World()
    world.discovery.members = members()

    document = refused(world, CAPABILITY).document

    assert document["code"] == "package_not_installed"
    assert f"{MEMBER['distribution']}=={MEMBER['version']}" in str(document["install_package"])


def test_a_package_that_is_there_and_not_trusted_leads_to_its_install() -> None:
    world = World()
    world.discovery.rows = [offered(CAPABILITY)]

    document = refused(world, CAPABILITY).document

    assert (document["code"], document["reason"]) == ("capability_unavailable", "extension_not_installed")
    assert document["next_command"] == "loopx extension install offered"


def test_a_capability_that_nobody_knows_leads_to_the_list() -> None:
    document = refused(World(), "nobody-knows-this").document

    assert (document["code"], document["next_command"]) == ("capability_unavailable", "loopx capability list")
