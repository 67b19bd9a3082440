"""Search over a real folder of notes: what is found, in which order, and what a query can never do."""

from __future__ import annotations

import json
import os
import sqlite3
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some
from loopx_recall import index
from loopx_recall.index import RecallFailed
from loopx_recall.search import Hit, match_expression, search

NOTES = {
    "a.md": "# Apples\n\nRed apples and green apples.\n",
    "b.txt": "Pears\nA pear is not an apple, it says NOT OR NEAR title:x.\n",
    "sub/c.md": "---\n# Soup\nleek and potato\n",
}
PROPERTY = settings(max_examples=50, deadline=None, derandomize=True, database=None)


def folder(path: Path, notes: dict[str, str] | None = None) -> Path:
    for name, text in (NOTES if notes is None else notes).items():
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        (path / name).write_text(text, "utf-8")
        os.utime(path / name, (1_767_225_600, 1_767_225_600))
    return path


def ask(path: Path, query: str, **more: object) -> list[Hit]:
    return search({"query": query, **more}, {"notes": str(path)})


def names(path: Path, query: str, **more: object) -> list[str]:
    return [row["note"] for row in ask(path, query, **more)]


def refusal(request: dict[str, object], references: dict[str, str]) -> str:
    with pytest.raises(RecallFailed) as refused:
        search(request, references)
    return refused.value.code


def test_a_note_that_holds_all_words_is_found_with_what_a_person_needs(tmp_path: Path) -> None:
    (row,) = ask(folder(tmp_path), "green red")

    assert (row["note"], row["title"], row["modified"]) == ("a.md", "Apples", "2026-01-01T00:00:00Z")
    assert "Red apples and green apples." in row["snippet"]
    assert row["score"] > 0


def test_a_note_in_a_folder_is_named_by_its_relative_path(tmp_path: Path) -> None:
    found = ask(folder(tmp_path), "leek")

    assert [row["note"] for row in found] == ["sub/c.md"]
    assert str(tmp_path) not in json.dumps(found)


@pytest.mark.parametrize(
    "query", ["APPLES", "äpples", "a\u0308pples", "  apples  ", '"apples"', "apples!!!", "!!! apples"]
)
def test_case_accents_and_punctuation_do_not_matter(tmp_path: Path, query: str) -> None:
    assert names(folder(tmp_path), query) == ["a.md"]


def test_words_joined_by_punctuation_are_looked_for_side_by_side(tmp_path: Path) -> None:
    notes = {"a.md": "x\nwell known fact", "b.md": "x\nknown well fact"}

    assert names(folder(tmp_path, notes), "well-known") == ["a.md"]


def test_the_better_match_comes_first(tmp_path: Path) -> None:
    filler = {f"z{n}.md": f"other {n}\n" for n in range(9)}
    notes = {"a.md": "Day\nwent out, saw a kite, came home late\n", "b.md": "Kite\nkite kite\n", **filler}

    found = ask(folder(tmp_path, notes), "kite")

    assert [row["note"] for row in found] == ["b.md", "a.md"]
    assert found[0]["score"] > found[1]["score"]


def test_a_word_in_most_notes_still_ranks(tmp_path: Path) -> None:
    notes = {"a.md": "x\nkite and a lot of other words that stand around it\n", "b.md": "x\nkite kite kite\n"}

    assert names(folder(tmp_path, notes), "kite") == ["b.md", "a.md"]


def test_equal_matches_are_ordered_by_path(tmp_path: Path) -> None:
    notes = dict.fromkeys(["c.md", "b/z.md", "a.txt", "B.md"], "same\nkite\n")

    assert names(folder(tmp_path, notes), "kite") == ["B.md", "a.txt", "b/z.md", "c.md"]


def test_the_same_question_gives_the_same_bytes(tmp_path: Path) -> None:
    folder(tmp_path)

    assert json.dumps(ask(tmp_path, "apple")) == json.dumps(ask(tmp_path, "apple", now="2030-01-01T00:00:00Z"))


def test_at_most_limit_notes_are_returned_ten_unless_said_otherwise(tmp_path: Path) -> None:
    folder(tmp_path, {f"{n:02}.md": "kite\n" for n in range(60)})

    assert len(ask(tmp_path, "kite")) == 10
    assert len(ask(tmp_path, "kite", limit=50)) == 50
    assert names(tmp_path, "kite", limit=1) == ["00.md"]


