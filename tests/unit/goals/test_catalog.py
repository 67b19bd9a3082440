"""The catalogue is a function of manifests and facts, and each fact implies the one before it."""

from __future__ import annotations

import itertools
import json
import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopx_host.lifecycle.goals import capabilities as verb
from loopx_host.registry.catalog import Declaration, Provider, catalog, detail
from loopx_host.registry.load import load
from tests.support import fakes
from tests.support.capabilities import operation, profile, provides
from tests.support.fakes import MemoryFolder, World
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


def test_a_capability_is_shown_with_the_standing_of_its_provider() -> None:
    """Every field of `loopx_capability_catalog_v0`."""
    places = {"source_root": "docs", "site_root": "site/report", "canonical": "README.md"}
    documented = "\n".join(
        ["[documentation]", *(f'{key} = "{value}"' for key, value in places.items()), "aliases = []"]
    )
    one = provider("one", top=documented + declares("board"))
    two = provider("two", top=IMPLEMENTS.format(id="board"))

    document = catalog([two, one])

    facts = {"declared": True, "installed": True, "enabled": True, "ready": True}
    assert document["capabilities"] == [
        {
            "id": "board",
            "title": "A report",
            "status": "available",
            "origin": "extension",
            "visibility": "public",
            "provider_id": "one",
            "provider_state": facts,
            "real_world_anchor": "a place",
            "entry_command": "loopx capability show board",
            "documentation_route": "site/report/README.md",
            "implemented_protocol_count": 1,
            "implementation_provider_count": 1,
            "smoke_count": 0,
            "next_real_step": "use it",
            "reason": None,
            "next_command": None,
            "install_package": None,
            "also_declared_by": [],
        }
    ]
    assert document["providers"] == [
        {"id": "loopx-core", "origin": "builtin", **facts},
        *(
            {
                "id": name,
                "origin": "extension",
                **facts,
                "version": "1.0",
                "requires_loopx_api": "1",
                "permissions": [],
                "reason": None,
                "next_command": None,
                "install_package": None,
            }
            for name in ("one", "two")
        ),
    ]


@pytest.mark.parametrize("given", list(itertools.product([False, True], repeat=3)))
def test_ready_implies_enabled_implies_installed_implies_declared(given: tuple[bool, bool, bool]) -> None:
    installed, enabled, ready = given
    made = provider("one", installed=installed, enabled=enabled, ready=ready)

    facts: Any = made.state
    state = [facts[fact] for fact in FACTS]

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


def test_the_detail_of_a_capability_says_what_can_be_asked_of_it() -> None:
    """`loopx_capability_detail_v0`: what is declared, and no byte of the profile but its operations."""
    text = manifest("one", top='permissions = ["fs.read:repo", "note.read"]' + provides())
    files = {"extension.toml": text, "profile.json": profile(operation(), operation("note", permission="note.read"))}
    one = Provider(
        load(MemoryFolder(files), "extension.toml"),
        installed=True,
        enabled=True,
        ready=False,
        reason="doctor_required",
        next_command=("extension", "doctor", "one", "--execute"),
        install_package="pip install one==1.0",
    )

    found = detail("weather", [one, provider("two", provides(profile=False))])

    assert found == {
        "id": "weather",
        "kind": "report",
        "title": "A report",
        "status": "available",
        "user_value": "shows something",
        "next_real_step": "use it",
        "visibility": "public",
        "real_world_anchor": "a place",
        "entry_command": "loopx capability show weather",
        "origin": "extension",
        "capability_kind": "report",
        "provider_id": "one",
        "provider_version": "1.0",
        "operations": [
            {"id": "inspect", "effect_class": "read_only", "required_permission": "fs.read:repo"},
            {"id": "note", "effect_class": "read_only", "required_permission": "note.read"},
        ],
        "provider_state": {"declared": True, "installed": True, "enabled": True, "ready": False},
        "reason": "doctor_required",
        "next_command": ("extension", "doctor", "one", "--execute"),
        "install_package": "pip install one==1.0",
        "also_declared_by": ["two"],
    }


def test_a_host_that_runs_bare_has_nothing_ready_and_says_why() -> None:
    ready, disabled = provider("one"), provider("two", enabled=False, ready=False)

    for one in (ready, disabled):
        one.next_command = ("extension", "list")
        one.switch_off()

    assert (ready.ready, ready.enabled, ready.reason, ready.next_command) == (False, True, "extensions_off", None)
    assert (disabled.reason, disabled.next_command) == ("extension_disabled", ("extension", "list"))


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


IDS = ["a", "b", "c", "d", "e"]
# Of an extension: whether it is in the state file and how it stands, what its package's row says.
ENTRIES = st.dictionaries(st.sampled_from(IDS), st.sampled_from(["ready", "disabled", "unproved", "damaged"]))
ROWS = st.dictionaries(st.sampled_from(IDS), st.sampled_from(["available", "broken", "ambiguous", "incompatible"]))
CHANGES: dict[str, dict[str, Any]] = {
    "disabled": {"enabled": False},
    "unproved": {"doctor_verified_revision": None, "doctor_verified_entrypoint_identity": None},
}


def world(entries: dict[str, str], rows: dict[str, str]) -> World:
    """Return a world whose every extension declares a capability of its own id."""
    made = World()
    for name, state in entries.items():
        changed = CHANGES.get(state, {})
        made.holding(name, runtime=declares(name), **changed)
        if state == "damaged":
            document = made.store.document
            document["extensions"][name]["revisions"] = "spoilt"
            made.store.data = json.dumps(document).encode()
    for name, state in rows.items():
        made.discovery.rows.append(offered(made, name, state))
    return made


