"""Laws of discovery: order decides nothing, no text breaks it, versions compare as those of packages do."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from hypothesis import given
from hypothesis import strategies as st
from packaging.specifiers import SpecifierSet
from packaging.version import Version

from loopx_host.adapters.packages.distributions import entry_points_problem
from loopx_host.adapters.packages.editable_forms import read
from loopx_host.core.errors import Refused
from loopx_host.lifecycle.extensions.offers import offered_manifest
from loopx_host.lifecycle.extensions.prerequisites import satisfies
from loopx_host.registry.offers import Advertised, offers
from tests.support.fakes import MemoryFolder
from tests.support.packages import manifest

if TYPE_CHECKING:
    from loopx_host.documents.discovery_index import IndexUse, Offer
    from loopx_host.lifecycle.extensions.ports import Finding
    from loopx_host.registry.catalog import TrainMember

STATES = {"available", "ambiguous", "broken", "incompatible", "package_missing", "shadowed"}
TEXTS = {
    "sound": manifest("a"),
    "other": manifest("b", "2.0"),
    "future": manifest("a", api=">=9"),
    "broken": "[[",
}
CODES = st.sampled_from([None, None, None, "package_missing", "metadata_damaged", "editable_unresolved"])


@st.composite
def advertisements(draw: st.DrawFn) -> Advertised:
    """Return one advertisement of a small world, so that ids and carriers meet."""
    name, version = draw(st.sampled_from(["x", "y", "z"])), draw(st.sampled_from(["1", "2"]))
    code = draw(CODES)
    carrier: Any = draw(st.sampled_from([None, {"name": name, "version": version}]))
    return Advertised(
        draw(st.sampled_from(["a", "b", "", "odd id"])),
        draw(st.sampled_from(["p", "q"])),
        carrier,
        f"/site/{draw(st.integers(0, 9))}",
        manifest_path=None if code else f"/{draw(st.sampled_from(sorted(TEXTS)))}/extension.toml",
        code=code,
        reason="why" if code else None,
        shadowed_by=draw(st.sampled_from([None, None, None, "/site/first"])),
    )


def opening(path: str) -> tuple[MemoryFolder, str]:
    return MemoryFolder({"extension.toml": TEXTS[path.split("/")[1]]}), "extension.toml"


class Rows:
    """The discovery port over fixed rows."""

    def __init__(self, rows: Any) -> None:
        self.rows = rows

    def offers(self, *, rebuild: bool) -> tuple[list[Offer], IndexUse]:  # noqa: ARG002 (the port's)
        return self.rows, {"status": "fresh", "rebuilt": False, "path": "/made/up/index.json"}

    def train(self) -> list[TrainMember]:
        return []

    def findings(self) -> list[Finding]:
        return []


@given(st.lists(advertisements(), max_size=8).flatmap(lambda made: st.tuples(st.just(made), st.permutations(made))))
def test_the_order_of_advertisements_decides_nothing(both: tuple[list[Advertised], list[Advertised]]) -> None:
    forward, shuffled = both

    rows = offers(forward, opening)

    key = repr
    assert sorted(map(key, rows)) == sorted(map(key, offers(shuffled, opening)))


@given(st.lists(advertisements(), max_size=8))
def test_every_advertisement_has_one_row_and_an_id_is_available_at_most_once(made: list[Advertised]) -> None:
    rows = offers(made, opening)

    available = [row["id"] for row in rows if row["state"] == "available"]
    assert len(rows) == len(made)
    assert {row["state"] for row in rows} <= STATES
    assert len(available) == len(set(available))
    assert all((row["code"] is None) is (row["state"] == "available") for row in rows)


def asked(name: str, rows: Any) -> str | Refused:
    """Return the manifest an id leads to, or its refusal."""
    try:
        return offered_manifest(name, "install", Rows(rows))
    except Refused as refused:
        return refused


@given(st.lists(advertisements(), max_size=8), st.sampled_from(["a", "b", "odd id", "nothing"]))
def test_an_id_leads_to_the_manifest_of_its_one_sound_offer_or_is_refused(made: list[Advertised], name: str) -> None:
    rows = offers(made, opening)
    mine = [row for row in rows if row["id"] == name and row["state"] != "shadowed"]

    answer = asked(name, rows)

    if [row["state"] for row in mine] == ["available"]:
        assert answer == mine[0]["manifest_path"]
    else:
        assert isinstance(answer, Refused)
        assert answer.code in ("extension_not_offered", "extension_ambiguous", "extension_broken")
        assert "None" not in (answer.diagnostic.next_command or ())


@given(st.text(max_size=200))
def test_no_text_breaks_the_reading_of_entry_points(text: str) -> None:
    problem = entry_points_problem(text)

    assert problem is None or problem.startswith("line ")


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)


@given(VALUES)
def test_only_names_and_paths_of_a_literal_mapping_are_taken(value: object) -> None:
    expected = {key: path for key, path in value.items() if isinstance(path, str)} if isinstance(value, dict) else {}

    finder = read(f"MAPPING = {ast.unparse(ast.parse(repr(value)))}\n")

    assert (finder is None) is not isinstance(value, dict)
    assert (finder.mapping if finder else {}) == expected


NUMBERS = st.lists(st.integers(0, 30), min_size=1, max_size=4).map(lambda parts: ".".join(map(str, parts)))
CLAUSES = st.lists(
    st.tuples(st.sampled_from([">=", "<=", "==", ">", "<"]), NUMBERS).map("".join), min_size=1, max_size=3
).map(",".join)


@given(NUMBERS, CLAUSES)
def test_versions_meet_constraints_as_those_of_packages_do(version: str, wanted: str) -> None:
    assert satisfies(version, wanted) is SpecifierSet(wanted).contains(Version(version))
