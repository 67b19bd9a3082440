"""One row per advertisement, whatever the others are."""

from __future__ import annotations

from typing import Any

import pytest

from loopx_host.core.errors import Refused
from loopx_host.lifecycle.extensions.offers import only_offer
from loopx_host.registry.offers import Advertised, offers
from tests.support.fakes import MemoryFolder
from tests.support.packages import manifest

Opened = tuple[MemoryFolder, str]


def advertised(
    extension_id: str = "vane", *, name: str = "carrier", version: str = "1.0", **settings: str
) -> Advertised:
    settings.setdefault("manifest_path", f"/made/up/{extension_id}/extension.toml")
    carrier: Any = {"name": name, "version": version}
    return Advertised(extension_id, extension_id, carrier, f"/made/up/{name}.dist-info", **settings)


def opening(path: str) -> Opened:
    """Open a manifest whose id is the name of its folder."""
    return MemoryFolder({"extension.toml": manifest(path.split("/")[-2])}), "extension.toml"


def test_a_single_sound_offer_is_available_with_what_its_manifest_says() -> None:
    row: Any
    (row,) = offers([advertised()], opening)

    assert (row["state"], row["version"], row["code"]) == ("available", "1.0", None)
    assert row["digest"].startswith(row["revision"])


def test_the_rows_are_sorted_by_id_and_carrier() -> None:
    rows: Any = offers([advertised("b"), advertised("a", name="z"), advertised("a", name="y")], opening)

    assert [(row["id"], row["distribution"]["name"]) for row in rows] == [("a", "y"), ("a", "z"), ("b", "carrier")]


def test_three_copies_are_each_ambiguous_and_name_all_three() -> None:
    rows: Any = offers([advertised(name=name) for name in ("one", "two", "three")], opening)

    assert {row["state"] for row in rows} == {"ambiguous"}
    assert all(name in row["reason"] for row in rows for name in ("one", "two", "three"))


@pytest.mark.parametrize("version", ["0.5", "1.0", "2.0"])
def test_a_copy_that_python_does_not_find_first_is_shadowed_and_names_both_places(version: str) -> None:
    behind = advertised(version=version)
    behind.location, behind.shadowed_by = "/second/carrier.dist-info", "/first/carrier.dist-info"

    first, second = (row for row in offers([behind, advertised()], opening))

    assert (first["state"], second["state"], second["code"]) == ("available", "shadowed", "distribution_shadowed")
    assert all(place in str(second["reason"]) for place in ("/first", "/second"))


def test_an_id_that_only_a_shadowed_copy_has_is_not_offered() -> None:
    extra = advertised("extra")
    extra.shadowed_by = "/first/carrier.dist-info"

    rows = offers([extra, advertised()], opening)

    with pytest.raises(Refused) as caught:
        only_offer("extra", "install", rows)
    assert caught.value.code == "extension_broken"
    assert only_offer("vane", "install", rows) == "/made/up/vane/extension.toml"


def test_copies_of_one_carrier_are_told_apart_by_their_places() -> None:
    copies = [
        Advertised("vane", "vane", {"name": "carrier", "version": "1.0"}, place, manifest_path=f"{place}/vane/x.toml")
        for place in ("/first", "/second")
    ]

    rows: Any = offers(copies, opening)

    assert all(place in row["reason"] for row in rows for place in ("/first", "/second"))


def test_a_copy_that_is_broken_keeps_its_own_code_and_spoils_the_choice() -> None:
    gone = advertised(name="other", code="package_missing", reason="gone")

    rows: Any = offers([advertised(), gone], opening)

    assert [(row["state"], row["code"]) for row in rows] == [
        ("ambiguous", "extension_ambiguous"),
        ("package_missing", "package_missing"),
    ]


def test_unreadable_metadata_without_any_id_make_nothing_ambiguous() -> None:
    damaged = [Advertised("", "", None, f"/made/up/{name}", code="metadata_damaged", reason="x") for name in "ab"]

    rows: Any = offers([*damaged, advertised()], opening)

    assert [(row["id"], row["code"]) for row in rows] == [
        (None, "metadata_damaged"),
        (None, "metadata_damaged"),
        ("vane", None),
    ]


@pytest.mark.parametrize(
    ("text", "state", "code"),
    [
        (manifest("other"), "broken", "id_mismatch"),
        (manifest("vane", api=">=2"), "incompatible", "api_incompatible"),
        ("[", "broken", "manifest_syntax"),
        ("", "broken", "manifest_invalid"),
    ],
    ids=["id", "api", "syntax", "empty"],
)
def test_a_manifest_that_does_not_serve_says_why(text: str, state: str, code: str) -> None:
    row: Any
    (row,) = offers([advertised()], lambda _: (MemoryFolder({"extension.toml": text}), "extension.toml"))

    assert (row["state"], row["code"], row["digest"]) == (state, code, None)


@pytest.mark.parametrize("name", ["two\nlines", "x" * 5000, "\x1b[31mred"])
def test_an_id_is_shown_on_one_short_line(name: str) -> None:
    row: Any
    (row,) = offers([advertised(name)], opening)

    assert row["id"].isprintable()
    assert len(row["id"]) <= 100
