"""Whatever one value of an entry became, every command answers: the entry is a row, and the others go on."""

from __future__ import annotations

import copy
import json
import os
import sys
import unicodedata
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from loopx_host.adapters.process.child import fork
from loopx_host.cli.dispatch import dispatch
from tests.support.capabilities import CAPABILITY, Station
from tests.support.manifests import revision_of
from tests.support.plans import SETUPS

ID, OTHER = "station", "untouched"
DROPPED = object()
JUNK: list[object] = [DROPPED, 7, [{}]]
# Every command that reads entries and starts nothing.
VERBS = {
    "list": ["extension", "list"],
    "show": ["extension", "show", ID],
    "history": ["extension", "history", ID],
    "run": ["extension", "run", ID, "--input-json", "REQUEST"],
    "doctor": ["extension", "doctor", ID],
    "host doctor": ["doctor"],
    "capabilities": ["capability", "list"],
    "capability": ["capability", "show", CAPABILITY],
    "invoke": [
        "capability",
        "invoke",
        CAPABILITY,
        "--goal-id",
        "g1",
        "--operation",
        "inspect",
        "--input-json",
        "REQUEST",
    ],
    "publish": ["extension", "publish-projection", ID, "board", "--input-json", "REQUEST"],
    "uninstall": ["extension", "uninstall", ID],
    "export": ["extension", "export"],
    "repair": ["extension", "repair"],
}
LISTING = {"list", "export", "host doctor"}
Way = tuple[str | int, ...]


class Ward:
    """A state with two extensions, one of which is damaged; commands are served in this process."""

    def __init__(self, root: Path) -> None:
        self.world = Station(root)
        SETUPS["capability invoke"](self.world)
        self.request = root / "request"
        self.request.write_text("{}", "ascii")
        self.output = root / "output"
        whole = json.loads(self.world.state_file.read_text("ascii"))
        form = whole["extensions"][ID]["revisions"][0]["manifest"]
        form["documentation"] = {"aliases": ["a"], "canonical": "README.md", "site_root": "s", "source_root": "d"}
        form["runtime"] |= {"requires": {"python3": ">=3"}, "env": ["TOKEN"]}
        form["runtime"]["request_schema"] = {"path": "a.json", "sha256": "0" * 64, "siblings": {}}
        other = copy.deepcopy(whole["extensions"][ID])
        manifest = other["revisions"][0]["manifest"]
        other["id"] = manifest["provider"]["id"] = OTHER
        manifest["capabilities"] = []
        whole["extensions"][OTHER] = numbered(other)
        self.whole = whole

    def damaged(self, way: Way, value: object) -> None:
        """Write the state with one value of the entry replaced, and numbers that are right for it again."""
        document = copy.deepcopy(self.whole)
        inside: Any = document["extensions"][ID]
        for key in way[:-1]:
            inside = inside[key]
        if value is DROPPED:
            del inside[way[-1]]
        else:
            inside[way[-1]] = value
        numbered(document["extensions"][ID])
        self.world.state_file.write_text(json.dumps(document), "ascii")

    def called(self, name: str) -> None:
        """Write the state with the entry under another name, whatever that is."""
        document = copy.deepcopy(self.whole)
        document["extensions"][name] = document["extensions"].pop(ID)
        self.world.state_file.write_text(json.dumps(document), "ascii")

    def answer(self, verb: str, form: str = "json") -> tuple[int, str]:
        """Serve a command; return its status and all it wrote, on both streams."""
        words = [str(self.request) if word == "REQUEST" else word for word in VERBS[verb]]
        argv = [*words, "--format", form, "--state-file", str(self.world.state_file)]

        def serve() -> None:
            output = os.open(self.output, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            for number in (1, 2):
                os.dup2(output, number)
            status = dispatch(argv, "0")
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(status)

        # In a fork: what one command opens for its process alone is gone with it.
        status = os.waitstatus_to_exitcode(os.waitpid(fork(serve), 0)[1])
        return status, self.output.read_text("utf-8")


def numbered(entry: dict[str, Any]) -> dict[str, Any]:
    """Give a manifest that was edited its right number, as a careful editor would."""
    for revision in entry["revisions"] if isinstance(entry.get("revisions"), list) else []:
        try:
            right = revision_of(revision["manifest"])
        except (TypeError, KeyError, AttributeError):
            continue
        if entry.get("active_revision") == revision.get("revision"):
            entry["active_revision"] = entry["doctor_verified_revision"] = right
        if isinstance(entry.get("proof"), dict):
            entry["proof"]["revision"] = right
        revision["revision"] = right
    return entry


def ways(value: object, way: Way = ()) -> Iterator[Way]:
    """Yield the way to every value inside `value`."""
    if way:
        yield way
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in pairs:
        yield from ways(inner, (*way, key))


def at(value: Any, way: Way) -> object:
    for key in way:
        value = value[key]
    return value


@pytest.fixture(scope="module")
def ward(tmp_path_factory: pytest.TempPathFactory) -> Ward:
    return Ward(tmp_path_factory.mktemp("ward"))


@pytest.fixture(autouse=True)
def _surroundings(ward: Ward, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in ward.world.env.items():
        monkeypatch.setenv(name, value)


@pytest.mark.timeout(240)
@pytest.mark.parametrize("verb", VERBS)
def test_a_damaged_value_is_a_row_and_never_the_end_of_a_command(ward: Ward, verb: str) -> None:
    entry = ward.whole["extensions"][ID]
    wrong: dict[Way, str] = {}
    for way in ways(entry):
        for value in JUNK[:1] if verb == "host doctor" else JUNK:  # which looks at this whole environment each time
            if value is DROPPED and isinstance(way[-1], int):
                continue
            ward.damaged(way, value)

            status, said = ward.answer(verb)

            if status not in (0, 1, 2, 69) or '"internal_error"' in said:
                wrong[way] = said[-300:]
            elif verb in LISTING and OTHER not in said:
                wrong[way] = "the other one is missing"

    assert wrong == {}


HOSTILE = "x\x1b[2J\x07\r\x9b31m\u202e\u2066\nok y"


def orders(said: str) -> set[str]:
    """Return the characters of a text that a terminal would obey, but for the ends of its lines."""
    return {one for one in said if one != "\n" and unicodedata.category(one) in ("Cc", "Cf", "Cs", "Zl", "Zp")}


@pytest.mark.timeout(240)
@pytest.mark.parametrize("verb", [verb for verb in VERBS if verb != "host doctor"])
def test_no_text_of_a_state_gives_orders_to_a_terminal(ward: Ward, verb: str) -> None:
    entry = ward.whole["extensions"][ID]
    wrong: dict[Way, str] = {}
    for way in ways(entry):
        if not isinstance(at(entry, way), str):
            continue
        ward.damaged(way, HOSTILE)

        _, said = ward.answer(verb, "text")

        if orders(said) or "\nok y" in said:
            wrong[way] = said[:300]

    assert wrong == {}


@pytest.mark.parametrize("verb", VERBS)
def test_no_name_of_an_entry_gives_orders_to_a_terminal(ward: Ward, verb: str) -> None:
    ward.called(HOSTILE)

    _, said = ward.answer(verb, "text")

    assert orders(said) == set()
    assert "\nok y" not in said
