"""The command of a package over ports in memory: run when activated, refused with the way there when not."""

from __future__ import annotations

import json
from typing import Any

import pytest

from loopx_host.core.canonical import canonical_digest
from loopx_host.core.errors import Refused
from tests.support import fakes
from tests.support.fakes import PROGRAM, World, code_of, refusal_of

ROWS = [{"name": "roar", "value": "made_up.commands:roar"}]
OFF = {"enabled": False}
UNPROVED = {"doctor_verified_revision": None, "doctor_verified_entrypoint_identity": None}


def carrying(made: World | None = None, extension_id: str = "beast", package: str = "beast", **entry: Any) -> World:
    """Add an extension that pinned the command `roar` of a package."""
    pinned = {"commands": ROWS, "distribution": {"name": package, "version": "1.0"}}
    return (made or World()).holding(extension_id, pinned=pinned, **entry)


def refused(made: World, name: str = "roar") -> Refused:
    with pytest.raises(Refused) as caught:
        made.command(name)
    assert made.plugins.commands == []
    return caught.value


@pytest.fixture(autouse=True)
def _train(monkeypatch: pytest.MonkeyPatch) -> None:
    """A release train of one package."""
    member = {"distribution": "train-package", "version": "0.1.0", "commands": ["whistle"], "extension_id": "train"}
    monkeypatch.setattr(fakes, "TRAIN", [member])


@pytest.mark.req("X15")
def test_the_command_of_an_activated_package_is_run_with_its_arguments() -> None:
    made = carrying()

    answer = made.command("roar", "loud", "--twice")

    stamped = {"dry_run": False, "executed": True}
    said = {"ok": True, "schema_version": "made_up_v0", "name": "roar", "arguments": ["loud", "--twice"]}
    assert answer == {**said, **stamped}
    assert made.plugins.commands == [("beast", "roar")]


@pytest.mark.req("X15", "M051")
@pytest.mark.parametrize(
    ("entry", "next_command"),
    [(OFF, ("extension", "enable", "beast")), (UNPROVED, ("extension", "doctor", "beast"))],
    ids=["disabled", "never proved"],
)
def test_the_command_of_a_package_that_is_not_ready_is_off(entry: dict[str, Any], next_command: Any) -> None:
    said = refused(carrying(**entry))

    assert said.code == "command_not_activated"
    assert said.diagnostic.next_command is not None
    assert said.diagnostic.next_command[:3] == next_command


@pytest.mark.req("X15", "M051")
def test_the_command_of_a_package_whose_code_changed_is_off() -> None:
    made = carrying()
    made.packages.programs[PROGRAM] = "second"

    assert refused(made).code == "command_not_activated"


@pytest.mark.req("X15")
def test_the_command_of_a_package_that_nobody_trusted_is_off_and_leads_to_install() -> None:
    made = World()
    made.discovery.rows = [made.discovery.row("beast", commands=["roar"])]

    said = refused(made)

    assert said.code == "command_not_activated"
    assert said.diagnostic.next_command == ("extension", "install", "beast")


@pytest.mark.req("X15")
def test_a_command_that_came_after_the_trust_leads_to_upgrade() -> None:
    made = World().holding("beast")
    made.discovery.rows = [made.discovery.row("beast", commands=["roar"])]

    said = refused(made)

    assert said.code == "command_not_activated"
    assert said.diagnostic.next_command == ("extension", "upgrade", "beast")


@pytest.mark.req("X15")
@pytest.mark.parametrize("state", ["broken", "ambiguous", "incompatible"])
def test_the_command_of_a_package_that_cannot_be_trusted_is_off(state: str) -> None:
    made = World()
    made.discovery.rows = [made.discovery.row("beast", commands=["roar"], state=state, declares=None, code="x")]

    assert refused(made).code == "command_not_activated"


@pytest.mark.req("S5", "M124")
def test_a_command_of_the_train_that_is_not_there_says_how_to_get_it() -> None:
    said = refused(World(), "whistle")

    assert (said.code, said.exit_status) == ("package_not_installed", 69)
    assert said.blocks["install_package"] == "pip install train-package==0.1.0"


def test_a_command_that_nobody_has_is_nobody_s() -> None:
    assert World().command("unheard-of") is None


def test_a_row_without_an_id_brings_no_command() -> None:
    made = World()
    made.discovery.rows = [made.discovery.row(None, commands=["roar"])]

    assert made.command("roar") is None


