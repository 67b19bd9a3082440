"""The report on a manifest: every problem at once, with its pointer, line and nearest key."""

from __future__ import annotations

import pytest
import tomli

from loopx_host.core.codes import CODES, PROBLEM_CODES
from loopx_host.registry.report import ROWS
from loopx_host.registry.toml_source import Lines
from tests.support.manifests import (
    load_text,
    minimal,
    problems,
    refusal,
    to_toml,
)

MINIMAL = to_toml(minimal())
MANY = '''\
schema_version = "loopx_extension_manifest_v0"
id = "Sample"
requires_loopx_api = "1"
permission = []
x-note = """
[runtime]
version = "in a string"
"""
homepage = "x"

[runtime]  # """ in a comment
protocol = "sample_v0"
args = [
  "timeout_seconds = 1",
  7,
  ["[provides]"],
]
timeout_seconds = 0
"doctor_timeout_seconds" = true
enviroment = []
requires.node = "new"
'required_permissions' = 1

[[provides]]
id = "one"

[[provides]]
id = "two"
title = """
visibility = 3
"""
visibility = "secret"
'''


def test_every_problem_is_listed_with_pointer_line_and_nearest_key() -> None:
    missing = [
        "kind", "title", "status", "user_value", "next_real_step", "visibility", "real_world_anchor", "entry_command",
    ]  # fmt: skip

    rows = {(row["pointer"], row["code"]): row for row in problems(MANY)}

    assert {name: row["line"] for name, row in rows.items()} == {
        ("id", "manifest_bad_value"): 2,
        ("permission", "manifest_unknown_key"): 4,
        ("version", "manifest_missing_key"): None,
        ("runtime.args[1]", "manifest_wrong_type"): 13,
        ("runtime.args[2]", "manifest_wrong_type"): 13,
        ("runtime.timeout_seconds", "manifest_out_of_range"): 18,
        ("runtime.doctor_timeout_seconds", "manifest_wrong_type"): 19,
        ("runtime.enviroment", "manifest_unknown_key"): 20,
        ("runtime.requires.node", "manifest_bad_value"): 21,
        ("runtime.required_permissions", "manifest_wrong_type"): 22,
        ("runtime.entrypoint", "manifest_conflict"): None,
        **{(f"provides[0].{key}", "manifest_incomplete"): None for key in missing},
        **{
            (f"provides[1].{key}", "manifest_incomplete"): None
            for key in missing
            if key not in {"title", "visibility"}
        },
        ("provides[1].visibility", "manifest_bad_value"): 32,
    }
    assert rows["permission", "manifest_unknown_key"]["nearest"] == "permissions"


def test_the_codes_of_a_report_are_documented_ones() -> None:
    refused = refusal(MANY)

    assert refused.code in CODES
    assert {row["code"] for row in problems(MANY)} <= set(PROBLEM_CODES)


def test_a_warning_has_its_line_too() -> None:
    (warning,) = load_text("\n\nhomepage = 1\n" + MINIMAL).warnings

    assert (warning.pointer, warning.line) == ("homepage", 3)


def test_line_ends_of_windows_count_as_one() -> None:
    text = MINIMAL.replace("\n", "\r\n") + "timeout_seconds = 0\r\n"

    (row,) = problems(text)

    assert row["line"] == text.count("\r\n")