def offered(made: World, name: str, state: str) -> dict[str, Any]:
    if state != "available":
        return made.discovery.row(name, state=state, code=f"{state}_code", declares=None)
    row = made.discovery.row(name)
    row["declares"]["capabilities"] = [{"id": name, "visibility": "public"}]
    return row


def listed(made: World) -> dict[str, Any]:
    return {**verb.list_capabilities(None, made)}


def by_id(document: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {row["id"]: row for row in document["capabilities"]}


@pytest.fixture(scope="module", autouse=True)
def _train() -> Any:
    """A release train of one package, whose extension is `e`."""
    declared = {"requires_loopx_api": "1", "permissions": [], "implementations": []}
    member = {
        "distribution": "train-package",
        "version": "0.1.0",
        "extension_id": "e",
        "commands": [],
        "declares": {**declared, "capabilities": [{"id": "e", "visibility": "public"}]},
    }
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(fakes, "TRAIN", [member])
        yield


@pytest.mark.req("M124")
@given(ENTRIES, ROWS)
def test_every_row_is_ready_only_if_enabled_only_if_installed_only_if_declared(
    entries: dict[str, str], rows: dict[str, str]
) -> None:
    found = listed(world(entries, rows))

    for row in found["providers"]:
        facts = [row[fact] for fact in FACTS]
        assert facts == sorted(facts, reverse=True)
        if row["origin"] == "extension":
            assert row["ready"] == (entries.get(row["id"]) == "ready")
            assert row["enabled"] == (entries.get(row["id"]) in ("ready", "unproved"))
            assert row["installed"] == (row["id"] in entries)
            assert (row["reason"] is None) == row["ready"]
    for row in found["capabilities"]:
        assert row["provider_state"]["ready"] == (entries.get(row["id"]) == "ready")
        assert row["reason"] is None or row["next_command"] or row["install_package"]


@given(ENTRIES, ROWS, st.randoms(use_true_random=False))
def test_the_catalogue_does_not_depend_on_the_order_of_entries_and_rows(
    entries: dict[str, str], rows: dict[str, str], shuffling: random.Random
) -> None:
    one = world(entries, rows)
    other = world(
        dict(shuffling.sample(list(entries.items()), len(entries))),
        dict(shuffling.sample(list(rows.items()), len(rows))),
    )

    first, second = listed(one), listed(other)

    def key(row: dict[str, Any]) -> str:
        return str(row["id"])

    assert first["capabilities"] == second["capabilities"]
    assert first["providers"] == second["providers"]
    assert sorted(first["invalid"], key=key) == sorted(second["invalid"], key=key)


@pytest.mark.req("X15")
@given(ENTRIES, ROWS, st.sampled_from(IDS), st.sampled_from(["broken", "ambiguous", "incompatible"]))
def test_a_poisoned_row_never_changes_another_row(
    entries: dict[str, str], rows: dict[str, str], poisoned: str, state: str
) -> None:
    whole = by_id(listed(world(entries, rows)))
    spoilt = by_id(listed(world(entries, {**rows, poisoned: state})))
    damaged = by_id(listed(world({**entries, poisoned: "damaged"}, rows)))

    whole.pop(poisoned, None)
    assert {name: row for name, row in spoilt.items() if name != poisoned} == whole
    assert {name: row for name, row in damaged.items() if name != poisoned} == whole


@given(ENTRIES, ROWS)
def test_nothing_is_left_out_without_a_word(entries: dict[str, str], rows: dict[str, str]) -> None:
    found = listed(world(entries, rows))

    named = {row["id"] for row in [*found["providers"], *found["invalid"]]}
    assert named >= {*entries, *rows, "e"}


@pytest.mark.req("S5", "M124")
def test_a_package_of_the_train_that_is_not_there_says_how_to_get_it() -> None:
    row = by_id(listed(world({}, {})))["e"]

    assert (row["reason"], row["install_package"]) == ("package_not_installed", "pip install train-package==0.1.0")
    assert row["provider_state"] == {"declared": True, "installed": False, "enabled": False, "ready": False}


def test_a_capability_that_two_declare_names_both() -> None:
    declared: Any = {
        "requires_loopx_api": "1",
        "permissions": [],
        "capabilities": [{"id": "report", "visibility": "public"}],
        "implementations": [],
    }
    other = Declaration("two", "1.0", declared)
    second = Provider(other, installed=False, enabled=False, ready=False, reason="x", next_command=None)

    rows = catalog([provider("one", declares("report")), second])["capabilities"]

    assert [(row["provider_id"], row["also_declared_by"]) for row in rows] == [("one", ["two"]), ("two", ["one"])]


def test_a_manifest_that_nobody_trusts_yet_declares_and_leads_to_its_installation() -> None:
    made = World()
    source = made.sources.put(runtime=declares("report"))

    found: Any = verb.list_capabilities(source.path, made)

    row = by_id({"capabilities": found["providers"]})["probe-me"]
    assert [row[fact] for fact in FACTS] == [True, False, False, False]
    assert (row["reason"], by_id(found)["report"]["next_command"]) == (
        "extension_not_installed",
        ("extension", "install", "--manifest", source.path),
    )
