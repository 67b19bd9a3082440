"""The capabilities page names every field of the documents, every private name and every group the code works by."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from loopx_host.adapters.packages import discovery, plugin_loading
from loopx_host.core.limits import REQUEST_BYTES, SCOPE_BYTES
from loopx_host.core.private_material import CREDENTIAL_NAMES, CREDENTIAL_PLURALS
from loopx_host.documents.binding import binding as binding_of
from loopx_host.documents.governed_request import SURFACE_KEY
from loopx_host.registry.catalog import Declaration, Provider, catalog
from tests.support.capabilities import operation, profile, provides, result
from tests.support.fakes import Script, World

if TYPE_CHECKING:
    pass

PAGE = (Path(__file__).parents[2] / "docs/reference/capabilities.md").read_text(encoding="utf-8")
PERMISSIONS = 'permissions = ["fs.read:repo"]'


def section(title: str) -> str:
    """Return the text below one heading, up to the next of the same rank or a higher one."""
    rank = title.partition(" ")[0]
    below = PAGE.partition(f"\n{title}\n")[2]
    return re.split(rf"^#{{2,{len(rank)}}} ", below, maxsplit=1, flags=re.MULTILINE)[0]


def fields(text: str) -> set[str]:
    """Return the names in the first column of the table in `text`, without its header."""
    rows = re.findall(r"^\| (.*?) \|", text, re.MULTILINE)
    return {name for row in rows for name in re.findall(r"`([^`]+)`", row)}


def world() -> World:
    """Return a world where goal g1 is bound to the one operation of a ready provider."""
    made = World()
    files = {"profile.json": profile(operation())}
    made.holding(top=PERMISSIONS, runtime=provides(), files=files)
    made.bind(operations=["inspect"])
    return made


def invoked() -> tuple[World, dict[str, Any]]:
    """Return a world after one call that succeeded, and the receipt of the call."""
    made = world()
    said = made.invoke(execute=False)
    made.processes.script = Script(stdout=json.dumps(result(said["invocation_id"])).encode())
    return made, made.invoke()


def test_every_field_of_a_row_of_the_catalogue_is_written_down() -> None:
    declares: Any = {
        "requires_loopx_api": ">=1,<2",
        "permissions": [],
        "capabilities": [{"id": "weather", "visibility": "public"}],
        "implementations": [],
    }
    declaration = Declaration("some", "1", declares)
    provider = Provider(declaration, installed=False, enabled=False, ready=False, reason=None, next_command=None)

    (row,) = catalog([provider])["capabilities"]

    assert fields(section("### A row of `capabilities`")) == set(row)


def test_every_field_of_a_binding_is_written_down() -> None:
    binding = binding_of("g1", "weather", ["inspect"], extension_id="some", revision="1", profile_digest="2")

    assert fields(section("## The binding")) == set(binding) - {"schema_version"}
    assert all(f"`{name}`" in section("## The binding") for name in binding["provider"])


def test_every_field_of_a_request_and_its_envelope_is_written_down() -> None:
    made, _ = invoked()
    request = json.loads(made.processes.launches[-1].stdin)
    envelope = request["execution_envelope"]

    assert fields(section("### The request")) == {*request, SURFACE_KEY}
    assert fields(section("### The envelope")) == set(envelope)
    assert all(f"`{name}`" in section("### The envelope") for name in envelope["scope"])
    assert all(f"`{name}`" in section("### The request") for name in request["context_refs"][0])


def test_every_key_of_a_result_is_written_down() -> None:
    assert fields(section("## The result")) == set(result("capability-1"))


def test_every_field_of_a_receipt_is_written_down() -> None:
    _, receipt = invoked()
    preview = world().invoke(execute=False)

    assert fields(section("## The receipt")) == {*receipt, *preview} - {"schema_version"}
    assert all(f"`{name}`" in section("## The receipt") for name in receipt["effects"])


@pytest.mark.req("M111")
def test_every_name_that_is_private_is_written_down() -> None:
    listed = set(re.findall(r"`([a-z]+)`", section("## Private material")))

    assert {*CREDENTIAL_NAMES, *CREDENTIAL_PLURALS} <= listed


def test_every_entry_point_group_is_written_down() -> None:
    groups = set(re.findall(r"^\| `(loopx\.[a-z]+)` \|", section("## What a package may bring"), re.MULTILINE))

    assert groups == {discovery.EXTENSIONS, plugin_loading.PLUGINS, plugin_loading.COMMANDS}


def test_the_bounds_are_those_of_the_code() -> None:
    assert f"at most {SCOPE_BYTES} bytes" in section("### The envelope")
    assert f"at most {REQUEST_BYTES:,} bytes" in section("## The invocation")