def test_nothing_found_is_an_empty_answer(tmp_path: Path) -> None:
    assert ask(folder(tmp_path), "zebra") == []
    assert ask(folder(tmp_path / "empty", {"x.py": "zebra"}), "zebra") == []


@pytest.mark.parametrize("query", ["!!!", " ", '""', "\0", "*", "^", "()"])
def test_a_query_without_a_word_finds_nothing(tmp_path: Path, query: str) -> None:
    assert ask(folder(tmp_path), query) == []


# Each holds at most words that are in no single note; read as an operator it would match one or raise.
@pytest.mark.parametrize(
    "query",
    [
        "zebra OR apples",
        "apples NOT zebra",
        "(apples)(zebra)",
        "title:apples zebra",
        "{title text}:apples zebra",
        "appl* zebra",
        "^apples zebra",
        "NEAR(apples zebra, 5)",
        "apples + zebra",
        'apples" OR "zebra',
        "-title:apples zebra",
        '" OR 1=1; DROP TABLE note; -- zebra',
    ],
)
def test_operators_of_the_index_are_words(tmp_path: Path, query: str) -> None:
    assert ask(folder(tmp_path), query) == []


def test_a_prefix_mark_is_no_operator(tmp_path: Path) -> None:
    assert names(folder(tmp_path), "appl*") == []


def test_the_names_of_operators_are_words_that_can_be_found(tmp_path: Path) -> None:
    assert names(folder(tmp_path), "NOT OR NEAR") == ["b.txt"]


def test_a_column_name_is_a_word_that_can_be_found(tmp_path: Path) -> None:
    assert names(folder(tmp_path), "title:x") == ["b.txt"]


SYNTAX = some.sampled_from(
    ['"', "'", "*", "^", "(", ")", "{", "}", ":", "+", "-", ",", "\0", " ", "AND", "OR", "NOT", "NEAR", "a"]
)
QUERY = some.one_of(
    some.text(min_size=1, max_size=200),
    some.text(some.characters(codec=None, categories=["Cs", "Cc", "Cf", "Mn", "Co", "Cn", "Lo", "No"]), min_size=1),
    some.lists(SYNTAX, min_size=1, max_size=40).map("".join),
    some.lists(SYNTAX, min_size=1, max_size=40).map(" ".join),
)


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return folder(tmp_path_factory.mktemp("notes"))


@PROPERTY
@given(QUERY)
def test_no_query_raises(shared: Path, query: str) -> None:
    search({"query": query}, {"notes": str(shared)})


@PROPERTY
@given(QUERY)
def test_every_word_reaches_the_index_inside_quotes(query: str) -> None:
    expression = match_expression(query)

    pieces = [] if expression is None else expression[1:-1].split('" "')
    assert all(piece and '"' not in piece and "\0" not in piece for piece in pieces)
    assert expression is None or (expression[0], expression[-1]) == ('"', '"')


@PROPERTY
@given(QUERY)
def test_a_word_that_is_in_no_note_can_never_be_argued_away(shared: Path, query: str) -> None:
    assert search({"query": f"{query} zebra"[-1000:]}, {"notes": str(shared)}) == []
    assert search({"query": f"zebra {query}"[:1000]}, {"notes": str(shared)}) == []


def test_the_longest_query_of_many_words_is_answered(tmp_path: Path) -> None:
    assert names(folder(tmp_path), "apples " * 142) == ["a.md"]
    assert names(folder(tmp_path, {"i.md": "i\n"}), "i " * 500) == ["i.md"]


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    outside = folder(tmp_path / "outside", {"secret.md": "zebra", "deep/secret.md": "zebra"})
    notes = folder(tmp_path / "notes", {"real.md": "apple"})
    (notes / "file.md").symlink_to(outside / "secret.md")
    (notes / "folder").symlink_to(outside)
    (notes / "loop").symlink_to(notes)

    assert ask(notes, "zebra") == []
    assert names(notes, "apple") == ["real.md"]


def test_only_regular_notes_are_opened(tmp_path: Path) -> None:
    os.mkfifo(folder(tmp_path) / "pipe.md")
    (tmp_path / "folder.md").mkdir()
    (tmp_path / "program.py").write_text("apples zebra")
    (tmp_path / ".hidden.md").write_text("apples zebra")
    folder(tmp_path, {".obsidian/x.md": "apples zebra"})

    assert names(tmp_path, "apples") == ["a.md"]


