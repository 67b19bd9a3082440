"""Splitting argv: it never fails on its own, loses no word, and takes the options of every command anywhere."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from loopx_host.cli.command_line import CommandLine
from loopx_host.cli.index import COMMON, FORMATS

FLAGS = tuple(COMMON)
WORDS = st.one_of(
    st.sampled_from(["extension", "list", "run", "--execute", "--help", "--", "-", "json", "text", *FLAGS]),
    st.sampled_from(FLAGS).map(lambda flag: f"{flag}=json"),
    st.text(max_size=8),
)
PLAIN = st.sampled_from(["extension", "list", "run", "notes", "--execute", "--plan", "-", "json"])
OPTION = st.sampled_from([["--format", "json"], ["--state-file=s"], ["--debug"], ["--containment", "limits"]])


@given(st.lists(WORDS, max_size=8))
def test_any_line_is_split_or_says_why_not(argv: list[str]) -> None:
    line = CommandLine(argv)

    assert line.format in FORMATS
    assert (line.problem is None) or (line.problem.code == "usage_error" and line.words == ())
    words = iter(argv)
    assert all(word in words for word in line.words)


@given(st.lists(WORDS, max_size=8))
def test_the_words_of_a_line_are_split_into_themselves(argv: list[str]) -> None:
    words = CommandLine(argv).words

    assert CommandLine(list(words)).words == words


@given(st.lists(PLAIN, max_size=6), st.lists(OPTION, max_size=4, unique_by=lambda option: option[0]), st.data())
def test_an_option_may_stand_anywhere(words: list[str], options: list[list[str]], data: st.DataObject) -> None:
    argv = [[word] for word in words]
    for option in options:
        argv.insert(data.draw(st.integers(0, len(argv))), option)

    line = CommandLine([word for part in argv for word in part])

    assert (line.problem, line.words) == (None, tuple(words))
    assert line.debug == (["--debug"] in options)
    assert line.format == ("json" if ["--format", "json"] in options else "text")