@pytest.mark.parametrize(
    ("text", "pointer", "line"),
    [
        ("a = 1\n", "a", 1),
        ("\n# a = 1\n  a = 1\n", "a", 3),
        ("[t]\na = 1\n[u]\na = 1\n", "u.a", 4),
        ("[t]\nb = 1\n", "t", 1),
        ("[t.u]\nb = 1\n", "t", 1),
        ("[t.u]\n[t]\n", "t", 2),
        ("[ t . 'u' ]\na = 1\n", "t.u.a", 2),
        ("t.u.a = 1\n", "t.u.a", 1),
        ("[[p]]\n[[p]]\na = 1\n[[p]]\na = 1\n", "p[1].a", 3),
        ("[[p]]\n[[p]]\na = 1\n[[p]]\na = 1\n", "p[2].a", 5),
        ("[[p]]\n[[p]]\n", "p[1]", 2),
        ("[[p]]\n[[p]]\n", "p", 1),
        ("[[p]]\n[[p]]\n[p.t]\na = 1\n", "p[1].t.a", 4),
        ("[[p]]\n[[p]]\n[[p.q]]\na = 1\n", "p[1].q[0].a", 4),
        ("a = [\n1,\n2]\nb = 1\n", "a[1]", 1),
        ("a = [\n['x'],\n['y']\n]\nb = 1\n", "b", 5),
        ("a = [[\n'b = 1'\n]]\nb = 1\n", "b", 4),
        ('a = """\nb = 1\n"""\nb = 1\n', "b", 4),
        ('a = """x\\""""\nb = 1\n', "b", 2),
        ('a = """x"""""\nb = 1\n', "b", 2),
        ("a = '''\n\"\"\"\nb = 1'''\nb = 1\n", "b", 4),
        ('a = \'"""\'\nb = 1\n', "b", 2),
        ("# '''\nb = 1\n", "b", 2),
        ('a = 1 # """ \' [\nb = 1\n', "b", 2),
        ('"a b" = 1\n', '"a b"', 1),
        ('"t.a" = 1\n[t]\na = 1\n', "t.a", 3),
        ('"t.a" = 1\n[t]\na = 1\n', '"t.a"', 1),
        ('"\\u0061" = 1\n', "a", 1),
        ("t = {\n a = 1,\n}\na = 1\n", "a", 4),
        ("t = {a = 1}\n", "t.a", None),
        ("a = 1\n", "b", None),
        ("", "a", None),
    ],
)
def test_a_pointer_has_the_line_of_its_key(text: str, pointer: str, line: int | None) -> None:
    tomli.loads(text)  # the reading is promised for valid documents

    assert Lines(text).of(pointer) == line


def test_a_quoted_key_with_a_dot_is_not_taken_for_a_key_of_a_table() -> None:
    (row,) = problems('"runtime.protocol" = 1\n' + MINIMAL.replace('"sample_v0"', '"P"'))

    assert (row["pointer"], row["line"]) == ("runtime.protocol", 8)


def test_a_report_on_a_hostile_manifest_is_made_in_one_pass() -> None:
    """256 KiB of unknown keys, duplicates and undeclared tokens; quadratic work would meet the time-out."""
    aliases = ",".join(['"a.md"'] * 12_000)
    tokens = ",".join(f'"t{number}"' for number in range(8_000))
    unknown = "".join(f"k{number} = 1\n" for number in range(4_000))
    text = f"{unknown}permissions = [{tokens}]\n{MINIMAL}required_permissions = [{tokens.replace('t', 'u')}]\n"
    text += f'[documentation]\nsource_root = "a"\nsite_root = "b"\ncanonical = "c.md"\naliases = [{aliases}]\n'
    assert len(text) <= 256 * 1024

    refused = refusal(text)

    assert len(refused.document["problems"]) == ROWS  # type: ignore[arg-type]
    assert refused.document["problems_left_out"] >= 8_001 - ROWS  # type: ignore[operator]


@pytest.mark.parametrize("spread", [False, True], ids=["in one table", "over many"])
def test_what_was_meant_is_looked_for_a_bounded_number_of_times(
    monkeypatch: pytest.MonkeyPatch, spread: bool
) -> None:
    """A quarter of a megabyte holds 20,000 keys that nobody knows, and each search takes a tenth of a millisecond."""
    searched: list[str] = []

    def counted(key: str, _: list[str]) -> tuple[str | None, bool]:
        searched.append(key)
        return None, False

    monkeypatch.setattr("loopx_host.registry.report.nearest", counted)
    keys = {f"k{number}": 1 for number in range(20_000)}
    tables = [dict(list(keys.items())[at : at + 50]) for at in range(0, 20_000, 50)]

    rows = problems({**minimal(), **({"implements": tables} if spread else keys)})

    assert len(searched) <= ROWS
    assert "manifest_unknown_key" in {row["code"] for row in rows}