def test_bytes_outside_utf8_do_not_hide_a_note(tmp_path: Path) -> None:
    with open(os.fsencode(tmp_path) + b"/caf\xe9.md", "wb") as file:
        file.write(b"\xef\xbb\xbf# Caf\xe9\nkite \xff\0 wind\n")

    (row,) = ask(tmp_path, "kite wind")

    assert row["note"] == "caf\\xe9.md"
    assert row["title"] == "Caf\ufffd"


def test_a_note_without_a_title_goes_by_its_name(tmp_path: Path) -> None:
    (row,) = ask(folder(tmp_path, {"sub/Kite log.md": "\n***\n---\n"}), "kite")

    assert row["title"] == "Kite log"


def test_title_and_snippet_are_one_bounded_printable_line(tmp_path: Path) -> None:
    line = "\u202ekite\x1b[31m " + "word\t" * 400
    (row,) = ask(folder(tmp_path, {"a.md": f"{line}\n\n{line}\n"}), "kite")

    assert row["title"].isprintable()
    assert row["snippet"].isprintable()
    assert len(row["title"].encode()) <= 160
    assert len(row["snippet"].encode()) <= 320


def test_a_word_without_spaces_does_not_make_the_answer_large(tmp_path: Path) -> None:
    folder(tmp_path, {f"{n}.md": "kite " + "\U0001f600" * 60_000 for n in range(50)})

    assert len(json.dumps(ask(tmp_path, "kite", limit=50))) < 200_000


def test_a_long_note_is_searched_up_to_the_bound(tmp_path: Path) -> None:
    folder(tmp_path, {"a.md": "start\n" + "x " * (index.NOTE_BYTES // 2) + "zebra\n"})

    assert names(tmp_path, "start") == ["a.md"]
    assert names(tmp_path, "zebra") == []


@pytest.mark.parametrize(("bound", "value"), [("NOTES", 2), ("TOTAL_BYTES", 80), ("ENTRIES", 3), ("DEPTH", 0)])
def test_a_folder_beyond_a_bound_is_refused_and_not_half_searched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, bound: str, value: int
) -> None:
    monkeypatch.setattr(index, bound, value)

    assert refusal({"query": "apples"}, {"notes": str(folder(tmp_path))}) == "too_many_notes"


def test_a_search_changes_nothing_in_the_folder(tmp_path: Path) -> None:
    folder(tmp_path)
    before = {str(path): path.lstat().st_ctime_ns for path in [tmp_path, *tmp_path.rglob("*")]}

    ask(tmp_path, "apples")

    assert {str(path): path.lstat().st_ctime_ns for path in [tmp_path, *tmp_path.rglob("*")]} == before


def test_a_search_leaves_no_descriptor_open(tmp_path: Path) -> None:
    folder(tmp_path)
    ask(tmp_path, "apples")
    before = os.listdir("/proc/self/fd")

    ask(tmp_path, "apples")

    assert os.listdir("/proc/self/fd") == before


def test_a_folder_that_is_not_there_is_refused(tmp_path: Path) -> None:
    assert refusal({"query": "x"}, {"notes": str(tmp_path / "absent")}) == "notes_unreadable"
    assert refusal({"query": "x"}, {"notes": __file__}) == "notes_unreadable"


def test_a_missing_reference_is_refused() -> None:
    assert refusal({"query": "x"}, {}) == "reference_missing"


def test_a_sqlite_without_fts5_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class WithoutFts5(sqlite3.Connection):
        def execute(self, sql: str, parameters: object = (), /) -> sqlite3.Cursor:
            assert parameters == ()
            return super().execute(sql.replace("fts5", "no_such_module"))

    connect = sqlite3.connect
    monkeypatch.setattr(sqlite3, "connect", lambda name: connect(name, factory=WithoutFts5))

    assert refusal({"query": "x"}, {"notes": str(folder(tmp_path))}) == "fts5_unavailable"


@pytest.mark.parametrize(
    "request_",
    [
        {},
        {"query": ""},
        {"query": None},
        {"query": ["x"]},
        {"query": "x" * 1001},
        {"query": "x", "limit": 0},
        {"query": "x", "limit": 51},
        {"query": "x", "limit": True},
        {"query": "x", "limit": "1"},
        {"query": "x", "now": "yesterday"},
        {"query": "x", "now": None},
        {"query": "x", "more": 1},
    ],
    ids=lambda request: str(request)[:40],
)
def test_an_input_that_breaks_a_rule_is_refused(tmp_path: Path, request_: dict[str, object]) -> None:
    assert refusal(request_, {"notes": str(tmp_path)}) == "invalid_input"