@pytest.mark.req("X15")
def test_two_packages_with_one_command_are_ambiguous_until_one_is_disabled() -> None:
    made = carrying(carrying(extension_id="a", package="a-package"), extension_id="b", package="b-package")

    said = refused(made)

    assert said.code == "extension_ambiguous"
    assert said.diagnostic.next_command is not None
    assert said.diagnostic.next_command[:2] == ("extension", "disable")


def test_of_two_packages_with_one_command_the_one_that_is_on_is_run() -> None:
    made = carrying(carrying(extension_id="a", package="a-package"), extension_id="b", package="b-package", **OFF)

    made.command("roar")

    assert made.plugins.commands == [("a", "roar")]


def test_two_extensions_of_one_package_bring_its_command_once() -> None:
    made = carrying(carrying(extension_id="a"), extension_id="b")

    made.command("roar")

    assert [name for _, name in made.plugins.commands] == ["roar"]


@pytest.mark.req("X15")
@pytest.mark.parametrize("offered", [False, True])
def test_with_extensions_off_nothing_of_a_package_is_run(offered: bool) -> None:
    made = World() if offered else carrying()
    made.discovery.rows = [made.discovery.row("beast", commands=["roar"])] if offered else []
    made.is_off = True

    assert code_of(lambda: made.command("roar")) == "extensions_off"
    assert made.plugins.commands == []


def test_a_damaged_entry_takes_no_other_command_down() -> None:
    made = carrying()
    document = made.store.document
    document["extensions"]["damaged"] = {"id": "damaged", "revisions": "none"}
    made.store.data = json.dumps(document).encode()

    assert made.command("roar") is not None


@pytest.mark.parametrize(
    "answer",
    [
        {},
        {"ok": 1, "schema_version": "s"},
        {"ok": "yes", "schema_version": "s"},
        {"ok": True},
        {"ok": True, "schema_version": 1},
    ],
)
def test_a_document_without_its_two_words_is_refused(answer: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    made = carrying()
    monkeypatch.setattr(made.plugins, "command", lambda *_: answer)

    assert code_of(lambda: made.command("roar")) == "plugin_hook_failed"


def test_what_a_command_answers_without_its_two_words_leads_to_disabling_it(monkeypatch: pytest.MonkeyPatch) -> None:
    made = carrying()
    monkeypatch.setattr(made.plugins, "command", lambda *_: {})

    said = refusal_of(lambda: made.command("roar"))

    assert said.diagnostic.subject == "beast"
    assert said.diagnostic.next_command == ("extension", "disable", "beast", "--execute")


def test_an_ambiguous_command_names_its_owners_and_disables_the_last() -> None:
    made = carrying(carrying(extension_id="a", package="a-package"), extension_id="b", package="b-package")

    said = refused(made)

    assert said.diagnostic.next_command == ("extension", "disable", "b", "--execute")
    assert "`a` and `b`" in said.diagnostic.summary


def test_a_command_is_looked_for_in_the_offers_that_bring_it() -> None:
    made = World()
    made.discovery.rows = [made.discovery.row("other"), made.discovery.row("beast", commands=["roar"])]

    assert refused(made).diagnostic.next_command == ("extension", "install", "beast")
    assert made.discovery.rebuilt == [False]


def test_a_command_that_is_off_without_a_way_back_leads_to_the_list() -> None:
    made = carrying()
    form = made.raw("beast")["revisions"][0]["manifest"]
    form["provider"]["requires_loopx_api"] = ">=9"
    edited = canonical_digest(form)[:16]
    revision = {**made.raw("beast")["revisions"][0], "manifest": form, "revision": edited}

    said = refused(World().holding("beast", active_revision=edited, revisions=[revision]))

    assert (said.code, said.diagnostic.next_command) == ("command_not_activated", ("extension", "list"))
    assert said.diagnostic.hint == "activate it"


@pytest.mark.req("X10", "M071")
@pytest.mark.parametrize(
    ("execute", "claims", "executed"),
    [
        (False, {}, False),
        (False, {"executed": True, "dry_run": False}, False),
        (True, {}, True),
        (True, {"executed": False}, False),
        (True, {"executed": "yes"}, True),
    ],
)
def test_the_host_says_whether_a_command_was_executed_whatever_the_package_claims(
    execute: bool, claims: dict[str, Any], executed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = carrying()
    monkeypatch.setattr(made.plugins, "command", lambda *_: {"ok": True, "schema_version": "made_up_v0", **claims})

    answer = made.command("roar", execute=execute)

    assert answer is not None
    assert (answer["dry_run"], answer["executed"]) == (not execute, executed)
